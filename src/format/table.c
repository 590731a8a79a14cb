/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c - the numeric formats (tensor-formats.md section 1), one row each. Tables of the command
 * and of the documents, and the tests, go through these rows.
 */
#include "format/ggml_blocks.h"

static const qp_format formats[] = {
    {"bf16", "bfloat16 words", QP_FAMILY_DIRECT, "contiguous_le_v1", 16, 1, 0, 0, 0, 30, 16,
     &qp_bf16_rules},
    {"fp32", "binary32 words", QP_FAMILY_DIRECT, "contiguous_le_v1", 32, 1, 0, 0, 0, 0, 32,
     &qp_fp32_rules},
    {"int32", "32-bit integers", QP_FAMILY_DIRECT, "contiguous_le_v1", 32, 1, 0, 0, 0, 26, 32,
     &qp_int32_rules},
    {"q2_g64_fp16", "codes -1 to 2, a binary16 scale for 64", QP_FAMILY_GROUPED,
     "row_split_k128_v1", 2, 64, 0, -1, 2, -1, 2.25, &qp_q2_rules},
    {"q4_g64_fp16", "4-bit codes, a binary16 scale for 64", QP_FAMILY_GROUPED, "row_split_k128_v1",
     4, 64, 0, -8, 7, -1, 4.25, &qp_grouped_rules},
    {"q5_g64_fp16", "5-bit codes, a binary16 scale for 64", QP_FAMILY_GROUPED, "row_split_k128_v1",
     5, 64, 0, -16, 15, -1, 5.25, &qp_grouped_rules},
    {"q6_g64_fp16", "6-bit codes, a binary16 scale for 64", QP_FAMILY_GROUPED, "row_split_k128_v1",
     6, 64, 0, -32, 31, -1, 6.25, &qp_grouped_rules},
    {"q8_g32_fp16", "8-bit codes, a binary16 scale for 32", QP_FAMILY_GROUPED,
     "row_split_k128_v1", 8, 32, 0, -127, 127, -1, 8.5, &qp_grouped_rules},
    {"t2_g128_fp16", "ternary codes, a binary16 scale for 128", QP_FAMILY_GROUPED,
     "row_split_k128_v1", 2, 128, 0, -1, 1, -1, 2.125, &qp_grouped_rules},
    {"nvfp4", "E2M1 codes, an E4M3FN scale for 16", QP_FAMILY_NVFP4, "block_scale_k16_m128x4_v1", 4,
     16, 0, 0, 0, -1, 4.5, &qp_nvfp4_rules},
    {"fp8_e4m3fn_row_bf16", "E4M3FN codes, a bfloat16 scale a row", QP_FAMILY_ROW_FP8,
     "row_scale_v1", 8, 0, 0, 0, 0, -1, 8, &qp_row_bf16_rules},
    {"fp8_e4m3fn_row_fp16", "E4M3FN codes, a binary16 scale a row", QP_FAMILY_ROW_FP8,
     "row_interleaved_v1", 8, 0, 0, 0, 0, -1, 8, &qp_row_fp16_rules},
#define QP_ROW(name, type, values, bytes, scales, summary)                                         \
    {"gguf_" #name,                                                                                \
     summary,                                                                                      \
     QP_FAMILY_GGUF,                                                                               \
     "gguf_blocks_v1",                                                                             \
     0,                                                                                            \
     values,                                                                                       \
     bytes,                                                                                        \
     0,                                                                                            \
     0,                                                                                            \
     type,                                                                                         \
     8.0 * (bytes) / (values),                                                                     \
     &qp_ggml_##name##_rules},
    QP_GGML_BLOCKS(QP_ROW)
#undef QP_ROW
};

size_t qp_format_count(void)
{
    return sizeof formats / sizeof *formats;
}

const qp_format *qp_format_at(size_t index)
{
    return &formats[index];
}

const qp_format *qp_format_find(const char *name)
{
    for (size_t i = 0; i < qp_format_count(); i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}
