/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - the files of the corpus: one row an operator, in the order of the opcodes. */
#ifndef QP_CONFORM_ROWS_H
#define QP_CONFORM_ROWS_H

#include "conform/corpus.h"

#define QP_CORPUS_ROWS(ROW)                                                                        \
    ROW(conv)                                                                                      \
    ROW(rescale)                                                                                   \
    ROW(chscale)                                                                                   \
    ROW(lut16)                                                                                     \
    ROW(add)                                                                                       \
    ROW(concat)                                                                                    \
    ROW(chunk_add)                                                                                 \
    ROW(split)                                                                                     \
    ROW(pixel_shuffle)                                                                             \
    ROW(pixel_unshuffle)                                                                           \
    ROW(clamp)                                                                                     \
    ROW(relu)                                                                                      \
    ROW(leaky)                                                                                     \
    ROW(pad_rep)                                                                                   \
    ROW(crop_to)                                                                                   \
    ROW(mul)                                                                                       \
    ROW(conv_transpose)                                                                            \
    ROW(igdn)                                                                                      \
    ROW(abs)                                                                                       \
    ROW(crop)                                                                                      \
    ROW(subpos_split)                                                                              \
    ROW(subpos_merge)                                                                              \
    ROW(fill)                                                                                      \
    ROW(layernorm_c)                                                                               \
    ROW(l2norm)                                                                                    \
    ROW(softmax)                                                                                   \
    ROW(sigmoid)                                                                                   \
    ROW(elu)                                                                                       \
    ROW(gram)                                                                                      \
    ROW(apply)

#define QP_CORPUS_ROW(name) extern const qp_corpus_row qp_row_##name;
QP_CORPUS_ROWS(QP_CORPUS_ROW)
#undef QP_CORPUS_ROW

/* The files of graphs/ and of certificates/: several operators a graph. */
void qp_graphs_phase(qp_corpus *c, const void *context);
void qp_graphs_state(qp_corpus *c, const void *context);
void qp_graphs_load(qp_corpus *c, const void *context);
void qp_graphs_run(qp_corpus *c, const void *context);
void qp_graphs_chain(qp_corpus *c, const void *context);
void qp_graphs_lowered(qp_corpus *c, const void *context);
void qp_certificates_whg1(qp_corpus *c);

#endif
