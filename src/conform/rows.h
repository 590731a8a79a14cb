/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - the files of the corpus: one for each operator of src/op/op.h, and those of several. */
#ifndef QP_CONFORM_ROWS_H
#define QP_CONFORM_ROWS_H

#include "conform/corpus.h"

#define QP_CORPUS_ROW(name) extern const qp_corpus_row qp_row_##name;
QP_OPERATORS(QP_CORPUS_ROW)
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
