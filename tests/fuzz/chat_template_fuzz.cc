// SPDX-License-Identifier: Apache-2.0
// A hostile chat template, and behind a NUL byte a hostile text that stands in its messages.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "runtime/base/utf8.h"
#include "runtime/chat/template/json_text.h"
#include "runtime/chat/template/template.h"
#include "tests/chat/fixed_date.h"

namespace {

void expect(bool truth) {
  if (!truth) std::abort();
}

// The runs cover the text, in order.
void check(const colibri::chat::Text& text) {
  expect(colibri::utf8::valid(text.view()));
  size_t at = 0;
  for (const auto& run : text.runs()) {
    expect(run.end > at);
    at = run.end;
  }
  expect(at == text.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace colibri;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t cut = std::min(input.find('\0'), input.size());
  const auto compiled = chat::Template::compile("t", input.substr(0, cut));
  if (!compiled.ok()) {
    expect(compiled.status().text().starts_with("t:"));
    return 0;
  }
  chat::Limits limits;
  limits.steps = 200'000;
  limits.memory = 4u << 20;
  limits.output = 1u << 20;
  chat::Budget budget(limits);
  std::string said(input.substr(std::min(cut + 1, input.size())));
  if (!utf8::valid(said)) said = "<|im_end|> \xC3\x9F\n";
  const nlohmann::ordered_json messages = {
      {{"role", "system"}, {"content", "Be brief."}},
      {{"role", "user"}, {"content", said}},
      {{"role", "assistant"}, {"content", nullptr}, {"tool_calls", {{{"name", "f"}}}}}};
  const auto value = chat::from_json(budget, messages, "role");
  if (!value.ok()) return 0;
  const auto text = compiled->render({{"messages", *value},
                                      {"bos_token", chat::trusted_text("<s>")},
                                      {"add_generation_prompt", true}},
                                     chat::testing::fixed_date(), budget);
  if (text.ok()) {
    check(*text);
  } else {
    expect(text.status().text().starts_with("t:"));
  }
  return 0;
}
