// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat/chat_template.h"

#include <algorithm>
#include <filesystem>

#include "runtime/base/file.h"
#include "runtime/base/folder.h"
#include "runtime/base/install_paths.h"
#include "runtime/base/utf8.h"
#include "runtime/chat/template/json_text.h"
#include "runtime/config/problem.h"
#include "runtime/engine/prompt.h"

namespace colibri::chat {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = "tokenizer_config.json";
constexpr const char* kFile = "chat_template.jinja";
// The templates beside the default one: files of a folder, or keys of a GGUF file.
constexpr const char* kMoreFolder = "additional_chat_templates";
constexpr std::string_view kMoreKeys = "tokenizer.chat_template.";

// Names of the templates in a folder; none if there is no such folder.
Result<std::vector<std::string>> names_in(const fs::path& folder) {
  const auto files = list_folder(folder);
  std::vector<std::string> names;
  if (files.status().code() == COLIBRI_NOT_FOUND) return names;
  if (!files.ok()) return files.status();
  for (const fs::path& file : *files) {
    if (file.extension() == ".jinja") names.push_back(file.stem().string());
  }
  return names;
}

// The fallbacks that are installed, by name.
std::vector<std::string> fallbacks() {
  const auto names = names_in(chat_template_dir());
  return names.ok() ? *names : std::vector<std::string>();
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// An empty object if there is no such resource.
Result<Json> json_resource(const model::ModelSource& source, const char* name) {
  const auto bytes = source.resource(name);
  if (!bytes.ok()) {
    if (bytes.status().code() == COLIBRI_NOT_FOUND) return Json::object();
    return bytes.status();
  }
  Json json = Json::parse(*bytes, nullptr, false);
  if (json.is_object()) return json;
  return corrupt_data(source.files().path() + ": " + name + ": is no JSON object");
}

// The content of a token, which is a text or an object with a text.
std::string token_text(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  if (!json.is_object() || !json.contains("content") || !json["content"].is_string()) return {};
  return json["content"].get<std::string>();
}

using SpecialTokens = std::vector<std::pair<std::string, std::string>>;

// The variables that transformers gives to templates: bos_token, eos_token, ... First what the
// checkpoint's files say of them, then what the tokenizer knows, then the id in config.json.
SpecialTokens special_tokens(const Json& config, const Json& map, const model::ModelSource& source,
                             const engine::Tokenizer& tokenizer) {
  SpecialTokens found;
  for (const char* role : {"bos", "eos", "unk", "pad", "sep", "cls", "mask"}) {
    const std::string key = std::string(role) + "_token";
    std::string text;
    for (const Json* json : {&config, &map}) {
      if (text.empty() && json->contains(key)) text = token_text((*json)[key]);
    }
    std::vector<int32_t> ids = tokenizer.special(role);
    if (const auto id = source.metadata(key + "_id"); ids.empty() && id.ok()) {
      if (id->kind == COLIBRI_VALUE_INT) ids = {static_cast<int32_t>(id->i)};
    }
    if (text.empty() && !ids.empty()) text = tokenizer.token_bytes(ids[0]);
    if (!text.empty() && utf8::valid(text)) found.emplace_back(key, text);
  }
  return found;
}

std::tm local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm local = {};
  localtime_r(&now, &local);
  return local;
}

Status check_messages(const Json& messages) {
  if (!messages.is_array()) return invalid_argument("the messages are no list");
  for (size_t i = 0; i < messages.size(); ++i) {
    const Json& message = messages[i];
    if (message.is_object() && message.contains("role") && message["role"].is_string()) continue;
    return invalid_argument("message " + std::to_string(i) +
                            " is no object with a text under 'role'");
  }
  return {};
}

}  // namespace

Result<ChatTemplate> ChatTemplate::open(const config::Pipeline& pipeline,
                                        const model::ModelSource& source,
                                        const engine::Tokenizer& tokenizer) {
  ChatTemplate made;
  COLIBRI_ASSIGN(const Json config, json_resource(source, kConfig));
  COLIBRI_ASSIGN(const Json map, json_resource(source, "special_tokens_map.json"));
  made.special_ = special_tokens(config, map, source, tokenizer);
  const std::string& wanted = pipeline.chat.source;
  if (wanted == "auto") {
    COLIBRI_TRY(made.open_checkpoint(source, config));
  } else if (wanted.ends_with(".jinja")) {
    COLIBRI_TRY(made.open_file(wanted, pipeline));
  } else {
    COLIBRI_TRY(made.open_named(wanted, pipeline));
  }
  return made;
}

Status ChatTemplate::compile(const std::string& name, const std::string& origin,
                             std::string_view source) {
  COLIBRI_ASSIGN(Template compiled, Template::compile(origin, source));
  if (!by_name_.emplace(name, std::move(compiled)).second) {
    return corrupt_data(origin + ": there is another template named " + utf8::printable(name));
  }
  if (origin_.empty()) origin_ = origin;
  return {};
}

Status ChatTemplate::open_file(const std::string& path, const config::Pipeline& pipeline) {
  const auto text = read_file(path, kMostSourceBytes);
  if (!text.ok()) return text.status().at(pipeline.place("chat.template"));
  return compile("default", path, *text);
}

Status ChatTemplate::open_named(const std::string& name, const config::Pipeline& pipeline) {
  const std::vector<std::string> known = fallbacks();
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    return not_found(pipeline.place("chat.template") + ": there is no chat template " +
                     utf8::printable(name) + "; there are: auto, " + listed(known) +
                     ", or give a file ending in .jinja");
  }
  return open_file((chat_template_dir() / (name + ".jinja")).string(), pipeline);
}

Status ChatTemplate::open_more(const model::ModelSource& source) {
  const fs::path folder = fs::path(source.files().path()) / kMoreFolder;
  COLIBRI_ASSIGN(const std::vector<std::string> names, names_in(folder));
  for (const std::string& name : names) {
    COLIBRI_ASSIGN(const std::string text, read_file(folder / (name + ".jinja"), kMostSourceBytes));
    COLIBRI_TRY(compile(name, std::string(kMoreFolder) + "/" + utf8::printable(name), text));
  }
  for (const std::string_view key : source.metadata_keys()) {
    if (!key.starts_with(kMoreKeys)) continue;
    COLIBRI_ASSIGN(const colibri_value value, source.metadata(key));
    if (value.kind != COLIBRI_VALUE_STRING) continue;
    const std::string name(key.substr(kMoreKeys.size()));
    COLIBRI_TRY(compile(name, utf8::printable(key), from_c(value.s)));
  }
  return {};
}

std::vector<std::string> ChatTemplate::names() const {
  std::vector<std::string> names;
  for (const auto& [name, compiled] : by_name_) names.push_back(utf8::printable(name));
  return names;
}

Status ChatTemplate::open_checkpoint(const model::ModelSource& source, const Json& config) {
  const std::string& path = source.files().path();
  if (const auto file = source.resource(kFile); file.ok()) {
    COLIBRI_TRY(compile("default", kFile, *file).at(path));
    return open_more(source).at(path);
  } else if (file.status().code() != COLIBRI_NOT_FOUND) {
    return file.status();
  }
  const std::string origin = std::string(kConfig) + ": chat_template";
  const Json given = config.value("chat_template", Json());
  if (given.is_string()) {
    return compile("default", origin, given.get_ref<const std::string&>()).at(path);
  }
  if (given.is_array()) {
    origin_ = origin;
    for (const Json& entry : given) {
      if (!entry.is_object() || !entry.value("name", Json()).is_string() ||
          !entry.value("template", Json()).is_string()) {
        return corrupt_data(path + ": " + origin + ": an entry is no {name, template}");
      }
      const std::string name = entry["name"];
      COLIBRI_TRY(compile(name, origin + " " + utf8::printable(name),
                          entry["template"].get_ref<const std::string&>())
                      .at(path));
    }
    if (by_name_.contains("default")) return {};
    return corrupt_data(
        path + ": " + origin +
        ": none of the templates is named 'default'; there are: " + listed(names()));
  }
  if (!given.is_null()) return corrupt_data(path + ": " + origin + ": is no text and no list");
  return unsupported(path + ": the model has no chat template (no " + kFile + ", no " + origin +
                     "); choose one: --set chat.template=NAME, where NAME is " +
                     listed(fallbacks()) + " or a file ending in .jinja");
}

Result<Text> ChatTemplate::render(const Conversation& conversation,
                                  const std::optional<std::tm>& now) const {
  COLIBRI_TRY(check_messages(conversation.messages));
  Budget budget{Limits()};
  Variables variables;
  for (const auto& [name, text] : special_) variables.emplace_back(name, trusted_text(text));
  const auto add = [&](const std::string& name, const Json& json, const char* word) -> Status {
    auto value = from_json(budget, json, word);
    if (!value.ok()) return value.status().at(name);
    std::erase_if(variables, [&](const auto& known) { return known.first == name; });
    variables.emplace_back(name, std::move(*value));
    return {};
  };
  COLIBRI_TRY(add("messages", conversation.messages, "role"));
  COLIBRI_TRY(add("tools", conversation.tools, ""));
  COLIBRI_TRY(add("documents", Json(), ""));
  variables.emplace_back("add_generation_prompt", conversation.add_generation_prompt);
  for (const auto& [name, json] : conversation.options.items()) COLIBRI_TRY(add(name, json, ""));
  const auto with_tools = by_name_.find("tool_use");
  const bool tools = !conversation.tools.is_null() && with_tools != by_name_.end();
  const Template& chosen = tools ? with_tools->second : by_name_.at("default");
  return chosen.render(variables, now ? *now : local_time(), budget);
}

Result<std::vector<int32_t>> encode(const engine::Tokenizer& tokenizer, const Text& rendered) {
  std::vector<engine::PromptPiece> pieces;
  size_t at = 0;
  for (const Text::Run& run : rendered.runs()) {
    pieces.push_back({rendered.view().substr(at, run.end - at), run.trusted});
    at = run.end;
  }
  return engine::encode_pieces(tokenizer, pieces, 0);
}

}  // namespace colibri::chat
