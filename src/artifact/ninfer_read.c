/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ninfer_read.c - the framing of .ninfer files, version 3, and the checks that are made when a
 * tensor is asked for (artifact-container.md sections 2, 4, 5 and 12).
 */
#include "artifact/ninfer_directory.h"

#include <inttypes.h>

enum { MAGIC_SIZE = 8, REVISION = 7, ALIGNMENT = 256 };

static const uint8_t entry_magic[MAGIC_SIZE] = {'N', 'I', 'N', 'F', 'E', 'R', 0, 3};
static const uint8_t part_magic[MAGIC_SIZE] = {'N', 'I', 'N', 'P', 'R', 'T', 0, 3};

/* Any revision, and continuations: `open` says what is wrong with them. */
static bool probe(const uint8_t *bytes, size_t size)
{
    return size >= MAGIC_SIZE &&
           (memcmp(bytes, entry_magic, REVISION) == 0 || memcmp(bytes, part_magic, REVISION) == 0);
}

/* ---- the entry ------------------------------------------------------------------------------ */

static qp_status refuse_magic(const uint8_t *bytes, qp_error *error)
{
    if (memcmp(bytes, part_magic, REVISION) == 0)
        return qp_fail_check(error, QP_MALFORMED, "F-MAGIC", 0,
                             "this is a continuation: open the entry file, whose name it begins "
                             "with, instead");
    if (memcmp(bytes, entry_magic, REVISION) != 0)
        return qp_fail_check(error, QP_MALFORMED, "F-MAGIC", 0,
                             "the file does not begin with the magic of a .ninfer entry");
    if (bytes[REVISION] == 1 || bytes[REVISION] == 2)
        return qp_fail_check(error, QP_MALFORMED, "F-MAGIC", REVISION,
                             "this is a .ninfer file of version %d, which is not read: convert the "
                             "model again from its source with a converter of version 3",
                             bytes[REVISION]);
    return qp_fail_check(error, QP_MALFORMED, "F-MAGIC", REVISION,
                         "version %d of .ninfer is not known: 3 is the one that is read",
                         bytes[REVISION]);
}

static qp_status read_header(qp_artifact *artifact, qp_error *error)
{
    const qp_file *file = &artifact->files[0].file;

    if (file->size < NINFER_HEADER)
        return qp_fail_check(error, QP_MALFORMED, "F-SHORT", (int64_t)file->size,
                             "the file ends within the header of %d bytes", NINFER_HEADER);
    if (memcmp(file->bytes, entry_magic, MAGIC_SIZE) != 0)
        return refuse_magic(file->bytes, error);

    uint64_t json_bytes = qp_load_u64(file->bytes + 8);
    if (json_bytes == 0 || json_bytes > file->size - NINFER_HEADER)
        return qp_fail_check(error, QP_MALFORMED, "F-JSONLEN", 8,
                             "the directory has %" PRIu64 " bytes, of %zu behind the header",
                             json_bytes, file->size - NINFER_HEADER);
    memcpy(artifact->id, file->bytes + 16, sizeof artifact->id);
    artifact->directory = (const char *)file->bytes + NINFER_HEADER;
    artifact->directory_size = (size_t)json_bytes;
    return QP_OK;
}

/* The length that the directory gives the entry; the sum cannot pass 2^64: the metadata end within
 * the file, and the payload's total was formed. */
static qp_status check_length(qp_artifact *artifact, qp_error *error)
{
    qp_artifact_file *entry = &artifact->files[0];
    uint64_t metadata_end = NINFER_HEADER + (uint64_t)artifact->directory_size, length;

    entry->at =
        (metadata_end + NINFER_PAYLOAD_STEP - 1) / NINFER_PAYLOAD_STEP * NINFER_PAYLOAD_STEP;
    if (!qp_add_u64(entry->at, entry->size, &length) || length != entry->file.size)
        return qp_fail_check(error, QP_MALFORMED, "F-LENGTH", (int64_t)entry->file.size,
                             "the file has %zu bytes, and its directory says %" PRIu64
                             " of payload from byte %" PRIu64 " on",
                             entry->file.size, entry->size, entry->at);
    return QP_OK;
}

static qp_status open_entry(qp_artifact *artifact, qp_error *error)
{
    artifact->version = "3";
    artifact->alignment = ALIGNMENT;
    qp_status status = read_header(artifact, error);
    if (status == QP_OK)
        status = qp_ninfer_read_directory(artifact, error);
    if (status == QP_OK)
        status = check_length(artifact, error);
    return status;
}

/* ---- continuations -------------------------------------------------------------------------- */

static qp_status check_part(const qp_artifact *artifact, size_t index, qp_error *error)
{
    const qp_artifact_file *part = &artifact->files[index];
    const uint8_t *bytes = part->file.bytes;
    uint64_t length;

    if (part->file.size < NINFER_HEADER)
        return qp_fail_check(error, QP_MALFORMED, "F-SHORT", (int64_t)part->file.size,
                             "the continuation %.100s ends within its header", part->name);
    if (memcmp(bytes, part_magic, MAGIC_SIZE) != 0 || qp_load_u64(bytes + 8) != index ||
        memcmp(bytes + 16, artifact->id, sizeof artifact->id) != 0) {
        int64_t offset = memcmp(bytes, part_magic, MAGIC_SIZE) != 0 ? 0
                         : qp_load_u64(bytes + 8) != index          ? 8
                                                                    : 16;
        return qp_fail_check(error, QP_MALFORMED, "F-PARTHEADER", offset,
                             "the file %.100s is not part %zu of this artifact", part->name, index);
    }
    if (!qp_add_u64(part->at, part->size, &length) || length != part->file.size)
        return qp_fail_check(error, QP_MALFORMED, "F-PARTLENGTH", (int64_t)part->file.size,
                             "the continuation %.80s has %zu bytes, and the directory says %" PRIu64
                             " behind %" PRIu64,
                             part->name, part->file.size, part->size, part->at);
    return QP_OK;
}

/* ---- tensors -------------------------------------------------------------------------------- */

static qp_status check_tensor(const qp_artifact *artifact, const qp_artifact_tensor *tensor,
                              qp_error *error)
{
    qp_matrix matrix;

    if (tensor->format == NULL)
        return qp_fail_check(error, QP_MALFORMED, "C-GEOM", -1,
                             "%.80s has the unknown format %.60s", tensor->name, tensor->type);
    if (tensor->layout == NULL)
        return qp_fail_check(error, QP_MALFORMED, "C-GEOM", -1,
                             "%.80s is stored in a layout that is not known", tensor->name);
    qp_status status = qp_matrix_plan(tensor->format, tensor->layout, tensor->shape, tensor->rank,
                                      tensor->divisors, &matrix, error);
    if (status != QP_OK) {
        qp_artifact_name_error(error, tensor->name);
        return status;
    }
    if (matrix.bytes != tensor->bytes)
        return qp_fail_check(error, QP_MALFORMED, "C-SIZE", -1,
                             "%.80s has %" PRIu64 " bytes where its layout takes %" PRIu64,
                             tensor->name, tensor->bytes, matrix.bytes);
    if (tensor->offset % artifact->alignment != 0)
        return qp_fail_check(error, QP_MALFORMED, "C-ALIGN", -1,
                             "%.80s begins at %" PRIu64 " of the payload, no multiple of %" PRIu64,
                             tensor->name, tensor->offset, artifact->alignment);
    return QP_OK;
}

const struct qp_artifact_kind_rules qp_ninfer_rules = {
    .probe = probe,
    .open = open_entry,
    .check_file = check_part,
    .check_tensor = check_tensor,
    .missing_file = "F-PARTMISSING",
    .has_id = true,
    .spans_files = true,
    .writer = &qp_ninfer_writer,
};
