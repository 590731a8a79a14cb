# SPDX-License-Identifier: Apache-2.0
# The corpus of conformance vectors: for the command and the tests, not a part of the library.
set(QP_CORPUS
    certificates.c contraction.c conv.c conv_transpose.c elementwise.c graphs_chain.c
    graphs_load.c graphs_lowered.c graphs_phase.c graphs_run.c graphs_state.c igdn.c
    layernorm_c.c lut16.c movement.c parts.c requantisation.c row_normalisation.c
    scalar_function.c scalar_operand.c stage_mans.c stage_rans64.c stage_rans64_steps.c
    stage_samples.c stage_values.c)
list(TRANSFORM QP_CORPUS PREPEND corpus/)
list(APPEND QP_CORPUS case.c common.c evaluate.c sets.c sets_jpegai.c sets_write.c
                      stage_vectors.c vectors.c)
list(TRANSFORM QP_CORPUS PREPEND src/conform/)
add_library(quipu_corpus STATIC ${QP_CORPUS})
target_include_directories(quipu_corpus PRIVATE src)
target_link_libraries(quipu_corpus PUBLIC quipu_static PRIVATE qp_flags)
