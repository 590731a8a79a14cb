# SPDX-License-Identifier: Apache-2.0
# The quipu command: one file a verb.
find_package(PNG QUIET)

add_executable(quipu_cli
  src/cli/certify_html.c src/cli/describe.c src/cli/describe_verdict.c src/cli/graph_layout.c
  src/cli/graph_picture.c src/cli/html.c src/cli/info_graph.c src/cli/text_table.c
  src/cli/assemble.c src/cli/certify.c src/cli/cli.c src/cli/compare.c
  src/cli/compare_elements.c src/cli/compare_print.c src/cli/conform.c
  src/cli/dump.c src/cli/info.c src/cli/main.c src/cli/npy.c src/cli/output.c src/cli/picture.c
  src/cli/run.c src/cli/run_options.c src/cli/run_report.c src/cli/tensors.c src/cli/trace.c
  src/cli/trace_read.c)
set_target_properties(quipu_cli PROPERTIES OUTPUT_NAME quipu)
target_include_directories(quipu_cli PRIVATE src)
target_link_libraries(quipu_cli PRIVATE quipu_static qp_flags)
if(PNG_FOUND)
  target_compile_definitions(quipu_cli PRIVATE QP_HAVE_PNG)
  target_link_libraries(quipu_cli PRIVATE PNG::PNG)
endif()
install(TARGETS quipu_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
