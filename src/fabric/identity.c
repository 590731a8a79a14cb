/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity.c - canonical bytes of items and the digests over them (section 11).
 */
#include "fabric/text.h"

const qp_fabric_artifact qp_fabric_artifact_fabric = {"loom.fabric", 7, 1};
const qp_fabric_artifact qp_fabric_artifact_graph = {"loom.dataflow", 1, 0};
const qp_fabric_artifact qp_fabric_artifact_map = {"loom.mapping", 2, 0};
const qp_fabric_artifact qp_fabric_artifact_abi = {"loom.configuration_abi", 1, 0};
const qp_fabric_artifact qp_fabric_artifact_image = {"loom.hardware_configuration_image", 1, 0};

typedef struct item_row {
    const qp_fabric_artifact *artifact;
    void (*print)(qp_buffer *buffer, const qp_fabric_model *model, uint32_t index);
} item_row;

static const item_row item_rows[] = {
    [QP_FABRIC_ITEM_FABRIC] = {&qp_fabric_artifact_fabric, qp_fabric_print_fabric},
    [QP_FABRIC_ITEM_GRAPH] = {&qp_fabric_artifact_graph, qp_fabric_print_graph},
    [QP_FABRIC_ITEM_MAP] = {&qp_fabric_artifact_map, qp_fabric_print_map},
};

/* The low `width` bytes, most significant first. */
static void hash_number(qp_sha256 *hash, uint64_t value, unsigned width)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < width; i++)
        bytes[i] = (uint8_t)(value >> (8 * (width - 1 - i)));
    qp_sha256_update(hash, bytes, width);
}

void qp_fabric_digest(const qp_fabric_artifact *artifact, const void *bytes, size_t size,
                      uint8_t digest[QP_SHA256_SIZE])
{
    static const char domain[] = "loom.artifact.identity.v1";
    const size_t length = strlen(artifact->schema);
    qp_sha256 hash;

    qp_sha256_init(&hash);
    qp_sha256_update(&hash, domain, sizeof domain);
    hash_number(&hash, length, 4);
    qp_sha256_update(&hash, artifact->schema, length);
    hash_number(&hash, artifact->major, 4);
    hash_number(&hash, artifact->minor, 4);
    hash_number(&hash, size, 8);
    qp_sha256_update(&hash, bytes, size);
    qp_sha256_final(&hash, digest);
}

bool qp_fabric_item_identity(const qp_fabric_model *model, qp_fabric_item item, uint32_t index,
                             char text[QP_SHA256_HEX_SIZE])
{
    uint8_t digest[QP_SHA256_SIZE];
    qp_buffer buffer;

    qp_buffer_init(&buffer, &model->arena.allocator);
    item_rows[item].print(&buffer, model, index);
    const bool good = !buffer.failed;
    if (good) {
        qp_fabric_digest(item_rows[item].artifact, buffer.bytes, buffer.size, digest);
        qp_sha256_hex(digest, text);
    }
    qp_buffer_free(&buffer);
    return good;
}

static qp_status check_item(const qp_fabric_model *model, qp_fabric_item item, size_t index,
                            qp_fabric_error *error)
{
    if (index >= qp_fabric_count(model, item))
        return qp_fabric_fail_argument(error, "the model has no such item");
    return QP_OK;
}

qp_status qp_fabric_identity(const qp_fabric_model *model, qp_fabric_item item, size_t index,
                             char text[QP_SHA256_HEX_SIZE], qp_fabric_error *error)
{
    qp_status status = check_item(model, item, index, error);
    if (status == QP_OK && !qp_fabric_item_identity(model, item, (uint32_t)index, text))
        status = qp_fabric_fail_memory(error, "canonical bytes");
    return status;
}

qp_status qp_fabric_canonical(const qp_fabric_model *model, qp_fabric_item item, size_t index,
                              const qp_allocator *allocator, void **bytes, size_t *size,
                              qp_fabric_error *error)
{
    qp_status status = check_item(model, item, index, error);
    qp_buffer buffer;

    *bytes = NULL;
    *size = 0;
    if (status != QP_OK)
        return status;
    qp_buffer_init(&buffer, allocator);
    item_rows[item].print(&buffer, model, (uint32_t)index);
    *bytes = qp_buffer_take(&buffer, size);
    return *bytes != NULL ? QP_OK : qp_fabric_fail_memory(error, "canonical bytes");
}
