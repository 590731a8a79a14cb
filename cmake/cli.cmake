# SPDX-License-Identifier: Apache-2.0
# The quipu command: one file a verb.
find_package(PNG QUIET)

set(QP_CLI
    assemble.c certify.c certify_html.c cli.c compare.c compare_elements.c compare_print.c
    conform.c describe.c describe_verdict.c dump.c graph_layout.c graph_picture.c html.c info.c
    info_graph.c main.c npy.c output.c picture.c run.c run_options.c run_report.c
    tensors.c text_table.c trace.c trace_read.c vectors.c)
list(TRANSFORM QP_CLI PREPEND src/cli/)
add_executable(quipu_cli ${QP_CLI})
set_target_properties(quipu_cli PROPERTIES OUTPUT_NAME quipu)
target_include_directories(quipu_cli PRIVATE src)
target_link_libraries(quipu_cli PRIVATE quipu_corpus quipu_static qp_flags)
if(PNG_FOUND)
  target_compile_definitions(quipu_cli PRIVATE QP_HAVE_PNG)
  target_link_libraries(quipu_cli PRIVATE PNG::PNG)
endif()
install(TARGETS quipu_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
