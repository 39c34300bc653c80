// SPDX-License-Identifier: Apache-2.0
// model.safetensors.index.json of strangers, over two shards that are sound: tensors "a" and "b".
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "plugins/formats/safetensors/format.h"
#include "tests/bad_models/tiny_model.h"
#include "tests/fuzz/memory_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace colibri;
  static const auto shard = [](const char* name) {
    const std::vector<testing::TinyTensor> tensors = {{name, {2}}};
    return testing::safetensors_file(testing::header_of(tensors), testing::data_of(tensors));
  };
  static const std::string a = shard("a"), b = shard("b");
  const std::string_view index(reinterpret_cast<const char*>(data), size);
  const fuzz::MemoryFiles files({{"1.safetensors", a},
                                 {"2.safetensors", b},
                                 {"config.json", "{}"},
                                 {"model.safetensors.index.json", index}});
  fuzz::describe(safetensors::kFormat, files.table());
  return 0;
}
