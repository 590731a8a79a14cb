/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_fabric_text.c - the text form of the fabric. What is taken has canonical bytes; those of a
 * fabric or graph are a file of the same identity.
 */
#include "fabric/text.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_again(const qp_fabric_model *model, qp_fabric_item item, size_t index)
{
    char first[65], second[65];
    void *bytes = NULL;
    qp_fabric_model *again = NULL;
    qp_fabric_text text = {"canonical", NULL, 0};

    if (qp_fabric_canonical(model, item, index, NULL, &bytes, &text.size, NULL) != QP_OK)
        abort();
    text.bytes = bytes;
    if (qp_fabric_identity(model, item, index, first, NULL) != QP_OK)
        abort();
    if (item != QP_FABRIC_ITEM_MAP && qp_fabric_read(&text, 1, NULL, &again, NULL) == QP_OK &&
        (qp_fabric_identity(again, item, 0, second, NULL) != QP_OK || strcmp(first, second) != 0))
        abort();
    if (item != QP_FABRIC_ITEM_MAP && again == NULL)
        abort();
    qp_fabric_free(again);
    qp_bytes_free(NULL, bytes, text.size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    qp_fabric_text text = {"input", data, size};
    qp_fabric_model *model;
    qp_fabric_error error;

    if (qp_fabric_read(&text, 1, NULL, &model, &error) != QP_OK) {
        if (error.fault == QP_FABRIC_NO_FAULT || error.line == 0 || error.column == 0)
            abort();
        return 0;
    }
    for (int item = QP_FABRIC_ITEM_FABRIC; item <= QP_FABRIC_ITEM_MAP; item++)
        for (size_t i = 0; i < qp_fabric_count(model, (qp_fabric_item)item); i++)
            check_again(model, (qp_fabric_item)item, i);
    qp_fabric_free(model);
    return 0;
}
