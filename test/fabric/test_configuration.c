/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_configuration.c - the payloads, the ABI, the images and the reports of section 13; images
 * read back; what is refused of them; anchors 4 and 7 of section 14.
 */
#include "configuration_support.h"

#define ABI_13_1 "d0b3a3f60e05df2c1e7972ab5a0979e54de95316412ec0cfecbad5f21dc0b10f"
#define IMAGE_13_1 "7c7455709cd2edeac33892b29a67e84ef9855643adbf75635e950e7411109ac9"
#define MAP_13_1 "4c92caea217c029c90b8615eb544df4ae227b85938a18a84cec7a83267cbdc22"
#define FABRIC_13_1 "906cf662b247adb63d4d2303c3babf0dbe00e7663625afc449da5c4f4bf6ee18"

#define OU "00000004000000030000000000000000"
#define OF "00000006000000000000000300000000000000000000000000000000"
#define SU OU "000000000000000000000000"
#define SF OF "000000000000000000000000"
#define T0 "000000010000000200000000000000000000000000000000"
#define KEY                                                                                        \
    "6c6f6f6d2e6661627269632e6f7065726174696f6e2d6265686176696f722d6b6579000000000100000000000000" \
    "1"                                                                                            \
    "35363616c6172496e7465676572416464537562"
#define ADD KEY "00000003416464"
#define SUB KEY "00000003537562"

static const char report_13_1[] =
    "{\"fabric\":\"A\",\"map\":\"m\",\"programming_units\":[{\"unit_id\":\"u0\","
    "\"payload_bit_count\":2,\"payload\":\"03\",\"slots\":["
    "{\"slot\":\"" SU "\",\"owner\":\"u\",\"context\":0,\"selected\":true,\"value\":\"" T0 "\","
    "\"fields\":[{\"name\":\"template\",\"bit_offset\":0,\"bit_width\":1,\"value\":\"1\"}]},"
    "{\"slot\":\"" SF "\",\"owner\":\"u.f\",\"context\":0,\"selected\":true,\"value\":\"" SUB "\","
    "\"fields\":[{\"name\":\"behavior\",\"bit_offset\":1,\"bit_width\":1,\"value\":\"1\"}]}]}]}";

static const char abi_13_1[] =
    "{\"schema\":\"loom.configuration_abi\",\"schema_version\":\"1.0\",\"fabric_ref\":{\"schema\":"
    "\"loom.fabric\",\"schema_version\":\"7.1\",\"artifact\":\"" FABRIC_13_1 "\"},"
    "\"programming_units\":[{\"unit_id\":\"u0\",\"exact_fabric_resource_closure\":[\"" OU "\",\"" OF
    "\"],\"programming_model\":{\"kind\":\"complete_image_atomic\","
    "\"payload_bit_count\":2},\"fields\":["
    "{\"fabric_config_slot_ref\":\"" SU "\",\"semantic_encoding\":{\"kind\":\"finite_codebook\","
    "\"encoded_bit_count\":1,\"entries\":[{\"semantic_value\":\"00000000\",\"physical_code\":"
    "\"00\"},{\"semantic_value\":\"" T0 "\",\"physical_code\":\"01\"}]},\"destination_slices\":"
    "[{\"source_bit_offset\":0,\"destination_bit_offset\":0,\"bit_count\":1}],"
    "\"inactive_value\":\"00000000\"},"
    "{\"fabric_config_slot_ref\":\"" SF "\",\"semantic_encoding\":{\"kind\":\"finite_codebook\","
    "\"encoded_bit_count\":1,\"entries\":[{\"semantic_value\":\"" ADD "\",\"physical_code\":"
    "\"00\"},{\"semantic_value\":\"" SUB "\",\"physical_code\":\"01\"}]},\"destination_slices\":"
    "[{\"source_bit_offset\":0,\"destination_bit_offset\":1,\"bit_count\":1}],"
    "\"inactive_value\":\"" ADD "\"}]}]}";

static const char header_13_1[] =
    "{\"version\":\"1.0\",\"configuration_abi_ref\":{\"schema\":\"loom.configuration_abi\","
    "\"schema_version\":\"1.0\",\"artifact\":\"" ABI_13_1 "\"},\"programming_unit_id\":\"u0\","
    "\"source_mapping\":{\"schema\":\"loom.mapping\",\"schema_version\":\"2.0\",\"artifact\":"
    "\"" MAP_13_1 "\"},\"payload_bit_count\":2}";

/* A copy with every `from` replaced by `to` of the same length. */
static char *replaced(const char *text, const char *from, const char *to)
{
    char *copy = malloc(strlen(text) + 1);

    assert_non_null(copy);
    strcpy(copy, text);
    assert_int_equal(strlen(from), strlen(to));
    for (char *at = strstr(copy, from); at != NULL; at = strstr(at + 1, from))
        memcpy(at, to, strlen(to));
    return copy;
}

static void test_add_sub(void **state)
{
    qp_fabric_model *model = read_one(example_13_1);
    size_t size;
    (void)state;

    char *text = configure_text(model, "m", NULL, QP_FABRIC_FORM_JSON, &size);
    assert_string_equal(text, report_13_1);
    free(text);
    text = configure_text(model, "m", NULL, QP_FABRIC_FORM_ABI, &size);
    assert_string_equal(text, abi_13_1);
    assert_int_equal(size, 1698);
    assert_text_sha256(text, size, &qp_fabric_artifact_abi, ABI_13_1);
    free(text);
    text = configure_text(model, "m", NULL, QP_FABRIC_FORM_IMAGE, &size);
    assert_int_equal(size, 384);
    assert_int_equal(strlen(header_13_1), 371);
    assert_memory_equal(text, "\x00\x00\x01\x73", 4);
    assert_memory_equal(text + 4, header_13_1, 371);
    assert_memory_equal(text + 375, "\x00\x00\x00\x00\x00\x00\x00\x01\x03", 9);
    assert_text_sha256(text, size, &qp_fabric_artifact_image, IMAGE_13_1);
    free(text);
    assert_payload(model, NULL, "A", "00");
    qp_fabric_free(model);
}

/* Without a map the report names none, and every slot is inactive. */
static void test_without_map(void **state)
{
    qp_fabric_model *model = read_one(example_13_1);
    qp_fabric_error error;
    void *bytes;
    size_t size;
    (void)state;

    char *text = configure_text(model, NULL, "A", QP_FABRIC_FORM_JSON, &size);
    assert_non_null(strstr(text, "\"map\":null"));
    assert_null(strstr(text, "\"selected\":true"));
    assert_non_null(strstr(text, "\"value\":\"" ADD "\""));
    free(text);
    text = configure_text(model, NULL, "A", QP_FABRIC_FORM_ABI, &size);
    assert_string_equal(text, abi_13_1);
    free(text);
    assert_int_not_equal(
        qp_fabric_configure(model, NULL, "A", QP_FABRIC_FORM_IMAGE, NULL, &bytes, &size, &error),
        QP_OK);
    assert_null(bytes);
    assert_int_not_equal(
        qp_fabric_configure(model, "x", NULL, QP_FABRIC_FORM_ABI, NULL, &bytes, &size, &error),
        QP_OK);
    qp_fabric_free(model);
}

static void anchor_04_two_keys_or_none(void **state)
{
    char *added = replaced(example_13_1, "= arith.subi", "= arith.addi");
    qp_fabric_model *model = read_one(example_13_1);
    size_t size;
    (void)state;

    assert_payload(model, "m", NULL, "03");
    qp_fabric_free(model);
    model = read_one(added);
    assert_payload(model, "m", NULL, "01");
    qp_fabric_free(model);
    char *single = replaced(added, "[arith.addi, arith.subi]", "[arith.addi]            ");
    model = read_one(single);
    char *text = configure_text(model, "m", NULL, QP_FABRIC_FORM_JSON, &size);
    assert_non_null(strstr(text, "\"payload_bit_count\":1,\"payload\":\"01\""));
    free(text);
    free(single);
    free(added);
    qp_fabric_free(model);
}

static void test_mac(void **state)
{
    char *subtracted = replaced(example_13_2, "= arith.addi", "= arith.subi");
    qp_fabric_model *model = read_one(example_13_2);
    (void)state;

    assert_payload(model, "mac", NULL, "01");
    assert_payload(model, NULL, "M", "00");
    qp_fabric_free(model);
    model = read_one(subtracted);
    assert_payload(model, "mac", NULL, "03");
    qp_fabric_free(model);
    free(subtracted);
}

static void anchor_07_slices_and_shuffle(void **state)
{
    qp_fabric_model *model = read_one(example_13_3_slice);
    size_t size;
    (void)state;

    assert_payload(model, "mput", NULL, "43070400");
    assert_payload(model, "mget", NULL, "811f0000");
    assert_payload(model, NULL, "S", "00070000");
    char *text = configure_text(model, "mput", NULL, QP_FABRIC_FORM_JSON, &size);
    assert_non_null(strstr(
        text,
        "\"fields\":[{\"name\":\"mode\",\"bit_offset\":1,\"bit_width\":1,\"value\":\"1\"},"
        "{\"name\":\"static_offset_bits\",\"bit_offset\":2,\"bit_width\":6,\"value\":\"10\"},"
        "{\"name\":\"slice_width_minus_one\",\"bit_offset\":8,\"bit_width\":5,\"value\":\"07\"},"
        "{\"name\":\"dynamic_stride_bits[0]\",\"bit_offset\":13,\"bit_width\":7,\"value\":\"20\"},"
        "{\"name\":\"dynamic_stride_bits[1]\",\"bit_offset\":20,\"bit_width\":7,\"value\":\"00\"}"
        "]"));
    free(text);
    qp_fabric_free(model);
    model = read_one(example_13_3_shuffle);
    assert_payload(model, "mmix", NULL, "5fc400");
    assert_payload(model, NULL, "X", "0e0000");
    qp_fabric_free(model);
}

static void test_branches(void **state)
{
    qp_fabric_model *model = read_one(example_13_4);
    (void)state;

    assert_payload(model, "msum", NULL, "01");
    assert_payload(model, "mprod", NULL, "02");
    assert_payload(model, NULL, "B", "00");
    qp_fabric_free(model);
}

/* Slots of an occurrence with several contexts have a residency (section 11). */
static void test_contexts(void **state)
{
    qp_fabric_model *model = read_texts(
        "fabric A { fu Alu (a:32, b:32) -> (y:32) {\n"
        "  op f ScalarIntegerAddSub [arith.addi, arith.subi] in (32,32) out (32) params { "
        "integer_widths = [8,32] }\n"
        "  wire a -> f.0  wire b -> f.1  wire f.0 -> y } occ u Alu contexts 2 occ v Alu }\n",
        "graph g { input %a : i32  input %b : i32  %d = arith.subi %a, %b : (i32,i32) -> "
        "(i32)  output %d }\n"
        "map m of g on A { realize r fu Alu template 0 { actor %d -> f in (0,1) out (0)\n"
        "  bound %d in 0 -> a  bound %d in 1 -> b  bound %d out 0 -> y } bind r -> u context 1 }");
    size_t size;
    (void)state;

    /* u in contexts 0 and 1, v; then u.f in both, v.f */
    assert_payload(model, "m", NULL, "12");
    char *text = configure_text(model, "m", NULL, QP_FABRIC_FORM_JSON, &size);
    assert_non_null(strstr(text, "{\"slot\":\"" OU "0000000000000000000000010000000000000001\","
                                 "\"owner\":\"u\",\"context\":1,\"selected\":true"));
    assert_non_null(strstr(text, "\"slot\":\"00000004000000030000000000000001"
                                 "000000000000000000000000\",\"owner\":\"v\""));
    free(text);
    text = configure_text(model, NULL, "A", QP_FABRIC_FORM_ABI, &size);
    assert_non_null(strstr(text,
                           "\"exact_fabric_resource_closure\":[\"" OU "\",\"000000040000000300"
                           "00000000000001\",\"" OF "\",\"00000006000000000000000300000000000"
                           "000010000000000000000\"]"));
    free(text);
    qp_fabric_free(model);
}

/* ---- images read back --------------------------------------------------------------------- */

static char *decode_text(const qp_fabric_model *model, const char *fabric, const void *bytes,
                         size_t size)
{
    const qp_fabric_text image = {"image", bytes, size};
    qp_fabric_error error;
    void *json;
    size_t json_size;

    assert_good(qp_fabric_decode(model, fabric, &image, NULL, &json, &json_size, &error), &error);
    char *text = malloc(json_size + 1);
    assert_non_null(text);
    memcpy(text, json, json_size);
    text[json_size] = '\0';
    qp_bytes_free(NULL, json, json_size);
    return text;
}

/* What an image says is what its map said. */
static void assert_decodes(const char *example, const char *map, const char *fabric)
{
    qp_fabric_model *model = read_one(example);
    size_t size, image_size;

    char *report = configure_text(model, map, NULL, QP_FABRIC_FORM_JSON, &size);
    char *image = configure_text(model, map, NULL, QP_FABRIC_FORM_IMAGE, &image_size);
    char *decoded = decode_text(model, fabric, image, image_size);
    assert_string_equal(decoded, report);
    free(decoded);
    free(image);
    free(report);
    qp_fabric_free(model);
}

static void test_decode(void **state)
{
    (void)state;
    assert_decodes(example_13_1, "m", "A");
    assert_decodes(example_13_2, "mac", "M");
    assert_decodes(example_13_3_slice, "mput", "S");
    assert_decodes(example_13_3_slice, "mget", "S");
    assert_decodes(example_13_3_shuffle, "mmix", "X");
    assert_decodes(example_13_4, "msum", "B");
    assert_decodes(example_13_4, "mprod", "B");
}

static void assert_not_decoded(const qp_fabric_model *model, const char *fabric, const void *bytes,
                               size_t size)
{
    const qp_fabric_text image = {"image", bytes, size};
    qp_fabric_error error;
    void *json;
    size_t json_size;

    assert_int_equal(qp_fabric_decode(model, fabric, &image, NULL, &json, &json_size, &error),
                     QP_MALFORMED);
    assert_int_equal(error.fault, QP_FABRIC_INVALID);
    assert_null(json);
}

/* Every length but the right one, and every changed bit outside the map's identity, is refused. */
static void test_strict_image(void **state)
{
    qp_fabric_model *model = read_one(example_13_1);
    size_t size;
    unsigned taken = 0;
    char *image = configure_text(model, "m", NULL, QP_FABRIC_FORM_IMAGE, &size);
    char *mapping = strstr(image + 4, MAP_13_1);
    (void)state;

    for (size_t i = 0; i < size; i++)
        assert_not_decoded(model, "A", image, i);
    assert_not_decoded(model, "A", image, size + 1);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        const char *byte = image + bit / 8;
        if ((byte >= mapping && byte < mapping + 64) || bit / 8 == size - 1)
            continue;
        image[bit / 8] = (char)(image[bit / 8] ^ (1 << bit % 8));
        assert_not_decoded(model, "A", image, size);
        image[bit / 8] = (char)(image[bit / 8] ^ (1 << bit % 8));
    }
    for (unsigned payload = 0; payload < 256; payload++) {
        const qp_fabric_text text = {"image", image, size};
        void *json;
        size_t json_size;
        image[size - 1] = (char)payload;
        if (qp_fabric_decode(model, "A", &text, NULL, &json, &json_size, NULL) == QP_OK) {
            taken |= 1u << payload;
            qp_bytes_free(NULL, json, json_size);
        }
    }
    assert_int_equal(taken, 1u << 0 | 1u << 1 | 1u << 3); /* Sub in a disabled unit is no image */
    mapping[0] = mapping[0] == '0' ? '1' : '0';           /* a map that the model does not have */
    image[size - 1] = 3;
    char *decoded = decode_text(model, "A", image, size);
    assert_non_null(strstr(decoded, "\"map\":null"));
    free(decoded);
    free(image);
    qp_fabric_free(model);
}

/* A code without a template, a carrier outside its domain, an unused carrier that is not inactive.
 */
static void test_payload_domains(void **state)
{
    qp_fabric_model *model = read_one(example_13_4);
    size_t size;
    char *image = configure_text(model, "msum", NULL, QP_FABRIC_FORM_IMAGE, &size);
    (void)state;

    image[size - 1] = 3;
    assert_not_decoded(model, "B", image, size);
    free(image);
    qp_fabric_free(model);
    model = read_one(example_13_3_slice);
    image = configure_text(model, "mput", NULL, QP_FABRIC_FORM_IMAGE, &size);
    image[size - 4] ^= 2; /* extract: the container no longer fits */
    image[size - 3] ^= 1;
    assert_not_decoded(model, "S", image, size);
    memcpy(image + size - 4, "\x42\x07\x04\x00", 4);
    assert_not_decoded(model, "S", image, size);
    memcpy(image + size - 4, "\x00\x07\x00\x08", 4);
    assert_not_decoded(model, "S", image, size);
    free(image);
    qp_fabric_free(model);
}

/* ---- bounds and memory -------------------------------------------------------------------- */

static void assert_configure_fault(const char *text, const char *fabric, qp_fabric_fault fault)
{
    qp_fabric_model *model = read_one(text);
    qp_fabric_error error;
    void *bytes;
    size_t size;

    assert_int_not_equal(
        qp_fabric_configure(model, NULL, fabric, QP_FABRIC_FORM_ABI, NULL, &bytes, &size, &error),
        QP_OK);
    assert_int_equal(error.fault, fault);
    qp_fabric_free(model);
}

static void test_bounds(void **state)
{
    (void)state;
    assert_configure_fault(
        "fabric A { fu Alu (a:32, b:32) -> (y:32) { op f ScalarIntegerMultiply [arith.muli] in "
        "(32,32) out (32) params { integer_widths = [32] } wire a -> f.0  wire b -> f.1  wire f.0 "
        "-> y } occ u Alu contexts 4294967295 occ v Alu contexts 4294967295 }",
        "A", QP_FABRIC_UNSUPPORTED);
    assert_configure_fault(
        "fabric A { fu C (c:0) -> (y:1048576) { op f TokenConstant [dataflow.constant] in (0) out "
        "(1048576) params { max_payload_bits = 1048576 } wire c -> f.0 wire f.0 -> y } occ u C "
        "contexts 1000 }",
        "A", QP_FABRIC_UNSUPPORTED);
}

/* A fabric without occurrences has an empty payload. */
static void test_no_slots(void **state)
{
    qp_fabric_model *model = read_one("fabric E { } graph g { } map m of g on E { }");
    size_t size, image_size;
    (void)state;

    char *text = configure_text(model, "m", NULL, QP_FABRIC_FORM_JSON, &size);
    assert_non_null(strstr(text, "\"payload_bit_count\":0,\"payload\":\"\",\"slots\":[]"));
    char *image = configure_text(model, "m", NULL, QP_FABRIC_FORM_IMAGE, &image_size);
    char *decoded = decode_text(model, "E", image, image_size);
    assert_string_equal(decoded, text);
    free(decoded);
    free(image);
    free(text);
    qp_fabric_free(model);
}

static void test_failing_allocator(void **state)
{
    static const qp_fabric_form forms[] = {QP_FABRIC_FORM_ABI, QP_FABRIC_FORM_IMAGE,
                                           QP_FABRIC_FORM_JSON};
    qp_fabric_model *model = read_one(example_13_3_slice);
    (void)state;

    for (unsigned form = 0; form < 3; form++)
        for (size_t k = 1;; k++) {
            failing_allocator memory = failing_allocator_make(k);
            qp_allocator allocator = failing_allocator_use(&memory);
            void *bytes;
            size_t size;
            const qp_status status = qp_fabric_configure(model, "mput", NULL, forms[form],
                                                         &allocator, &bytes, &size, NULL);
            qp_bytes_free(&allocator, bytes, size);
            assert_int_equal(memory.blocks, 0);
            assert_false(memory.has_fault);
            if (!memory.has_failed)
                break;
            assert_int_equal(status, QP_NO_MEMORY);
        }
    qp_fabric_free(model);
}

static void test_failing_decode(void **state)
{
    qp_fabric_model *model = read_one(example_13_3_slice);
    size_t size;
    char *image = configure_text(model, "mput", NULL, QP_FABRIC_FORM_IMAGE, &size);
    const qp_fabric_text text = {"image", image, size};
    (void)state;

    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        void *json;
        size_t json_size;
        const qp_status status =
            qp_fabric_decode(model, "S", &text, &allocator, &json, &json_size, NULL);
        qp_bytes_free(&allocator, json, json_size);
        assert_int_equal(memory.blocks, 0);
        assert_false(memory.has_fault);
        if (!memory.has_failed)
            break;
        assert_int_equal(status, QP_NO_MEMORY);
    }
    free(image);
    qp_fabric_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_add_sub),
        cmocka_unit_test(test_without_map),
        cmocka_unit_test(anchor_04_two_keys_or_none),
        cmocka_unit_test(test_mac),
        cmocka_unit_test(anchor_07_slices_and_shuffle),
        cmocka_unit_test(test_branches),
        cmocka_unit_test(test_contexts),
        cmocka_unit_test(test_decode),
        cmocka_unit_test(test_strict_image),
        cmocka_unit_test(test_payload_domains),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_no_slots),
        cmocka_unit_test(test_failing_allocator),
        cmocka_unit_test(test_failing_decode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
