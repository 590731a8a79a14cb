/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert_files.h - what the tests of conversions share: a folder of their own, safetensors files
 * built from arrays, conversions in one call, whole files and digests compared.
 */
#ifndef QP_TEST_SUPPORT_CONVERT_FILES_H
#define QP_TEST_SUPPORT_CONVERT_FILES_H

#include "support/test.h"

#include "base/base.h"
#include "base/json.h"
#include "quipu/convert.h"

/* A new folder for the test's files, and its end with all that is in it. */
void folder_make(const char *name);
void folder_remove(void);
/* The path of a file in it, in storage that the eighth call after this one takes. */
const char *in_folder(const char *name);
bool file_exists(const char *path);
/* How many files and folders are in it. */
size_t folder_count(void);

/* A safetensors file that is being built. */
typedef struct tensor_file {
    qp_buffer header, data;
} tensor_file;

void tensor_file_init(tensor_file *file);
void tensor_file_add(tensor_file *file, const char *name, const char *dtype, const char *shape,
                     const void *bytes, size_t size);
/* Elements of small random numbers, exact in each dtype: "F32", "BF16", "F16". */
void tensor_file_random(tensor_file *file, const char *name, const char *dtype, const char *shape,
                        size_t elements, uint64_t seed);
/* A member of __metadata__ is a JSON member's text, "\"a\":\"b\"". Frees the builder. */
void tensor_file_write(tensor_file *file, const char *metadata, const char *path);

/* Bytes of a whole file. Ownership: qp_file_close. */
qp_file whole_file(const char *path);
void assert_same_files(const char *a, const char *b);
void copy_file(const char *from, const char *to);
void write_file(const char *path, const void *bytes, size_t size);

/* Opens a file that is in order. */
qp_artifact *opened(const char *path);
/* The digest of a whole file of weights, 64 digits, in storage that the fourth call after this one
 * takes. */
const char *digest_of(const char *path);
/* Requires that the file verifies. */
void assert_verifies(const char *path);

/* Converts with a preset (or NULL), and requires success. */
void convert(const char *from, const char *to, const char *preset);
/* With any options: `replace` is set. */
qp_status convert_with(const char *from, const char *to, const qp_convert_options *options,
                       qp_error *error);
/* With a recipe; requires success. */
void convert_recipe(const char *from, const char *to, const char *recipe);

/* The JSON directory of a .ninfer, which lives until the next call. */
qp_json_value directory_of(const char *path);
/* A member along a path of names, "components>text>config"; a name "#2" is the third element. */
qp_json_value member_at(qp_json_value value, const char *path);

#endif
