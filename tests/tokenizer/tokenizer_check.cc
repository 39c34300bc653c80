// SPDX-License-Identifier: Apache-2.0
// tokenizer_check PLUGIN.so FOLDER < CASES     compares ids and texts with those of another program
// tokenizer_check PLUGIN.so FOLDER --time TEXT  megabytes of the text encoded in a second of one core
//
// FOLDER holds the files of a checkpoint that its tokenizer is made of. A case is a JSON object a
// line: {"text", "ids", "parse": are special tokens looked for, "add": are BOS and the like added,
// "decoded"}; without "ids" or "decoded" that side is not compared. Prints "N cases, N wrong" and
// the first wrong ones; exit status 1 if there are any.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/tokenizer/plugin_tokenizer.h"

namespace {

using colibri::testing::PluginTokenizer;
using nlohmann::json;
using Ids = std::vector<int32_t>;

constexpr int kShown = 5;
constexpr double kSeconds = 3;

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// What is wrong with a case; empty = nothing.
std::string check(const PluginTokenizer& tokenizer, const json& c) {
  const uint32_t flags = (c.value("parse", false) ? uint32_t{COLIBRI_ENCODE_PARSE_SPECIAL} : 0) |
                         (c.value("add", false) ? uint32_t{COLIBRI_ENCODE_ADD_SPECIAL} : 0);
  const auto ids = tokenizer.encode(c["text"].get<std::string>(), flags);
  if (!ids.ok()) return ids.status().text();
  if (c.contains("ids") && *ids != c["ids"].get<Ids>()) return "ids " + json(*ids).dump();
  if (!c.contains("decoded")) return {};
  const std::string decoded = tokenizer.decode(*ids, false);
  return decoded == c["decoded"].get<std::string>() ? "" : "decoded " + json(decoded).dump();
}

int check_all(const PluginTokenizer& tokenizer) {
  int cases = 0;
  int wrong = 0;
  for (std::string line; std::getline(std::cin, line); ++cases) {
    const json c = json::parse(line);
    const std::string problem = check(tokenizer, c);
    if (problem.empty()) continue;
    if (++wrong <= kShown) std::printf("%s\n  here: %s\n", line.c_str(), problem.c_str());
  }
  std::printf("%d cases, %d wrong\n", cases, wrong);
  return wrong > 0 || cases == 0 ? 1 : 0;
}

// Processor time, so that other programs on the machine matter less.
int time_encoding(const PluginTokenizer& tokenizer, const std::string& text) {
  const auto seconds_since = [](std::clock_t start) {
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  double best = 0;
  for (const auto start = std::clock(); seconds_since(start) < kSeconds;) {
    const auto begin = std::clock();
    const auto ids = tokenizer.encode(text, 0);
    if (!ids.ok()) {
      std::fprintf(stderr, "%s\n", ids.status().text().c_str());
      return 1;
    }
    best = std::max(best, static_cast<double>(text.size()) / 1e6 / seconds_since(begin));
  }
  std::printf("%.1f MB/s\n", best);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool timing = argc == 5 && std::string(argv[3]) == "--time";
  if (argc != 3 && !timing) {
    std::fprintf(stderr, "usage: tokenizer_check PLUGIN.so FOLDER [--time TEXT] < CASES\n");
    return 2;
  }
  void* library = dlopen(std::filesystem::absolute(argv[1]).c_str(), RTLD_NOW);
  void* entry = library == nullptr ? nullptr : dlsym(library, "colibri_plugin_v1");
  if (entry == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  const colibri_plugin* plugin = reinterpret_cast<const colibri_plugin* (*)()>(entry)();
  std::map<std::string, std::string> files;
  for (const auto& file : std::filesystem::directory_iterator(argv[2])) {
    if (file.is_regular_file()) files[file.path().filename()] = contents(file.path());
  }
  std::vector<colibri::testing::Resource> resources;
  for (const auto& [name, bytes] : files) resources.push_back({name, bytes});
  const auto tokenizer = PluginTokenizer::create(plugin, resources);
  if (!tokenizer.ok()) {
    std::fprintf(stderr, "%s\n", tokenizer.status().text().c_str());
    return 2;
  }
  return timing ? time_encoding(*tokenizer, contents(argv[4])) : check_all(*tokenizer);
}
