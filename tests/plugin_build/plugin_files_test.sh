#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# plugin_files_test.sh FOLDER: every plugin exports colibri_plugin_v1 alone and has a manifest; kernel plugins have no
# initialisers, which would run before anything could be decided.
set -euo pipefail
failed=0 seen=0
complain() { echo "FAILED: $1"; failed=1; }
for file in "$1"/*.so; do
  name=$(basename "$file") seen=$((seen + 1))
  symbols=$(readelf --dyn-syms -W "$file" | awk '$7 != "UND" && $5 != "LOCAL" && $8 != "" && NR > 3 {print $8}')
  [ "$symbols" = colibri_plugin_v1 ] || complain "$name exports: $symbols"
  readelf --dyn-syms -W "$file" | grep -q UNIQUE && complain "$name has symbols that forbid unloading for ever"
  readelf -lW "$file" | grep -q '\.note\.colibri' || complain "$name has no manifest in a segment"
  case $name in
  colibri_cpu_*)
    # One entry is the compiler's own.
    size=$(readelf -SW "$file" | sed -n 's/.*\.init_array *INIT_ARRAY *[0-9a-f]* [0-9a-f]* \([0-9a-f]*\).*/\1/p')
    [ $((16#${size:-0})) -le 8 ] || complain "$name has initialisers"
    ;;
  esac
done
[ "$seen" -gt 0 ] || complain "no plugins in $1"
[ "$failed" = 0 ] && echo "$seen plugins are as they must be"
exit "$failed"
