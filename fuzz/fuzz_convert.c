/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_convert.c - a file of weights that opens is verified, hashed and planned for each kind of
 * file without harm: everything that reads it but the writing itself. The first byte chooses a
 * recipe or a preset.
 */
#include "quipu/convert.h"

#include "../test/failing_allocator.h"

#include <string.h>

#define REQUIRE(condition) ((condition) ? (void)0 : __builtin_trap())

static const char *const outputs[] = {"no.such/x.ninfer", "no.such/x.gguf",
                                      "no.such/x.safetensors"};

static const char *const recipes[] = {
    NULL,
    "[{\"assign\":\"*\",\"format\":\"fp32\"},{\"group\":\"*\"}]",
    "[{\"assign\":\"*\",\"format\":\"q4_g64_fp16\",\"rows\":[0,1]}]",
    "[{\"assign\":\"*\",\"activation_policy\":\"AllowA4\"},{\"separate\":\"*\"}]",
    "[{\"group\":\"[a-m]*\",\"shape\":[2,64]}]",
};

static const char *const presets[] = {NULL, "q8_g32_fp16", "*=nvfp4", "gguf_q4_k,*=bf16",
                                      "fp8_e4m3fn_row_bf16"};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void plan(qp_artifact *artifact, uint8_t choice, const qp_allocator *allocator)
{
    for (size_t i = 0; i < COUNT(outputs); i++) {
        qp_convert_options options = {.allocator = allocator,
                                      .recipe = recipes[choice % COUNT(recipes)],
                                      .preset = presets[choice / 8 % COUNT(presets)]};
        qp_convert_plan *made = NULL;
        qp_error error = {.status = QP_OK};
        options.recipe_size = options.recipe != NULL ? strlen(options.recipe) : 0;
        qp_status status = qp_convert_plan_make(artifact, outputs[i], &options, &made, &error);
        REQUIRE((status == QP_OK) == (made != NULL) && status != QP_INTERNAL);
        if (status == QP_OK) /* the folder is not there */
            REQUIRE(qp_convert_run(made, NULL) != QP_OK);
        qp_convert_plan_free(made);
    }
}

static void use(const uint8_t *data, size_t size, uint8_t choice, size_t fail_at)
{
    failing_allocator memory = failing_allocator_make(fail_at);
    qp_allocator allocator = failing_allocator_use(&memory);
    uint8_t digest[32];
    qp_artifact *artifact = NULL;
    if (qp_artifact_open_bytes("x", data, size, &allocator, &artifact, NULL) == QP_OK) {
        REQUIRE(qp_artifact_verify(artifact, 1, NULL) != QP_INTERNAL);
        REQUIRE(qp_artifact_hash(artifact, digest, NULL) != QP_INTERNAL);
        plan(artifact, choice, &allocator);
    }
    qp_artifact_close(artifact);
    REQUIRE(memory.blocks == 0 && !memory.has_fault);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    use(data + 1, size - 1, data[0], 0);
    use(data + 1, size - 1, data[0], 1 + size % 61);
    return 0;
}
