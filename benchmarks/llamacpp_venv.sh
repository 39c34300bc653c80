# SPDX-License-Identifier: Apache-2.0
# Sourced from the root of the repository: makes $python, which has llama.cpp, in $folder. Needs the network and a compiler
# the first time: llama.cpp is built here, for this processor.
folder=${COLIBRI_COMPARE_FOLDER:-build/compare_llamacpp}
python=$folder/venv/bin/python

if ! cmp -s benchmarks/requirements.txt "$folder/venv/installed.txt"; then
  rm -rf "$folder/venv"
  python3 -m venv "$folder/venv"
  # Not a wheel that someone else built: it would leave out instructions that this processor has.
  CMAKE_ARGS="-DGGML_NATIVE=ON -DCMAKE_BUILD_TYPE=Release" "$folder/venv/bin/pip" install --no-cache-dir \
    --no-binary llama-cpp-python --requirement benchmarks/requirements.txt
  cp benchmarks/requirements.txt "$folder/venv/installed.txt"
fi
