# SPDX-License-Identifier: Apache-2.0
# colibri_add_plugin(NAME MANIFEST file.json SOURCES file... [FLAGS flag...] [LINK target...] [CUDA architecture...]
#                    [FOLDER folder])
#
# Builds the plugin NAME as colibri_NAME.so: one exported symbol, the manifest in an ELF note that is read without loading
# the file. FLAGS are compiler flags of the instruction set (-mavx2 ...). The manifest says id, version, interfaces, rank,
# numerics and options (docs/abi.md); this function adds the ABI version, the machine type, and the CPU features that the
# flags let the compiler use. A manifest that lists "requires": {"cpu": [...]} itself must list all of those, or the build
# fails. The plugin goes to <build>/lib/colibri/plugins and is installed in lib/colibri/plugins; with FOLDER it goes there
# and is not installed. CUDA lists the architectures (75 80 ...) that its .cu files are compiled for; the manifest names them.
include(CheckCXXCompilerFlag)
include(CheckLinkerFlag)

if(NOT COLIBRI_INCLUDE_DIR) # the source tree; the installed package sets it
  get_filename_component(COLIBRI_INCLUDE_DIR ${CMAKE_CURRENT_LIST_DIR}/../runtime/include ABSOLUTE)
endif()
if(NOT TARGET Colibri::headers)
  add_library(Colibri::headers INTERFACE IMPORTED GLOBAL)
  target_include_directories(Colibri::headers INTERFACE ${COLIBRI_INCLUDE_DIR})
endif()
set(COLIBRI_CMAKE_DIR ${CMAKE_CURRENT_LIST_DIR})

# What the compiler may use beyond the architecture's baseline: its predefined macro, the kernel's name of the feature.
set(COLIBRI_FEATURE_MACROS
  __SSE3__=pni __SSSE3__=ssse3 __SSE4_1__=sse4_1 __SSE4_2__=sse4_2 __POPCNT__=popcnt __MOVBE__=movbe __LZCNT__=abm
  __PCLMUL__=pclmulqdq __AES__=aes __SHA__=sha_ni __AVX__=avx __F16C__=f16c __FMA__=fma __BMI__=bmi1 __BMI2__=bmi2
  __AVX2__=avx2 __AVXVNNI__=avx_vnni __GFNI__=gfni __VAES__=vaes __VPCLMULQDQ__=vpclmulqdq __FMA4__=fma4 __XOP__=xop
  __SSE4A__=sse4a __AVX512F__=avx512f __AVX512BW__=avx512bw __AVX512CD__=avx512cd __AVX512DQ__=avx512dq
  __AVX512VL__=avx512vl __AVX512IFMA__=avx512ifma __AVX512VBMI__=avx512vbmi __AVX512VBMI2__=avx512_vbmi2
  __AVX512VNNI__=avx512_vnni __AVX512BITALG__=avx512_bitalg __AVX512VPOPCNTDQ__=avx512_vpopcntdq
  __AVX512BF16__=avx512_bf16 __AVX512FP16__=avx512_fp16 __AMX_TILE__=amx_tile
  __ARM_FEATURE_CRC32=crc32 __ARM_FEATURE_ATOMICS=atomics __ARM_FEATURE_QRDMX=asimdrdm __ARM_FEATURE_DOTPROD=asimddp
  __ARM_FEATURE_FP16_VECTOR_ARITHMETIC=asimdhp __ARM_FEATURE_FP16_FML=asimdfhm __ARM_FEATURE_AES=aes
  __ARM_FEATURE_SHA2=sha2 __ARM_FEATURE_SHA3=sha3 __ARM_FEATURE_COMPLEX=fcma __ARM_FEATURE_JCVT=jscvt
  __ARM_FEATURE_SVE=sve __ARM_FEATURE_SVE2=sve2 __ARM_FEATURE_MATMUL_INT8=i8mm
  __ARM_FEATURE_BF16_VECTOR_ARITHMETIC=bf16)

# The levels that the x86 loader knows. A plugin marked with one is refused by it, too, if the manifest was wrong; so such a
# plugin requires the whole level.
set(COLIBRI_X86_64_V3 abm avx avx2 bmi1 bmi2 f16c fma movbe)
set(COLIBRI_X86_64_V4 ${COLIBRI_X86_64_V3} avx512f avx512bw avx512cd avx512dq avx512vl)

# Sets <macros> to the text of the compiler's predefined macros under the flags of this folder and `flags`.
function(colibri_predefined_macros macros flags)
  separate_arguments(global UNIX_COMMAND "${CMAKE_CXX_FLAGS}")
  get_directory_property(folder COMPILE_OPTIONS)
  list(FILTER folder EXCLUDE REGEX "\\$<")
  set(target)
  if(CMAKE_CXX_COMPILER_TARGET)
    set(target --target=${CMAKE_CXX_COMPILER_TARGET})
  endif()
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} ${target} ${global} ${folder} ${flags} -dM -E -x c++ /dev/null
                  OUTPUT_VARIABLE text ERROR_VARIABLE problem RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "the compiler refuses the flags '${flags}': ${problem}")
  endif()
  set(${macros} "${text}" PARENT_SCOPE)
endfunction()

# Writes the source of the manifest's note to `file`, and sets <features> to the CPU features that the plugin needs.
function(colibri_write_manifest name manifest flags cuda file features)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${manifest})
  file(READ ${manifest} body)
  foreach(key id version interfaces)
    string(JSON value ERROR_VARIABLE problem GET "${body}" ${key})
    if(problem)
      message(FATAL_ERROR "${manifest}: ${key}: ${problem}")
    endif()
  endforeach()
  string(JSON value ERROR_VARIABLE problem GET "${body}" abi)
  if(NOT problem)
    message(FATAL_ERROR "${manifest}: abi: is added by colibri_add_plugin, leave it out")
  endif()

  colibri_predefined_macros(macros "${flags}")
  set(needed)
  set(checks)
  foreach(pair ${COLIBRI_FEATURE_MACROS})
    string(REGEX MATCH "^(.*)=(.*)$" pair ${pair})
    set(feature ${CMAKE_MATCH_2}) # the next match forgets it
    if(macros MATCHES "#define ${CMAKE_MATCH_1} ")
      list(APPEND needed ${feature})
    endif()
  endforeach()
  if("avx512f" IN_LIST needed)
    list(APPEND needed ${COLIBRI_X86_64_V4})
  elseif("avx2" IN_LIST needed)
    list(APPEND needed ${COLIBRI_X86_64_V3})
  endif()
  list(REMOVE_DUPLICATES needed)

  string(JSON own ERROR_VARIABLE no_own GET "${body}" requires)
  if(NOT no_own)
    string(JSON own ERROR_VARIABLE problem GET "${own}" cpu)
    if(problem)
      message(FATAL_ERROR "${manifest}: requires.cpu: ${problem}")
    endif()
    string(REGEX REPLACE "[^a-z0-9_]+" ";" listed "${own}")
    list(REMOVE_ITEM listed "")
    set(unlisted ${needed})
    list(REMOVE_ITEM unlisted ${listed})
    if(unlisted)
      message(FATAL_ERROR "${manifest}: requires.cpu lacks ${unlisted}, which the flags '${flags}' let the compiler use")
    endif()
    set(needed ${listed})
    string(JSON body REMOVE "${body}" requires)
  endif()

  # Flags that this function cannot see (of a linked target, of a source) are caught by the compiler.
  foreach(pair ${COLIBRI_FEATURE_MACROS})
    string(REGEX MATCH "^(.*)=(.*)$" pair ${pair})
    if(NOT CMAKE_MATCH_2 IN_LIST needed)
      string(APPEND checks "#ifdef ${CMAKE_MATCH_1}\n#error \"${name}: the manifest's requires.cpu lacks ${CMAKE_MATCH_2}, "
                           "which the compiler flags enable\"\n#endif\n")
    endif()
  endforeach()

  set(architecture)
  foreach(candidate x86_64 aarch64)
    if(macros MATCHES "#define __${candidate}__ ")
      set(architecture ${candidate})
    endif()
  endforeach()
  if(NOT architecture)
    message(FATAL_ERROR "${name}: Colibri plugins are built for x86_64 and aarch64")
  endif()
  foreach(part MAJOR MINOR)
    file(STRINGS ${COLIBRI_INCLUDE_DIR}/colibri/plugin.h line REGEX "^#define COLIBRI_ABI_${part} ")
    string(REGEX MATCH "[0-9]+$" abi_${part} "${line}")
  endforeach()

  list(JOIN needed "\",\"" cpu)
  if(needed)
    set(cpu "\"${cpu}\"")
  endif()
  set(cuda_member)
  if(cuda)
    list(JOIN cuda "," cuda_member)
    set(cuda_member ",\"cuda\":[${cuda_member}]")
  endif()
  string(REGEX REPLACE "\n *" "" body "${body}")
  string(REGEX REPLACE "^ *{" "" body "${body}")
  set(manifest_json
      "{\"abi\":\"${abi_MAJOR}.${abi_MINOR}\",\"requires\":{\"arch\":\"${architecture}\",\"cpu\":[${cpu}]${cuda_member}},${body}")
  configure_file(${COLIBRI_CMAKE_DIR}/manifest_note.cc.in ${file} @ONLY)
  set(${features} ${needed} PARENT_SCOPE)
endfunction()

function(colibri_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MANIFEST;FOLDER" "SOURCES;FLAGS;LINK;CUDA")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_MANIFEST OR NOT arg_SOURCES)
    message(FATAL_ERROR "colibri_add_plugin(${name}): needs MANIFEST and SOURCES, and does not know '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT CMAKE_CXX_COMPILER)
    message(FATAL_ERROR "colibri_add_plugin(${name}): enable CXX in project(): the manifest's note is C++")
  endif()
  if(NOT arg_FOLDER)
    option(COLIBRI_PLUGIN_${name} "Build the plugin ${name}" ON)
    if(NOT COLIBRI_PLUGIN_${name})
      return()
    endif()
  endif()
  get_filename_component(manifest ${arg_MANIFEST} ABSOLUTE)
  set(note ${CMAKE_CURRENT_BINARY_DIR}/${name}_manifest.cc)
  colibri_write_manifest(${name} ${manifest} "${arg_FLAGS}" "${arg_CUDA}" ${note} features)

  add_library(${name} MODULE ${arg_SOURCES} ${note})
  set_target_properties(${name} PROPERTIES PREFIX colibri_ CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden
                        VISIBILITY_INLINES_HIDDEN ON LINK_DEPENDS ${COLIBRI_CMAKE_DIR}/plugin.version)
  target_compile_options(${name} PRIVATE ${arg_FLAGS})
  if(arg_CUDA)
    list(TRANSFORM arg_CUDA APPEND -real)
    set_target_properties(${name} PROPERTIES CUDA_ARCHITECTURES "${arg_CUDA}" CUDA_RUNTIME_LIBRARY Static)
  endif()
  target_link_libraries(${name} PRIVATE Colibri::headers ${arg_LINK})
  if(TARGET colibri_flags) # the source tree's own warnings and floating-point rules
    target_link_libraries(${name} PRIVATE colibri_flags)
  endif()

  # One symbol out, none left open, none shared with the host or another plugin.
  target_link_options(${name} PRIVATE -Wl,--version-script=${COLIBRI_CMAKE_DIR}/plugin.version -Wl,--exclude-libs,ALL)
  check_cxx_compiler_flag(-fno-gnu-unique COLIBRI_HAS_NO_GNU_UNIQUE)
  if(COLIBRI_HAS_NO_GNU_UNIQUE)
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-gnu-unique>)
  endif()
  if(NOT "${CMAKE_CXX_FLAGS} ${CMAKE_MODULE_LINKER_FLAGS}" MATCHES "-fsanitize") # their runtime lives in the host
    # The plugin brings its C++ library. Not libgcc: an exception that escapes from a plugin with an unwinder of its own ends
    # the process, where the host would else catch it.
    target_link_options(${name} PRIVATE -Wl,-z,defs -static-libstdc++)
  endif()
  foreach(level v4=avx512f v3=avx2)
    string(REGEX MATCH "^(.*)=(.*)$" level ${level})
    if(CMAKE_MATCH_2 IN_LIST features)
      set(property -Wl,-z,x86-64-${CMAKE_MATCH_1})
      check_linker_flag(CXX ${property} COLIBRI_HAS_Z_X86_64_${CMAKE_MATCH_1})
      if(COLIBRI_HAS_Z_X86_64_${CMAKE_MATCH_1})
        target_link_options(${name} PRIVATE ${property})
      endif()
      break()
    endif()
  endforeach()

  if(arg_FOLDER)
    set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${arg_FOLDER})
  else()
    set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/colibri/plugins)
    install(TARGETS ${name} LIBRARY DESTINATION lib/colibri/plugins)
  endif()
endfunction()
