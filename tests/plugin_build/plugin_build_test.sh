#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# plugin_build_test.sh CMAKE SOURCE COMPILER GENERATOR: plugins whose manifest and flags disagree do not build.
set -euo pipefail
cmake=$1 source=$2 compiler=$3 generator=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "FAILED: $1"; cat "$work/log"; exit 1; }

# project MANIFEST_REST FLAGS EXTRA: a project with one plugin; EXTRA is CMake code behind it.
project() {
  rm -rf "$work/p"; mkdir "$work/p"
  echo "{\"id\": \"p\", \"version\": \"1.0.0\", \"interfaces\": [\"colibri.sampler/1\"]$1}" >"$work/p/p.json"
  echo 'extern "C" const void* colibri_plugin_v1() { return nullptr; }' >"$work/p/p.cc"
  cat >"$work/p/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(p CXX)
include("$source/cmake/ColibriPlugin.cmake")
colibri_add_plugin(p MANIFEST p.json SOURCES p.cc FLAGS $2)
$3
END
}
configure() { "$cmake" -S "$work/p" -B "$work/p/build" -G "$generator" "-DCMAKE_CXX_COMPILER=$compiler" >"$work/log" 2>&1; }
build() { configure && "$cmake" --build "$work/p/build" >"$work/log" 2>&1; }
says() { tr -s ' \n' ' ' <"$work/log" | grep -qF -- "$1" || fail "the log does not say: $1"; }
note() { readelf -p .note.colibri "$work"/p/build/lib/colibri/plugins/colibri_p.so; }

project '' '-mavx2 -mfma' ''
build || fail "a plugin with flags"
note >"$work/log"
for feature in avx2 fma bmi2 movbe; do says "\"$feature\""; done # AVX2 and FMA, and the rest of the loader's level
grep -q avx512 "$work/log" && fail "the manifest names what the flags do not enable"
readelf -nW "$work"/p/build/lib/colibri/plugins/colibri_p.so >"$work/log"
says 'x86 ISA needed: x86-64-v3'

project ', "requires": {"cpu": ["avx2"]}' '-mavx2 -mfma' ''
configure && fail "requires.cpu without fma was taken"
says "requires.cpu lacks"
says "which the flags '-mavx2;-mfma' let the compiler use"

project '' '' 'target_compile_options(p PRIVATE -mavx2)'
build && fail "flags that colibri_add_plugin does not see were taken"
says "p: the manifest's requires.cpu lacks avx2, which the compiler flags enable"

project ', "abi": "1.0"' '' ''
configure && fail "an author's abi was taken"
says "abi: is added by colibri_add_plugin, leave it out"

project ", \"options\": [{\"name\": \"o\", \"type\": \"int\", \"doc\": \"$(printf 'x%.0s' {1..4100})\"}]" '' ''
build && fail "a manifest that is too long was taken"
says "p: the manifest is longer than 4096 bytes"
echo "all plugins that must not build do not"
