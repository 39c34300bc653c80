// SPDX-License-Identifier: Apache-2.0
// Pipeline: what to run and how, read from a YAML document of kind Pipeline. Every key is described
// by the tables in pipeline_schema.cc; docs/pipeline.md is their printed form.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/config/value.h"

namespace colibri::config {

// A plugin named by the pipeline and what it is told. Options are checked against the plugin's
// manifest by whoever loads it.
struct PluginChoice {
  std::string plugin;  // its id; "auto" where the key allows it
  Value options;       // a map of scalars, maybe empty
  std::string key;     // of this choice, "sampling.0", for Pipeline::place()
};

// Codecs to hold weights in, by group: COLIBRI_CODEC_F32, F16, BF16, Q8_0, Q5_1, Q5_0, Q4_1,
// Q4_0, or NONE = as stored. Norms are always f32.
struct Quantize {
  uint32_t experts = 0;    // gate, up, down
  uint32_t attention = 0;  // q, k, v, o
  uint32_t router = 0;
  uint32_t embedding = 0;
  uint32_t head = 0;
};

// Memory for expert weights.
struct Budget {
  enum class Kind { kAuto, kAll, kBytes, kPercent };
  Kind kind = Kind::kAuto;  // kAuto: all if memory allows, else what memory allows
  uint64_t bytes = 0;       // of kBytes
  double percent = 0;       // of kPercent: of the bytes of all experts, in (0, 100]

  // Its bytes where all experts take all_bytes. Not for kAuto.
  uint64_t of(uint64_t all_bytes) const {
    if (kind == Kind::kBytes) return bytes;
    return kind == Kind::kAll
               ? all_bytes
               : static_cast<uint64_t>(static_cast<double>(all_bytes) * percent / 100);
  }
};
// Reads what experts.budget takes.
Result<Budget> parse_budget(std::string_view text);

// How experts are read; kAuto takes the best that is granted.
enum class IoEngine { kAuto, kIoUring, kPread };
enum class DirectIo { kAuto, kOn, kOff };
enum class Prefetch { kOff, kIdle };

enum class Numerics { kReproducible, kFastest };

// Where a part of the model lies and is computed.
struct Place {
  enum class Kind { kAuto, kCpu, kDevice };
  Kind kind = Kind::kAuto;
  std::string plugin = {};  // of kDevice: whose device
  uint32_t device = 0;      // of kDevice: its number

  bool operator==(const Place& other) const = default;
};

// Of the weights that the routers choose from.
struct ExpertPlaces {
  struct Layers {
    uint32_t first = 0, last = 0;  // numbers of layers, from 0
    Place place;
    std::string key;  // "0-11", as written
  };
  std::vector<Layers> layers;  // no layer twice
  Place others;                // of all other layers
};

struct Placement {
  ExpertPlaces experts;
  Place dense;  // all else
};

// context.max_tokens: auto is the model's own limit, but at most this.
constexpr uint32_t kAutoContextTokens = 4096;

struct Pipeline {
  std::string name;  // metadata.name; empty = none given

  struct Model {
    std::filesystem::path path;  // a path in a YAML file is relative to that file; resolved here
    std::string format;          // id of a format plugin, or "auto"
    std::string architecture;  // "auto", a document's name, or (ending in .yaml) its resolved path
    Quantize quantize;
  } model;

  PluginChoice tokenizer;

  struct Plugins {
    std::vector<std::filesystem::path> search;  // folders, before all others, in order
    std::vector<std::string> prefer;            // ids ranked first, in order
    std::vector<std::string> deny;              // ids that are never loaded
    std::map<std::string, std::string>
        operators;                         // operator name -> the only plugin allowed for it
    std::map<std::string, Value> options;  // plugin id -> map of its options
  } plugins;

  Numerics numerics = Numerics::kReproducible;

  Placement placement;

  struct Devices {
    double memory = 0;  // part of a device's free memory that may be taken, in (0, 1]
  } devices;

  struct Threads {
    std::optional<uint32_t> count;   // nullopt = auto
    std::optional<uint32_t> decode;  // nullopt = auto
  } threads;

  struct Experts {
    Budget budget;
    PluginChoice policy;
    struct Io {
      IoEngine engine = IoEngine::kAuto;
      DirectIo direct = DirectIo::kAuto;
      uint32_t depth = 0;  // reads on their way at once
    } io;
    Prefetch prefetch = Prefetch::kOff;
  } experts;

  struct Context {
    std::optional<uint32_t> max_tokens;  // nullopt = auto, see kAutoContextTokens
    uint32_t kv = 0;                     // COLIBRI_CODEC_F16, _F32 or _Q8_0
    uint32_t prefill_chunk = 0;          // most prompt tokens of one forward pass
  } context;

  struct Prompt {
    std::string text;  // prompt.template; holds {input} at least once
  } prompt;

  struct Chat {
    std::string source;  // chat.template: "auto", a name, or (ending in .jinja) its resolved path
  } chat;

  std::vector<PluginChoice> sampling;  // in order; empty = greedy

  struct Generate {
    uint32_t max_tokens = 0;
    std::vector<std::string> stop;  // none of them empty
    uint64_t seed = 0;
  } generate;

  // The whole document: every key, defaults filled in, each value with the position it came from.
  Value effective;

  // Where a key's value came from, to stand before a message: "plc.yaml:4:16: model.path",
  // "--set: threads.count", "model.format (default)".
  std::string place(std::string_view key) const;
};

// One value from outside the document. `key` is a dotted path ("sampling.0.options.value"); `value`
// is text, or YAML flow text where the key takes a list or a map. `origin` names it in messages.
struct Override {
  std::string key;
  std::string value;
  std::string origin = "--set";
};
// Splits "key.path=value".
Result<Override> parse_override(std::string_view text);

// Reads a pipeline, its `extends`, and the overrides, in rising order of strength. The Status holds
// every problem, one a line; `problems`, unless null, gets them as a list. Only documents are read:
// no model and no plugin is looked at.
Result<Pipeline> load_pipeline(const std::filesystem::path& file,
                               std::span<const Override> overrides = {},
                               std::vector<Problem>* problems = nullptr);
// All settings at their defaults for this model.
Result<Pipeline> default_pipeline(const std::filesystem::path& model,
                                  std::span<const Override> overrides = {},
                                  std::vector<Problem>* problems = nullptr);
// load_pipeline() for a name that ends in .yaml or .yml, else default_pipeline().
Result<Pipeline> open_pipeline(const std::filesystem::path& path,
                               std::span<const Override> overrides = {},
                               std::vector<Problem>* problems = nullptr);

}  // namespace colibri::config
