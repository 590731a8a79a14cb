# SPDX-License-Identifier: Apache-2.0
# Libraries, headers, the pkg-config file, the CMake package, the manual page and completion.
include(CMakePackageConfigHelpers)

install(TARGETS ${QP_LIBRARIES} ${QP_FABRIC_LIBRARIES} EXPORT quipuTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/quipu DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")

set(QP_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/quipu)
install(EXPORT quipuTargets NAMESPACE quipu:: DESTINATION ${QP_PACKAGE_DIR})
configure_package_config_file(cmake/quipuConfig.cmake.in ${PROJECT_BINARY_DIR}/quipuConfig.cmake
                              INSTALL_DESTINATION ${QP_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/quipuConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/quipuConfig.cmake ${PROJECT_BINARY_DIR}/quipuConfigVersion.cmake
        DESTINATION ${QP_PACKAGE_DIR})

# relative to the file itself, so that it holds wherever the prefix ends up
file(RELATIVE_PATH QP_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" QP_PC_PREFIX "${QP_PC_PREFIX}")
configure_file(cmake/quipu.pc.in ${PROJECT_BINARY_DIR}/quipu.pc @ONLY)
if(QP_HAVE_MPFR)
  set(QP_FABRIC_PRIVATE "-lmpfr -lgmp")
endif()
configure_file(cmake/quipu-fabric.pc.in ${PROJECT_BINARY_DIR}/quipu-fabric.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/quipu.pc ${PROJECT_BINARY_DIR}/quipu-fabric.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(QP_BUILD_CLI)
  install(FILES docs/quipu.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES completion/quipu.bash RENAME quipu
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES completion/_quipu DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()
