# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where, and the CMake package of it: find_package(Colibri) gives colibri_add_plugin(), the
# headers as Colibri::headers and the library as Colibri::colibri. Included last, when all targets exist.
include(CMakePackageConfigHelpers)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/include/colibri DESTINATION include FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_SOURCE_DIR}/cmake/ColibriPlugin.cmake ${PROJECT_SOURCE_DIR}/cmake/plugin.version
              ${PROJECT_SOURCE_DIR}/cmake/manifest_note.cc.in DESTINATION lib/cmake/Colibri)
install(TARGETS colibri_cli RUNTIME DESTINATION bin)
if(TARGET colibri)
  install(TARGETS colibri EXPORT ColibriLibrary LIBRARY DESTINATION lib INCLUDES DESTINATION include)
  install(EXPORT ColibriLibrary NAMESPACE Colibri:: DESTINATION lib/cmake/Colibri)
endif()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/ColibriConfig.cmake.in ${CMAKE_BINARY_DIR}/ColibriConfig.cmake
                              INSTALL_DESTINATION lib/cmake/Colibri)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/ColibriConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/ColibriConfig.cmake ${CMAKE_BINARY_DIR}/ColibriConfigVersion.cmake
        DESTINATION lib/cmake/Colibri)
