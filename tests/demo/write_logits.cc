// SPDX-License-Identifier: Apache-2.0
// The logits of whole sequences, for scripts that compare them (codec_quality.py and
// gguf_error_ratio.py in tools/goldens).
//
//   colibri_write_logits MODEL IDS OUTPUT [KEY=VALUE ...]
//
// IDS: a text file, the ids of a sequence on each line. OUTPUT: f32 [ids of all lines, vocabulary].
// KEY=VALUE: as --set of `colibri run`. Run from the top of the source tree.
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/engine/loaded_model.h"

namespace colibri::test {
namespace {

std::vector<std::vector<int32_t>> read_sequences(const char* path) {
  std::vector<std::vector<int32_t>> sequences;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream numbers(line);
    sequences.emplace_back();
    for (int32_t id; numbers >> id;) sequences.back().push_back(id);
  }
  return sequences;
}

Status write_logits(const char* model_path, const char* ids_path, const char* output_path,
                    const std::vector<std::string>& overrides) {
  COLIBRI_ASSIGN(const auto model, load_model(model_path, overrides));
  std::ofstream output(output_path, std::ios::binary);
  std::vector<float> logits;
  for (const std::vector<int32_t>& ids : read_sequences(ids_path)) {
    COLIBRI_ASSIGN(const auto context, model->create_context(static_cast<int64_t>(ids.size())));
    logits.resize(ids.size() * static_cast<size_t>(model->spec().vocabulary));
    COLIBRI_TRY(context->forward(ids, engine::LogitsOf::kAll, logits.data()));
    output.write(reinterpret_cast<const char*>(logits.data()),
                 static_cast<std::streamsize>(logits.size() * sizeof(float)));
  }
  if (!output.flush()) return internal_error(std::string(output_path) + ": cannot be written");
  return {};
}

}  // namespace
}  // namespace colibri::test

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: colibri_write_logits MODEL IDS OUTPUT [KEY=VALUE ...]\n");
    return 2;
  }
  const colibri::Status status =
      colibri::test::write_logits(argv[1], argv[2], argv[3], {argv + 4, argv + argc});
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.text().c_str());
  return status.ok() ? 0 : 1;
}
