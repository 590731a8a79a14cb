# SPDX-License-Identifier: Apache-2.0
# The tests that run whole programs: scripts, other machines, the checker, an installed copy.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

function(qp_check name)
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS check TIMEOUT 1200)
endfunction()

set(quipu $<TARGET_FILE:quipu_cli>)

qp_check(capabilities ${Python3_EXECUTABLE} scripts/capabilities.py --check)
qp_check(lint ${Python3_EXECUTABLE} scripts/lint.py)
qp_check(manual mandoc -T lint -W warning docs/quipu.1)
qp_check(general_regs sh scripts/general_regs.sh gcc aarch64-linux-gnu-gcc)
qp_check(installed_copy sh scripts/install_check.sh ${PROJECT_BINARY_DIR}
         ${PROJECT_BINARY_DIR}/installed)

# the vectors by this build, by the generator again, and by the independent checker
qp_check(conform ${quipu} conform conformance)
qp_check(vectors_fresh sh scripts/vectors_fresh.sh ${quipu} ${PROJECT_BINARY_DIR}/vectors)
qp_check(checker ${Python3_EXECUTABLE} check/check.py conformance)
qp_check(checker_self_test ${Python3_EXECUTABLE} check/check.py --self-test)
qp_check(fabric_checker ${Python3_EXECUTABLE} check/fabric_check.py ${quipu} --cases 200)

foreach(machine aarch64 armhf riscv64 s390x wasm32 host)
  qp_check(machine_${machine} sh scripts/cross.sh ${machine} ${PROJECT_BINARY_DIR}/cross/${machine}
           ${quipu})
endforeach()

# uninitialised reads: the vectors and a decode of a real network's certificate under valgrind
qp_check(valgrind_conform valgrind --quiet --error-exitcode=9 --leak-check=full
         ${quipu} conform conformance)
qp_check(valgrind_certify valgrind --quiet --error-exitcode=9 --leak-check=full
         ${quipu} certify --digest models/superres-x3.whg1)

# the benchmarks must run; their figures are nobody's test
if(QP_BUILD_BENCH)
  qp_check(bench_runs $<TARGET_FILE:quipu_bench> --json models/superres-x3.whg1)
endif()
