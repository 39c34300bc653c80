#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gpu_check.sh [RESULTS]: what is to be seen on a machine with an NVIDIA GPU, in at most eight minutes and without network.
# Builds the plugin cuda for the GPU's architecture (or takes what build/gpu holds already), asks its kernels the
# conformance questions on the GPU, again under compute-sanitizer, compares models there with transformers and the CPU, and
# measures products at 1, 8, 64 and 512 rows against the copy rate and the tensor cores' int8 rate of the same run. Writes RESULTS/<date>.json (default: benchmarks/gpu); what is not there says so in it.
# Exit 1 when something failed, 2 when the check cannot be made here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
results=${1:-benchmarks/gpu}
build=build/gpu
deadline=$((SECONDS + 480))

fail() { echo "gpu_check.sh: $1" >&2; exit 2; }
left() { echo $((deadline - SECONDS > 10 ? deadline - SECONDS : 10)); } # seconds

command -v nvidia-smi >/dev/null || fail "no nvidia-smi: no NVIDIA driver on this machine"
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader -i 0) || fail "nvidia-smi sees no GPU"
architecture=${capability/./}

check=$build/tests/gpu/colibri_gpu_check models=$build/tests/gpu/models_on_gpu_test plugin=$build/lib/colibri/plugins/colibri_cuda.so
if [ ! -x "$check" ] || [ ! -x "$models" ] || [ ! -f "$plugin" ]; then
  cmake -G Ninja -B "$build" -DCMAKE_BUILD_TYPE=Release -DCOLIBRI_BUILD_TESTS=ON -DCOLIBRI_CUDA_ARCHITECTURES="$architecture" >&2
  timeout "$(left)" cmake --build "$build" --target cuda colibri_gpu_check models_on_gpu_test cpu_generic safetensors bpe arc >&2 || fail "the build failed or took too long"
fi
[ -f "$plugin" ] || fail "the build left out the plugin cuda; cmake says why"

status=0
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT

timeout "$(left)" "$check" --speed "$plugin" >"$temporary/check.json" || status=$?
[ "$status" != 77 ] || fail "the plugin cannot use this GPU"
[ -s "$temporary/check.json" ] || echo '{"passed": false}' >"$temporary/check.json"

model_tokens="those of transformers and of the CPU"
timeout "$(left)" "$models" >"$temporary/models" 2>&1 || {
  model_tokens=failed status=1
  tail -n 40 "$temporary/models" >&2
}

sanitizer=absent
tool=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
if [ -x "$tool" ]; then
  sanitizer=clean
  # Slow, so the quick questions; a limit that ends it is no finding.
  timeout "$(left)" "$tool" --tool memcheck --error-exitcode 9 "$check" --quick "$plugin" >"$temporary/memcheck" 2>&1 || {
    [ $? = 124 ] && sanitizer="ran out of time" || sanitizer=failed
  }
  [ "$sanitizer" != failed ] || { tail -n 40 "$temporary/memcheck" >&2; status=1; }
fi

mkdir -p "$results"
file=$results/$(date -u +%Y-%m-%d).json
{
  printf '{"date": "%s", "commit": "%s", "driver": "%s",\n' "$(date -u +%FT%TZ)" "$(git rev-parse HEAD 2>/dev/null || echo unknown)" \
    "$(nvidia-smi --query-gpu=driver_version --format=csv,noheader -i 0)"
  printf '"compute_sanitizer": "%s",\n' "$sanitizer"
  printf '"model_tokens": "%s",\n' "$model_tokens"
  printf '"tensor_cores": "quantised products of more than 8 rows",\n"check": '
  cat "$temporary/check.json"
  printf '}\n'
} >"$file"
cat "$file"
[ "$status" = 0 ]
