# SPDX-License-Identifier: Apache-2.0
# The fabric: a library of its own, so that its one dependency, MPFR, is nobody else's. Without MPFR
# the floating-point schemas that round are refused and everything else works.

set(QP_FABRIC admission.c carrier.c contract.c contract_instances.c correspondence.c cover.c
              definedness.c key.c params_check.c points.c public_capability.c relation.c routed.c)
list(APPEND QP_FABRIC codec.c family.c fault.c identity.c lexer.c model.c names.c params.c
              parse_attributes.c parse_fabric.c parse_graph.c parse_map.c parse_record.c parser.c
              print.c read.c schema.c schema_rules.c type.c vocabulary.c)
list(APPEND QP_FABRIC bits.c evaluate.c float.c float_bits.c float_mpfr.c golden.c integer.c
                      moving.c public_golden.c special_math.c streams.c tokens_json.c transition.c)
list(APPEND QP_FABRIC abi.c closure.c finder.c finder_room.c image.c inventory.c layout.c mapping.c
                      projection.c public_configuration.c public_mapping.c references.c report.c
                      seal.c search.c search_reason.c slots.c topology.c write_map.c)
list(APPEND QP_FABRIC channels.c pipeline.c public_simulate.c simulate.c simulate_contract.c
                      simulate_make.c simulate_queue.c simulate_reset.c simulate_trace.c
                      stall_seed.c vcd.c)
list(TRANSFORM QP_FABRIC PREPEND src/fabric/)

# by compiling and linking, so that a cross build does not take the host's
include(CheckCSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES mpfr gmp)
check_c_source_compiles("#include <mpfr.h>
int main(void) { mpfr_t x; mpfr_init2(x, 53); mpfr_clear(x); return 0; }" QP_HAVE_MPFR)
unset(CMAKE_REQUIRED_LIBRARIES)
if(NOT QP_HAVE_MPFR)
  message(STATUS "MPFR was not found: the fabric evaluates no rounded floating-point schemas")
endif()

function(qp_fabric_library name type)
  add_library(${name} ${type} ${QP_FABRIC} ${ARGN})
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
                                     PRIVATE src)
  target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:qp_flags>)
  if(QP_HAVE_MPFR)
    target_compile_definitions(${name} PRIVATE QP_HAVE_MPFR)
    target_link_libraries(${name} PRIVATE mpfr gmp)
  endif()
endfunction()

qp_fabric_library(quipu_fabric STATIC)
target_link_libraries(quipu_fabric PUBLIC quipu_static)
set_target_properties(quipu_fabric PROPERTIES EXPORT_NAME fabric_static)
set(QP_FABRIC_LIBRARIES quipu_fabric)
if(QP_BUILD_SHARED)
  # The foundation's own functions are hidden in the shared quipu, so this one has them inside too.
  list(TRANSFORM QP_BASE PREPEND src/base/ OUTPUT_VARIABLE QP_FABRIC_BASE)
  list(TRANSFORM QP_NUMBER PREPEND src/number/ OUTPUT_VARIABLE QP_FABRIC_NUMBER)
  qp_fabric_library(quipu_fabric_shared SHARED ${QP_FABRIC_BASE} ${QP_FABRIC_NUMBER})
  set_target_properties(quipu_fabric_shared PROPERTIES
                        OUTPUT_NAME quipu_fabric EXPORT_NAME fabric_shared
                        VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  target_compile_definitions(quipu_fabric_shared PUBLIC QP_SHARED PRIVATE QP_BUILDING)
  list(APPEND QP_FABRIC_LIBRARIES quipu_fabric_shared)
endif()
