// SPDX-License-Identifier: Apache-2.0
// Documents of strangers, read as pipelines and as architectures. `extends` is left out: it reads
// files.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "runtime/config/architecture.h"
#include "runtime/config/overlay.h"
#include "runtime/config/pipeline.h"
#include "runtime/config/pipeline_schema.h"
#include "runtime/config/print.h"
#include "runtime/config/schema.h"
#include "runtime/config/value.h"

namespace {

using namespace colibri::config;

void read_pipeline(Value document) {
  Problems problems;
  interpolate(document, "", problems);
  check_kind(kPipelineTable, document, problems);
  const Value whole = complete(kPipelineTable, std::move(document), "", problems);
  Pipeline pipeline;
  read(kPipelineTable, whole, "", &pipeline, problems);
  static_cast<void>(problems.status());
  static_cast<void>(print_with_origins(whole));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Problems problems;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto document = parse_yaml(text, "fuzz", problems)) {
    read_pipeline(*document);
    read_architecture(*document, problems);
  }
  static_cast<void>(problems.status());
  return 0;
}
