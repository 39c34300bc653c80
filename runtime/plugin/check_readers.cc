// SPDX-License-Identifier: Apache-2.0
// Formats and tokenizers: readers of hostile files.
#include "colibri/format.h"
#include "colibri/tokenizer.h"
#include "runtime/plugin/check_parts.h"

namespace colibri::plugin {
namespace {

// Contents that are nothing, or begin like something.
std::vector<std::string> junk() {
  std::vector<std::string> all = {"",
                                  "{",
                                  "{}",
                                  "[]",
                                  "null",
                                  "{\"model\":",
                                  "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":",
                                  std::string(1 << 16, '['),
                                  std::string(1 << 16, '\xff'),
                                  std::string(4096, '\0')};
  std::string all_bytes;
  for (int i = 0; i < 256; ++i) all_bytes += static_cast<char>(i);
  all.push_back(all_bytes);
  // A length of 2^63 - 1 in front of the header, as a safetensors or GGUF file might claim.
  all.push_back(std::string("\xff\xff\xff\xff\xff\xff\xff\x7f", 8) + "{}");
  all.push_back(std::string("GGUF\3\0\0\0", 8) + std::string(16, '\xff'));
  return all;
}

// An answer "no" needs a reason that ends within its 128 bytes.
Status expect_answer(const char* function, int32_t answer, const char (&why_not)[128]) {
  if (answer != 0 && answer != 1)
    return internal_error(std::string(function) + " gives neither 0 nor 1");
  if (strnlen(why_not, sizeof(why_not)) == sizeof(why_not)) {
    return internal_error(std::string(function) + " writes a reason that does not end");
  }
  if (answer == 0 && why_not[0] == '\0') {
    return internal_error(std::string(function) + " says no without a reason");
  }
  return {};
}

struct MadeUpFiles {
  explicit MadeUpFiles(std::vector<std::pair<std::string, std::string>> contents)
      : list(std::move(contents)) {
    table.struct_size = sizeof(table);
    table.count = static_cast<uint32_t>(list.size());
    table.host = this;
    table.name = [](const colibri_file* files, uint32_t i) { return to_c(of(files)[i].first); };
    table.size = [](const colibri_file* files, uint32_t i) -> uint64_t {
      return of(files)[i].second.size();
    };
    table.read = [](const colibri_file* files, uint32_t i, uint64_t offset, void* to, uint64_t n,
                    colibri_error* error) {
      if (i >= files->count) return colibri::to_c(io_error("no such file"), error);
      const std::string& bytes = of(files)[i].second;
      if (offset > bytes.size() || n > bytes.size() - offset) {
        return colibri::to_c(io_error("a read outside the file"), error);
      }
      std::memcpy(to, bytes.data() + offset, n);
      return static_cast<colibri_status>(COLIBRI_OK);
    };
  }
  static const std::vector<std::pair<std::string, std::string>>& of(const colibri_file* files) {
    return static_cast<const MadeUpFiles*>(files->host)->list;
  }

  std::vector<std::pair<std::string, std::string>> list;
  colibri_file table = {};
};

Status check_format_files(const colibri_format_1& table, const MadeUpFiles& files) {
  char why_not[128] = {};
  const int32_t answer = table.accepts(&files.table, why_not);
  COLIBRI_TRY(expect_answer("accepts", answer, why_not));
  void* model = nullptr;
  colibri_error error = empty_error();
  const colibri_status code = table.open(&files.table, &model, &error);
  if (code != COLIBRI_OK) return expect_reason("open", code, error);
  if (model == nullptr) return internal_error("open says ok and gives no model");
  table.close(model);
  return {};
}

}  // namespace

Status check_format_bad_input(const Plugin& plugin) {
  const auto& table = *plugin.interface<colibri_format_1>("colibri.format/1");
  COLIBRI_TRY(check_format_files(table, MadeUpFiles({})));
  for (const std::string& text : junk()) {
    for (const char* name : {"config.json", "model.safetensors", "model.safetensors.index.json",
                             "model.gguf", "\xff\xfe"}) {
      COLIBRI_TRY(check_format_files(table, MadeUpFiles({{name, text}})));
    }
    COLIBRI_TRY(check_format_files(
        table, MadeUpFiles({{"config.json", "{}"}, {"model.safetensors", text}})));
  }
  return {};
}

Status check_tokenizer_bad_input(const Plugin& plugin) {
  const auto& table = *plugin.interface<colibri_tokenizer_1>("colibri.tokenizer/1");
  const Host host(plugin.id(), sample_options(plugin.manifest()));
  const auto check = [&](const colibri_resource* resources, uint32_t n) -> Status {
    char why_not[128] = {};
    const int32_t answer = table.accepts(resources, n, why_not);
    COLIBRI_TRY(expect_answer("accepts", answer, why_not));
    void* tokenizer = nullptr;
    colibri_error error = empty_error();
    const colibri_status code = table.create(resources, n, host.get(), &tokenizer, &error);
    if (code != COLIBRI_OK) return expect_reason("create", code, error);
    if (tokenizer == nullptr) return internal_error("create says ok and gives no tokenizer");
    table.destroy(tokenizer);
    return {};
  };
  COLIBRI_TRY(check(nullptr, 0));
  for (const std::string& text : junk()) {
    for (const std::string name : {"tokenizer.json", "tokenizer.model", "vocab.json", ""}) {
      const colibri_resource resource = {sizeof(resource), to_c(name), to_c(text)};
      COLIBRI_TRY(check(&resource, 1));
    }
    if (table.open_compiled == nullptr) continue;
    void* tokenizer = nullptr;
    colibri_error error = empty_error();
    const colibri_status code = table.open_compiled(to_c(text), host.get(), &tokenizer, &error);
    if (code == COLIBRI_OK) return internal_error("open_compiled takes what is no compiled form");
    COLIBRI_TRY(expect_reason("open_compiled", code, error));
  }
  return {};
}

}  // namespace colibri::plugin
