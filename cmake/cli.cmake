# SPDX-License-Identifier: Apache-2.0
# The quipu command: one file a verb.
find_package(PNG QUIET)

set(QP_CLI
    assemble.c certify.c certify_html.c cli.c compare.c compare_elements.c compare_print.c
    compare_weights.c compare_weights_html.c conform.c conform_index.c conform_index_case.c
    conform_index_file.c conform_index_mutation.c conform_set.c convert.c convert_pipe.c
    convert_plan.c cpu_option.c decode.c describe.c describe_verdict.c dump.c encode.c extract.c
    fabric.c fabric_check.c fabric_configure.c fabric_map.c fabric_parts.c fabric_relation.c
    fabric_show.c fabric_simulate.c fabric_supports.c fabric_templates.c fabric_trace.c formats.c
    frames.c graph_layout.c graph_picture.c hash.c histogram.c html.c info.c info_coded.c
    info_fabric.c info_graph.c info_metadata.c info_parameters.c info_weights.c interrupt.c
    lower.c lower_linear.c main.c media_file.c npy.c open_set.c output.c pack.c picture.c run.c
    run_options.c run_report.c set.c set_artifact.c set_files.c tensor.c tensors.c text_table.c
    threads_option.c trace.c trace_read.c unit_heights.c unit_layout.c unit_picture.c
    unit_tracks.c upscale.c vectors.c verify.c verify_file.c wav.c weights.c y4m.c)
list(TRANSFORM QP_CLI PREPEND src/cli/)
include(cmake/models.cmake)
add_executable(quipu_cli ${QP_CLI} ${QP_MODELS_C})
set_target_properties(quipu_cli PROPERTIES OUTPUT_NAME quipu)
target_include_directories(quipu_cli PRIVATE src)
target_link_libraries(quipu_cli PRIVATE quipu_corpus quipu_fabric quipu_static qp_flags)
if(UNIX)
  target_link_libraries(quipu_cli PRIVATE m) # decibels
endif()
if(PNG_FOUND)
  target_compile_definitions(quipu_cli PRIVATE QP_HAVE_PNG)
  target_link_libraries(quipu_cli PRIVATE PNG::PNG)
endif()
if(QUIPU_MPI)
  find_package(MPI REQUIRED COMPONENTS C)
  target_sources(quipu_cli PRIVATE src/cli/convert_mpi.c)
  target_compile_definitions(quipu_cli PRIVATE QP_HAVE_MPI)
  target_link_libraries(quipu_cli PRIVATE MPI::MPI_C)
endif()
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "wasm32") # whose usual stack of 64 KiB grows into the data
  target_link_options(quipu_cli PRIVATE -Wl,-z,stack-size=1048576)
endif()
install(TARGETS quipu_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
