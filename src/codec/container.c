/* SPDX-License-Identifier: Apache-2.0 */
/* container.c - QPF1, the file that `quipu encode` writes (docs/payloads.md). */
#include "codec/codec.h"

static const char magic[] = "QPF1";
enum { HEAD_RESERVED = 3 };

static void read_capability(qp_payload *p, qp_container *container)
{
    size_t at = p->at;
    uint8_t length = qp_payload_u8(p, "the length of the capability's name");
    qp_bytes name = qp_payload_take(p, length, 1, "the capability's name");
    for (size_t i = 0; i < name.size; i++)
        if (name.bytes[i] < '!' || name.bytes[i] > '~')
            qp_payload_fault(p, at + 1 + i, "the capability's name is not ASCII text");
    if (name.size == 0)
        qp_payload_fault(p, at, "the capability has no name");
    else
        memcpy(container->capability, name.bytes, name.size);
}

qp_status qp_container_read(const void *bytes, size_t size, qp_container *container,
                            qp_error *error)
{
    qp_container read = {0};
    qp_payload p = qp_payload_over(bytes, size);

    qp_payload_head(&p, magic, HEAD_RESERVED);
    read_capability(&p, &read);
    qp_bytes digest = qp_payload_take(&p, QP_SHA256_SIZE, 1, "the set's digest");
    if (digest.size == QP_SHA256_SIZE)
        qp_sha256_hex(digest.bytes, read.set_sha256);
    size_t start = p.at;
    do {
        qp_payload_block(&p, "a payload");
        read.count++;
    } while (qp_payload_left(&p) > 0);
    qp_status status = qp_payload_check(&p, error);
    if (status != QP_OK)
        return status;
    read.payloads = (const uint8_t *)bytes + start;
    read.size = size - start;
    *container = read;
    return QP_OK;
}

int qp_container_next(const qp_container *container, size_t *at, qp_unit *unit)
{
    if (*at >= container->size)
        return 0;
    qp_payload p = qp_payload_over(container->payloads + *at, container->size - *at);
    qp_bytes block = qp_payload_block(&p, "a payload");
    *unit = (qp_unit){.bytes = block.bytes, .size = block.size};
    *at += p.at;
    return 1;
}

/* The 32 bytes of 64 hexadecimal digits; false for anything else. */
static bool put_digest(qp_buffer *buffer, const char *sha256)
{
    static const char digits[] = "0123456789abcdef";
    if (strlen(sha256) != QP_SHA256_HEX_SIZE - 1)
        return false;
    for (size_t i = 0; i < QP_SHA256_SIZE; i++) {
        const char *high = strchr(digits, sha256[2 * i]);
        const char *low = strchr(digits, sha256[2 * i + 1]);
        if (high == NULL || low == NULL)
            return false;
        qp_buffer_le(buffer, (uint64_t)((high - digits) << 4 | (low - digits)), 1);
    }
    return true;
}

qp_status qp_container_write(const char *capability, const char *set_sha256,
                             const qp_encoded *payloads, size_t count,
                             const qp_allocator *allocator, qp_encoded *file, qp_error *error)
{
    qp_buffer buffer;
    size_t length = strlen(capability);
    bool good = length > 0 && length <= UINT8_MAX && count > 0;

    *file = (qp_encoded){0};
    qp_buffer_init(&buffer, allocator);
    qp_payload_put_head(&buffer, magic, HEAD_RESERVED);
    qp_buffer_le(&buffer, length, 1);
    qp_buffer_text(&buffer, capability);
    if (set_sha256 == NULL)
        qp_payload_put_zeros(&buffer, QP_SHA256_SIZE);
    else
        good = good && put_digest(&buffer, set_sha256);
    for (size_t i = 0; good && i < count; i++)
        qp_payload_put_block(&buffer, payloads[i].bytes, payloads[i].size);
    if (good)
        file->bytes = qp_buffer_take(&buffer, &file->size);
    qp_buffer_free(&buffer);
    if (!good)
        return qp_fail(error, QP_INVALID_ARGUMENT,
                       "a file needs a capability's name, a digest of 64 digits and a payload");
    return file->bytes == NULL ? qp_fail_memory(error, "a file") : QP_OK;
}
