/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weight_files.h - what the tests of files of weights share: the committed fixtures and their
 * indices, files built in memory, and opening with every byte and every allocation watched.
 */
#ifndef QP_TEST_SUPPORT_WEIGHT_FILES_H
#define QP_TEST_SUPPORT_WEIGHT_FILES_H

#include "support/test.h"

#include "base/json.h"
#include "quipu/artifact.h"

/* The bytes of test/data/FOLDER/NAME. Ownership: qp_file_close. */
#define fixture_open(folder, name) fixture_open_path(QP_TEST_DATA "/" folder, name)
qp_file fixture_open_path(const char *folder, const char *name);

/* test/data/FOLDER/index.json. Ownership: fixture_index_close. */
typedef struct fixture_index {
    qp_file file;
    qp_json json;
    qp_json_value root;
} fixture_index;
#define fixture_index_open(index, folder) fixture_index_open_path(index, QP_TEST_DATA "/" folder)
void fixture_index_open_path(fixture_index *index, const char *folder);
void fixture_index_close(fixture_index *index);

/* A string member of a record, in storage that the next call of the same `slot` (0 to 3) takes;
 * NULL where it is null or absent. */
const char *fixture_text(qp_json_value record, const char *name, unsigned slot);
uint64_t fixture_u64(qp_json_value record, const char *name);
/* Whether bytes have the SHA-256 that a member states. */
void assert_fixture_digest(qp_json_value record, const char *name, const uint8_t *bytes,
                           size_t size);

/* The most that a hostile file may take (cases.md). */
enum { HOSTILE_MEMORY = 1 << 20 };

/* Opens bytes in a block of their own size and requires that refusal, with an offset within them
 * and little memory; and that nothing is left. */
void assert_open_refused(const char *name, const uint8_t *bytes, size_t size, const char *check);
/* The same with the place of the fault. */
void assert_open_refused_at(const char *name, const uint8_t *bytes, size_t size, const char *check,
                            int64_t offset);
/* Opens bytes and requires success. Ownership: qp_artifact_close. */
qp_artifact *open_bytes(const char *name, const uint8_t *bytes, size_t size);
/* Opens bytes while each allocation in turn fails, and requires QP_NO_MEMORY or success at last. */
void assert_open_survives(const char *name, const uint8_t *bytes, size_t size);
/* Opens every proper prefix: refused, with a check and a place in it, but for those of `accepted`
 * bytes or more. */
void assert_prefixes_refused(const char *name, const uint8_t *bytes, size_t size, size_t accepted);

/* A .ninfer entry of one file: header, JSON text, padding, `payload` zero bytes. */
void build_ninfer(qp_buffer *file, const void *json, size_t size, size_t payload);
/* A safetensors file: length, header, `data` zero bytes. */
void build_safetensors(qp_buffer *file, const char *header, size_t data);

#endif
