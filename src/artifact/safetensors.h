/* SPDX-License-Identifier: Apache-2.0 */
/*
 * safetensors.h - what the readers of safetensors files and of their index of shards share
 * (ggml-blocks.md section 7).
 */
#ifndef QP_ARTIFACT_SAFETENSORS_H
#define QP_ARTIFACT_SAFETENSORS_H

#include "artifact/artifact.h"
#include "base/json.h"

enum { SAFETENSORS_LENGTH_BYTES = 8 };

/* Parses JSON text: S-JSON, S-DUPNAME. */
qp_status qp_safetensors_json(qp_json *json, const void *text, size_t size, qp_error *error);

/* A JSON string as a C string in the arena: S-NAME where it holds U+0000. */
qp_status qp_safetensors_keep(qp_artifact *artifact, qp_json_value value, const char **text,
                              qp_error *error);

/* Reads the file `index`, which is open, and appends its tensors, in the order of their bytes, and
 * its metadata. */
qp_status qp_safetensors_read_file(qp_artifact *artifact, size_t index, qp_error *error);

/* Reads an index of shards, the first file, then the shards that it names. */
qp_status qp_safetensors_read_index(qp_artifact *artifact, qp_error *error);

#endif
