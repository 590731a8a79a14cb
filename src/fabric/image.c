/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image.c - the hardware configuration image (section 11): a JSON header and the payload, each
 * behind its length.
 */
#include "fabric/configuration.h"

/* The identity of the layout's ABI. */
static qp_status identify_abi(const qp_fabric_layout *layout, const qp_allocator *allocator,
                              char identity[QP_SHA256_HEX_SIZE], qp_fabric_error *error)
{
    uint8_t digest[QP_SHA256_SIZE];
    qp_buffer abi;

    qp_buffer_init(&abi, allocator);
    qp_status status = qp_fabric_put_abi(&abi, layout, error);
    if (status == QP_OK) {
        qp_fabric_digest(&qp_fabric_artifact_abi, abi.bytes, abi.size, digest);
        qp_sha256_hex(digest, identity);
    }
    qp_buffer_free(&abi);
    return status;
}

/* The header's JSON; where the two identities stand in it is fixed. */
typedef struct header_places {
    size_t abi, mapping;
} header_places;

static header_places put_header(qp_buffer *header, const qp_fabric_layout *layout, const char *abi,
                                const char *mapping)
{
    static const size_t behind = sizeof "\"}" - 1 + QP_SHA256_SIZE * 2;
    header_places places;

    qp_buffer_format(header, "{\"version\":\"%lu.%lu\",\"configuration_abi_ref\":",
                     (unsigned long)qp_fabric_artifact_image.major,
                     (unsigned long)qp_fabric_artifact_image.minor);
    qp_fabric_put_artifact_ref(header, &qp_fabric_artifact_abi, abi);
    places.abi = header->size - behind;
    qp_buffer_text(header,
                   ",\"programming_unit_id\":\"" QP_FABRIC_UNIT_ID "\",\"source_mapping\":");
    qp_fabric_put_artifact_ref(header, &qp_fabric_artifact_map, mapping);
    places.mapping = header->size - behind;
    qp_buffer_text(header, ",\"payload_bit_count\":");
    qp_buffer_u64_decimal(header, layout->payload_bits);
    qp_buffer_text(header, "}");
    return places;
}

qp_status qp_fabric_put_image(qp_buffer *buffer, const qp_fabric_layout *layout,
                              const qp_fabric_projection *projection, const char *map_identity,
                              qp_fabric_error *error)
{
    char abi[QP_SHA256_HEX_SIZE];
    uint8_t *payload;
    size_t size;
    qp_buffer header;
    qp_arena arena;

    qp_status status = identify_abi(layout, &buffer->allocator, abi, error);
    if (status != QP_OK)
        return status;
    qp_arena_init(&arena, &buffer->allocator);
    qp_buffer_init(&header, &buffer->allocator);
    status = qp_fabric_encode_payload(layout, projection, &arena, &payload, &size, error);
    if (status == QP_OK) {
        put_header(&header, layout, abi, map_identity);
        qp_fabric_put_frame(buffer, header.bytes, header.size);
        qp_fabric_put_u64(buffer, size);
        qp_buffer_append(buffer, payload, size);
        if (header.failed || buffer->failed)
            status = qp_fabric_fail_memory(error, "an image");
    }
    qp_buffer_free(&header);
    qp_arena_free(&arena);
    return status;
}

static qp_status image_fails(qp_fabric_error *error, const char *what)
{
    return qp_fabric_fail(error, QP_FABRIC_INVALID, QP_FABRIC_NOWHERE, "the image %s", what);
}

/* Copies an identity from the header, or gives false where it is not 64 lower-case digits. */
static bool copy_identity(const uint8_t *from, char identity[QP_SHA256_HEX_SIZE])
{
    memcpy(identity, from, QP_SHA256_SIZE * 2);
    identity[QP_SHA256_SIZE * 2] = '\0';
    return strspn(identity, "0123456789abcdef") == QP_SHA256_SIZE * 2;
}

/* The header must be the one that put_header makes of the identities in it. */
static qp_status check_header(const qp_fabric_layout *layout, qp_fabric_cursor header,
                              qp_buffer *expected, qp_fabric_image *image, qp_fabric_error *error)
{
    static const char none[] = "0000000000000000000000000000000000000000000000000000000000000000";
    const header_places places = put_header(expected, layout, none, none);

    if (expected->failed)
        return qp_fabric_fail_memory(error, "an image");
    if (header.size != expected->size || !copy_identity(header.bytes + places.abi, image->abi) ||
        !copy_identity(header.bytes + places.mapping, image->mapping))
        return image_fails(error, "has no header of this fabric's form");
    expected->size = 0;
    put_header(expected, layout, image->abi, image->mapping);
    if (memcmp(header.bytes, expected->bytes, expected->size) != 0)
        return image_fails(error, "has no header of this fabric's form");
    return QP_OK;
}

/* The lengths, and what they measure. */
static qp_status split(const void *bytes, size_t size, qp_fabric_cursor *header,
                       qp_fabric_image *image, qp_fabric_error *error)
{
    qp_fabric_cursor cursor = qp_fabric_cursor_over(bytes, size);

    *header = qp_fabric_get_frame(&cursor);
    const uint64_t payload = qp_fabric_get_u64(&cursor);
    if (cursor.failed || payload > size - cursor.at)
        return image_fails(error, "is cut short");
    image->payload_size = (size_t)payload;
    image->payload = qp_fabric_get_bytes(&cursor, image->payload_size);
    return qp_fabric_at_end(&cursor) ? QP_OK : image_fails(error, "has bytes behind its payload");
}

qp_status qp_fabric_get_image(const qp_fabric_layout *layout, const void *bytes, size_t size,
                              const qp_allocator *allocator, qp_fabric_image *image,
                              qp_fabric_error *error)
{
    char abi[QP_SHA256_HEX_SIZE];
    qp_fabric_cursor header;
    qp_buffer expected;

    *image = (qp_fabric_image){.payload_bits = layout->payload_bits};
    qp_status status = split(bytes, size, &header, image, error);
    if (status != QP_OK)
        return status;
    qp_buffer_init(&expected, allocator);
    status = check_header(layout, header, &expected, image, error);
    qp_buffer_free(&expected);
    if (status == QP_OK)
        status = identify_abi(layout, allocator, abi, error);
    if (status == QP_OK && strcmp(abi, image->abi) != 0)
        status =
            image_fails(error, "is for another fabric: its ConfigurationABI is not this one's");
    return status;
}
