/* SPDX-License-Identifier: Apache-2.0 */
/* wav.h - sound from WAV files. */
#ifndef QP_CLI_WAV_H
#define QP_CLI_WAV_H

#include "quipu/codec.h"

#include <stdbool.h>

/* Whether the bytes begin as a WAV file does. */
bool qp_wav_is(const uint8_t *bytes, size_t size);

/* Reads a WAV file of 16-bit PCM, plain or extensible; chunks other than the format and the data
 * are passed over. QP_MALFORMED, with the offset, for a file that is not one or ends early;
 * QP_FIELD_RANGE for samples of another kind, which 16 bits do not hold exactly. Ownership:
 * qp_media_free with NULL. */
qp_status qp_wav_read(const uint8_t *bytes, size_t size, qp_media *media, qp_error *error);

#endif
