# SPDX-License-Identifier: Apache-2.0
# colibri_add_plugin(NAME MANIFEST file.json SOURCES file... [FLAGS flag...] [LINK target...])
#
# Builds the plugin NAME as colibri_NAME.so: one exported symbol, the manifest in an ELF note. FLAGS are compiler flags of
# the instruction set (-mavx2 ...). The manifest says id, version, interfaces, rank, numerics and options.
function(colibri_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MANIFEST" "SOURCES;FLAGS;LINK")
  option(COLIBRI_PLUGIN_${name} "Build the plugin ${name}" ON)
  if(NOT COLIBRI_PLUGIN_${name})
    return()
  endif()
  add_library(${name} MODULE ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES PREFIX "colibri_" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/colibri/plugins)
  target_compile_options(${name} PRIVATE ${arg_FLAGS})
  target_link_libraries(${name} PRIVATE colibri_flags ${arg_LINK})
endfunction()
