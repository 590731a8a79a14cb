/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quipu/codec.h - payloads of the registered capabilities: decoding and encoding them exactly
 * (integer-operators.md section 13.5; docs/payloads.md says what every byte is).
 *
 * The way through, for a picture:
 *
 *     qp_set_open(members, n_members, &(qp_set_options){.capability = "wai.neural.int_hyper"},
 *                 NULL, &set, &error);
 *     qp_decoder_create("wai.neural.int_hyper", set, NULL, NULL, &decoder, &error);
 *     qp_decoder_decode(decoder, &(qp_unit){.bytes = payload, .size = size}, &media, &error);
 *     ... media.bytes: red, green and blue of every pixel ...
 *     qp_media_free(NULL, &media);
 *     qp_decoder_free(decoder);
 *     qp_set_close(set);
 *
 * The same payload and set give the same bytes, or the same refusal, on every machine.
 */
#ifndef QUIPU_CODEC_H
#define QUIPU_CODEC_H

#include "quipu/lower.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what goes in and comes out ----------------------------------------------------------- */

typedef enum qp_layout {
    QP_LAYOUT_PIXELS, /* u8 [frames][height][width][channels] */
    QP_LAYOUT_PLANES, /* u8 [frames][channels][height][width] */
    QP_LAYOUT_AUDIO   /* i16 little-endian [width][channels]: width is the number of samples */
} qp_layout;

/* A picture, some frames, a signal. Its bytes are the same on every machine, and their SHA-256 is
 * the output's digest. */
typedef struct qp_media {
    qp_layout layout;
    uint32_t frames, height, width, channels; /* frames and height are 1 where they do not apply */
    uint32_t rate;                            /* samples a second, or 0 where nothing says so */
    uint8_t *bytes;
    size_t size;
} qp_media;

/* Frees what a decode gave, with the allocator that its decoder was made with, and empties it. */
QP_API void qp_media_free(const qp_allocator *allocator, qp_media *media);

/* The SHA-256 of the bytes: 64 digits and a NUL. */
QP_API void qp_media_digest(const qp_media *media, char sha256[65]);

/* ---- sets --------------------------------------------------------------------------------- */

/* A parameter set as a driver uses it: its graphs and certificate, and its entropy tables ready for
 * the stage operators. Sets do not change once made, so any number of threads may decode through
 * one; opening, closing and the cache belong to one thread at a time. */
typedef struct qp_set qp_set;

/* Sets that were loaded once, kept under their key (section 8.6): the digest of the exact bytes,
 * the capability, the lowering and the profile. */
typedef struct qp_set_cache qp_set_cache;

/* A cache that keeps sets of up to `budget` bytes in all; what is used least recently goes first.
 * Ownership: qp_set_cache_free, after every set of it is closed. */
QP_API qp_status qp_set_cache_create(size_t budget, const qp_allocator *allocator,
                                     qp_set_cache **cache, qp_error *error);
QP_API void qp_set_cache_free(qp_set_cache *cache);

/* How many sets a cache holds and the bytes that they take: at most the budget, unless sets that
 * are open pass it. */
QP_API size_t qp_set_cache_count(const qp_set_cache *cache);
QP_API size_t qp_set_cache_bytes(const qp_set_cache *cache);

typedef struct qp_set_options {
    const char *capability; /* not NULL */
    const qp_pin *pin;      /* NULL, or what the sender said of the set */
    const char *sha256;     /* NULL, or the set's digest: another set is QP_MODEL_MISMATCH */
    qp_set_cache *cache;    /* NULL, or where the set is looked for and kept */
} qp_set_options;

/*
 * Opens the set that the members make: qp_lower, with the checks of section 8.6, then the entropy
 * tables. The members are copied, and those that the capability does not read are ignored. With a
 * cache the set may be one that it holds: the checks of the pin are made again, nothing else is.
 *
 * `allocator` is not read where there is a cache, which uses its own. Refusals as qp_lower's;
 * QP_MODEL_MISMATCH too for entropy tables that break their rules. A refused set is not kept.
 * Ownership: qp_set_close.
 */
QP_API qp_status qp_set_open(const qp_member *members, size_t n_members,
                             const qp_set_options *options, const qp_allocator *allocator,
                             qp_set **set, qp_error *error);

/* Closes a set, after the decoders and encoders made with it are freed; NULL is allowed. A set of a
 * cache stays there while the budget allows. */
QP_API void qp_set_close(qp_set *set);

/* The graphs, the certificate and the digest; they belong to the set. */
QP_API const qp_lowered *qp_set_lowered(const qp_set *set);

/* The bytes of memory that a set takes. */
QP_API size_t qp_set_bytes(const qp_set *set);

/* ---- decoding ----------------------------------------------------------------------------- */

typedef struct qp_decoder qp_decoder;

typedef struct qp_decode_options {
    size_t max_memory; /* the most bytes that decodes may hold at one time; 0 for no limit but the
                          caps of the text. Passing it is QP_TOO_LARGE. */
    int reference;     /* 1 runs every operator by its reference evaluation: same bytes, slower */
} qp_decode_options;

/*
 * Makes a decoder of a capability's payloads. `set` is its parameter set, which must stay open
 * until qp_decoder_free, or NULL for a capability that has none; `options` may be NULL.
 * QP_MODEL_MISMATCH for a capability that is not known or a set that is not its own. A decoder
 * belongs to one thread at a time. Ownership: qp_decoder_free.
 */
QP_API qp_status qp_decoder_create(const char *capability, const qp_set *set,
                                   const qp_decode_options *options, const qp_allocator *allocator,
                                   qp_decoder **decoder, qp_error *error);
QP_API void qp_decoder_free(qp_decoder *decoder);

/* One payload, and what its capability decodes it upon. */
typedef struct qp_unit {
    const void *bytes;
    size_t size;
    const qp_media *base; /* of int_refine and int_cond_refine: the decoded layers below, or NULL */
    size_t n_base;
} qp_unit;

/*
 * Decodes one payload: the next of a sequence for a capability whose payloads are frames of one.
 * The media are the caller's (qp_media_free) and may outlive the decoder. On a refusal *media is
 * empty and a sequence is where it was before.
 *
 * Refusals: QP_PAYLOAD_MALFORMED for the framing, with the byte's offset; QP_MODEL_MISMATCH,
 * QP_GEOMETRY_MISMATCH and QP_TOO_LARGE for a set and a payload that do not fit each other, before
 * any stream is decoded; QP_STREAM_EXHAUSTED, QP_STREAM_NONCANONICAL and QP_FIELD_RANGE from the
 * streams and the networks. For `wai.neural.int_synth` all of them are QP_PAYLOAD_MALFORMED.
 */
QP_API qp_status qp_decoder_decode(qp_decoder *decoder, const qp_unit *unit, qp_media *media,
                                   qp_error *error);

/* Starts a new sequence. */
QP_API void qp_decoder_reset(qp_decoder *decoder);

/* The most bytes that the decoder has held at one time, what it gave out included. */
QP_API size_t qp_decoder_peak(const qp_decoder *decoder);

/* ---- encoding ----------------------------------------------------------------------------- */

typedef struct qp_encoder qp_encoder;

/* What an encoder may choose; 0 stands for each one's usual value. A driver reads those that its
 * payload has. */
typedef struct qp_encode_options {
    uint32_t q;         /* the step of residuals */
    uint32_t block;     /* the side of a motion block */
    uint32_t range;     /* of the motion search, in pels */
    uint32_t precision; /* 1 whole-pel, 2 half-pel */
    uint32_t group;     /* frames from one intra frame to the next */
    uint32_t mode;      /* of a refinement's prediction */
} qp_encode_options;

/*
 * Makes an encoder. `beside` are files that lie beside the set and are no part of it: the analysis
 * networks g_a.whm and h_a.whm of `wai.neural.int_hyper`; they are copied. QP_MODEL_MISMATCH as
 * qp_decoder_create, for a capability whose payloads this library does not encode, and for files
 * that are missing or refused. Ownership: qp_encoder_free.
 */
QP_API qp_status qp_encoder_create(const char *capability, const qp_set *set,
                                   const qp_member *beside, size_t n_beside,
                                   const qp_encode_options *options, const qp_allocator *allocator,
                                   qp_encoder **encoder, qp_error *error);
QP_API void qp_encoder_free(qp_encoder *encoder);

/* What is encoded, and upon what. */
typedef struct qp_source {
    const qp_media *media;
    const qp_media *base; /* of int_refine and int_cond_refine: the decoded layers below, or NULL */
    size_t n_base;
} qp_source;

/* Bytes of a payload. */
typedef struct qp_encoded {
    uint8_t *bytes;
    size_t size;
} qp_encoded;

/*
 * Encodes one payload, whose bytes are the same on every machine: the next of a sequence for a
 * capability whose payloads are frames of one. A picture of one channel is encoded as three equal
 * ones by `wai.neural.int_hyper`; `wai.neural.int_synth` takes latents, as planes of i8.
 *
 * QP_INVALID_ARGUMENT for media that the capability does not encode; QP_TOO_LARGE, QP_FIELD_RANGE
 * and others for values that its networks or tables do not reach. Not promised: that another
 * version of the library writes the same bytes, and that the set's synthesis admits every latent of
 * an arbitrary picture; its decode may refuse with QP_FIELD_RANGE. Ownership: qp_encoded_free.
 */
QP_API qp_status qp_encoder_encode(qp_encoder *encoder, const qp_source *source,
                                   qp_encoded *payload, qp_error *error);
QP_API void qp_encoded_free(const qp_allocator *allocator, qp_encoded *payload);

/* ---- QPF1: the file of a payload ---------------------------------------------------------- */

/* A file read: everything lies in the file's bytes, which must stay. */
typedef struct qp_container {
    char capability[256];
    char set_sha256[65];     /* 64 digits and a NUL; all 0 for a capability without a set */
    const uint8_t *payloads; /* `u32` length and bytes, one after another */
    size_t size;
    size_t count; /* at least 1 */
} qp_container;

/* Reads a QPF1 file. QP_PAYLOAD_MALFORMED, with the offset, for anything else. */
QP_API qp_status qp_container_read(const void *bytes, size_t size, qp_container *container,
                                   qp_error *error);

/* The next payload: 1 with it in *unit, or 0 past the last. *at is 0 before the first, and is moved
 * on. */
QP_API int qp_container_next(const qp_container *container, size_t *at, qp_unit *unit);

/* Writes a QPF1 file: `set_sha256` is NULL for a capability without a set. Ownership:
 * qp_encoded_free. */
QP_API qp_status qp_container_write(const char *capability, const char *set_sha256,
                                    const qp_encoded *payloads, size_t count,
                                    const qp_allocator *allocator, qp_encoded *file,
                                    qp_error *error);

#ifdef __cplusplus
}
#endif

#endif
