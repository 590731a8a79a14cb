/* SPDX-License-Identifier: Apache-2.0 */
/* info_fabric.c - quipu info for the fabric's files (fabric-tables.md sections 11 and 12). */
#include "cli/info_fabric.h"
#include "cli/fabric.h"

/* ---- texts -------------------------------------------------------------------------------- */

/* Where the first token begins, behind blanks and comments. */
static size_t first_token(const qp_file *file)
{
    size_t at = 0;
    bool comment = false;
    for (; at < file->size; at++) {
        uint8_t c = file->bytes[at];
        if (comment || c == '#')
            comment = c != '\n';
        else if (c != ' ' && c != '\t' && c != '\r' && c != '\n')
            break;
    }
    return at;
}

const char *qp_info_fabric_text_kind(const qp_file *file)
{
    static const char *const words[] = {"fabric ", "graph ", "map "};
    size_t at = first_token(file);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i]);
        if (file->size - at >= length && memcmp(file->bytes + at, words[i], length) == 0)
            return "fabric";
    }
    return NULL;
}

/* The error of a text as one of the library: its place goes into the sentence. */
static qp_status fail(const qp_fabric_error *from, qp_error *error)
{
    if (from->line == 0)
        return qp_fail(error, from->base.status, "%s", from->base.message);
    return qp_fail(error, from->base.status, "line %" PRIu32 ", column %" PRIu32 ": %s", from->line,
                   from->column, from->base.message);
}

qp_status qp_info_fabric_text(const qp_file *file, const qp_info_request *request, qp_buffer *text,
                              qp_error *error)
{
    const qp_fabric_text source = {request->path, file->bytes, file->size};
    qp_fabric_error fault = {0};
    qp_fabric_model *model;

    if (request->tensor != NULL)
        return qp_fail(error, QP_INVALID_ARGUMENT, "--tensor asks for files of weights");
    if (qp_fabric_read(&source, 1, NULL, &model, &fault) != QP_OK)
        return fail(&fault, error);
    qp_buffer_text(text, request->json ? "," : "");
    qp_status status = qp_cli_put_items(model, request->json, text, &fault);
    qp_fabric_free(model);
    return status == QP_OK ? QP_OK : fail(&fault, error);
}

/* ---- images ------------------------------------------------------------------------------- */

static const char image_start[] = "{\"version\":";

const char *qp_info_fabric_image_kind(const qp_file *file)
{
    size_t length = strlen(image_start);
    if (file->size < 4 + length || memcmp(file->bytes + 4, image_start, length) != 0)
        return NULL;
    return "fabric";
}

static uint64_t big_endian(const uint8_t *bytes, size_t count)
{
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++)
        value = value << 8 | bytes[i];
    return value;
}

/* The header's text and the payload, within the file. */
typedef struct image {
    const uint8_t *header, *payload;
    size_t header_size, payload_size;
} image;

static qp_status find_parts(const qp_file *file, image *parts, qp_error *error)
{
    uint64_t header = big_endian(file->bytes, 4);

    if (header > file->size - 4 || file->size - 4 - header < 8)
        return qp_fail(error, QP_MALFORMED, "the header's length passes the end of the file");
    parts->header = file->bytes + 4;
    parts->header_size = (size_t)header;
    parts->payload = parts->header + header + 8;
    parts->payload_size = file->size - 12 - (size_t)header;
    if (big_endian(parts->payload - 8, 8) != parts->payload_size)
        return qp_fail(error, QP_MALFORMED, "the payload does not end with the file");
    return QP_OK;
}

/* The digest that a reference in the header has: a member, or a line. */
static qp_status put_reference(qp_json_value root, const char *name, bool json, qp_buffer *text,
                               qp_error *error)
{
    qp_json_value reference, artifact;
    qp_buffer digest;
    qp_status status = qp_json_member(root, name, QP_JSON_OBJECT, &reference, error);
    if (status == QP_OK)
        status = qp_json_member(reference, "artifact", QP_JSON_STRING, &artifact, error);
    if (status != QP_OK)
        return status;
    qp_buffer_init(&digest, NULL);
    qp_json_append_string(artifact, &digest);
    qp_buffer_append(&digest, "", 1);
    const char *digits = digest.failed ? "" : (const char *)digest.bytes;
    if (json)
        qp_cli_json_text(text, ",", name, digits);
    else
        qp_cli_put_digits(text, strcmp(name, "source_mapping") == 0 ? "map" : "ABI", digits,
                          strlen(digits));
    text->failed |= digest.failed;
    qp_buffer_free(&digest);
    return QP_OK;
}

static void put_payload(const image *parts, uint64_t bits, bool json, qp_buffer *text)
{
    qp_buffer digits;

    qp_buffer_init(&digits, NULL);
    qp_buffer_hex(&digits, parts->payload, parts->payload_size);
    qp_buffer_append(&digits, "", 1);
    const char *hex = digits.failed ? "" : (const char *)digits.bytes;
    if (json) {
        qp_cli_json_number(text, ",", "payload_bit_count", bits);
        qp_cli_json_text(text, ",", "payload", hex);
    } else {
        qp_buffer_format(text, "  %-10s  %" PRIu64 "\n", "bits", bits);
        qp_cli_put_digits(text, "payload", hex, strlen(hex));
    }
    text->failed |= digits.failed;
    qp_buffer_free(&digits);
}

static qp_status show_image(const image *parts, qp_json_value root, bool json, qp_buffer *text,
                            qp_error *error)
{
    qp_json_value bits;
    uint64_t count;
    qp_status status = qp_json_member(root, "payload_bit_count", QP_JSON_NUMBER, &bits, error);

    if (status == QP_OK)
        status = qp_json_get_u64(bits, &count, error);
    if (status != QP_OK)
        return status;
    put_payload(parts, count, json, text);
    status = put_reference(root, "source_mapping", json, text, error);
    if (status == QP_OK)
        status = put_reference(root, "configuration_abi_ref", json, text, error);
    return status;
}

qp_status qp_info_fabric_image(const qp_file *file, const qp_info_request *request, qp_buffer *text,
                               qp_error *error)
{
    qp_json header;
    image parts = {0};

    if (request->tensor != NULL)
        return qp_fail(error, QP_INVALID_ARGUMENT, "--tensor asks for files of weights");
    qp_status status = find_parts(file, &parts, error);
    if (status != QP_OK)
        return status;
    qp_json_init(&header, NULL);
    status = qp_json_parse(&header, parts.header, parts.header_size, error);
    if (status == QP_OK)
        status = show_image(&parts, qp_json_root(&header), request->json, text, error);
    qp_json_free(&header);
    return status;
}
