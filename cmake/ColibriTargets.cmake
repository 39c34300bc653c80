# SPDX-License-Identifier: Apache-2.0
# How rooms of the house and tests become targets.

# What every target of this project is compiled with. Numerics: no contraction and no fast-math anywhere
# (docs/numerics.md), so that a result is the same bytes on every machine.
add_library(colibri_flags INTERFACE)
set(flags -Wall -Wextra -Werror -Wshadow -Wconversion -Wno-sign-conversion -ffp-contract=off)
target_compile_options(colibri_flags INTERFACE "$<$<COMPILE_LANGUAGE:C,CXX>:${flags}>"
                       $<$<CXX_COMPILER_ID:GNU>:$<$<COMPILE_LANGUAGE:C,CXX>:-Wno-restrict>>) # sees overlaps that are none: GCC bug 105651
target_include_directories(colibri_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/runtime/include)

# colibri_add_test(NAME SOURCES file... [LINK target...]): a GoogleTest program, run by ctest from the source folder.
function(colibri_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE colibri_flags ${arg_LINK} GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endfunction()

# colibri_add_room(NAME [DEPENDS room...] [LINK target...]): runtime/NAME as the static library colibri_NAME, made of the
# .cc files of the folder, and its *_test.cc files as the test colibri_NAME_test.
function(colibri_add_room room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS;LINK")
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(TRANSFORM arg_DEPENDS PREPEND colibri_)
  add_library(colibri_${room} STATIC ${sources})
  target_link_libraries(colibri_${room} PUBLIC ${arg_DEPENDS} PRIVATE colibri_flags PUBLIC ${arg_LINK})
  target_include_directories(colibri_${room} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/runtime/include)
  if(COLIBRI_BUILD_TESTS AND tests)
    colibri_add_test(colibri_${room}_test SOURCES ${tests} LINK colibri_${room})
  endif()
endfunction()
