// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/pipeline_schema.h"

#include <limits>

#include "colibri/codec.h"
#include "runtime/config/pipeline_page.h"
#include "runtime/config/pipeline_types.h"

namespace colibri::config {
namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

constexpr Choice kApiVersions[] = {{"colibri/v1"}};
constexpr Choice kKinds[] = {{"Pipeline"}};

constexpr Field kMetadata[] = {
    field<&Pipeline::name>({
        .name = "name",
        .fallback = "\"\"",
        .doc = "A name for people; `plan` prints it.",
    }),
};
constexpr Table kMetadataTable = {"metadata", kMetadata};

constexpr Choice kCodecs[] = {
    {"stored", COLIBRI_CODEC_NONE}, {"f32", COLIBRI_CODEC_F32},   {"f16", COLIBRI_CODEC_F16},
    {"bf16", COLIBRI_CODEC_BF16},   {"q8_0", COLIBRI_CODEC_Q8_0}, {"q5_0", COLIBRI_CODEC_Q5_0},
    {"q5_1", COLIBRI_CODEC_Q5_1},   {"q4_0", COLIBRI_CODEC_Q4_0}, {"q4_1", COLIBRI_CODEC_Q4_1},
};

constexpr const FieldType* kCodecType = &kChoiceType<uint32_t>;

constexpr Field codec_field(Field description) {
  description.fallback = "stored";
  description.choices = kCodecs;
  return description;
}

constexpr Field kQuantize[] = {
    field<&Quantize::experts, kCodecType>(codec_field({
        .name = "experts",
        .doc = "Codec of the experts: gate, up and down.",
    })),
    field<&Quantize::attention, kCodecType>(codec_field({
        .name = "attention",
        .doc = "Codec of the attention: q, k, v and o.",
    })),
    field<&Quantize::router, kCodecType>(codec_field({
        .name = "router",
        .doc = "Codec of the routers.",
    })),
    field<&Quantize::embedding, kCodecType>(codec_field({
        .name = "embedding",
        .doc = "Codec of the embedding. A tied head is the same tensor.",
    })),
    field<&Quantize::head, kCodecType>(codec_field({
        .name = "head",
        .doc = "Codec of the output head.",
    })),
};
constexpr Table kQuantizeTable = {"model.quantize", kQuantize};

constexpr Choice kQuantizePresets[] = {
    {"none", COLIBRI_CODEC_NONE}, {"q8_0", COLIBRI_CODEC_Q8_0}, {"q5_0", COLIBRI_CODEC_Q5_0},
    {"q5_1", COLIBRI_CODEC_Q5_1}, {"q4_0", COLIBRI_CODEC_Q4_0}, {"q4_1", COLIBRI_CODEC_Q4_1},
};

constexpr Field kModel[] = {
    field<&Pipeline::Model::path>({
        .name = "path",
        .doc = "The model: a folder or a file.",
    }),
    field<&Pipeline::Model::format>({
        .name = "format",
        .fallback = "auto",
        .doc = "The format plugin that reads it, by id. `auto`: the first that accepts the files.",
        .min = 1,
    }),
    field<&Pipeline::Model::architecture, &kArchitectureType>({
        .name = "architecture",
        .fallback = "auto",
        .doc = "The architecture document: a name, or a file ending in .yaml. `auto`: the one "
               "whose `match` fits the model.",
    }),
    field<&Pipeline::Model::quantize>({
        .name = "quantize",
        .fallback = "none",
        .doc =
            "Codecs to hold weights in; quantising happens while loading and changes the answer. "
            "`none`: as stored. A codec: experts and attention in it, embedding and "
            "head in q8_0, router in f32. A map says it per group. Norms are always f32.",
        .choices = kQuantizePresets,
        .table = &kQuantizeTable,
    }),
};
constexpr Table kModelTable = {"model", kModel};

constexpr Field kTokenizer[] = {
    field<&PluginChoice::plugin>({
        .name = "plugin",
        .fallback = "auto",
        .doc = "The tokenizer plugin, by id. `auto`: the first that accepts the model's files.",
        .min = 1,
    }),
    field<&PluginChoice::options>({
        .name = "options",
        .fallback = "{}",
        .doc = "Its options, as its manifest declares them (`colibri plugins inspect`).",
    }),
};
constexpr Table kTokenizerTable = {"tokenizer", kTokenizer};

constexpr Choice kOperators[] = {
    {"embed"},    {"norm"},      {"quantize_rows"}, {"grouped_matmul"}, {"rope"},
    {"kv_write"}, {"attention"}, {"router"},        {"combine"},        {"mla_attention"},
};

constexpr Field kPlugins[] = {
    field<&Pipeline::Plugins::search>({
        .name = "search",
        .fallback = "[]",
        .doc = "Folders to look for plugins in, before all others.",
    }),
    field<&Pipeline::Plugins::prefer>({
        .name = "prefer",
        .fallback = "[]",
        .doc = "Ids of plugins to ask first, in this order, whatever their rank. A machine that "
               "lacks what "
               "one needs runs without it, and says so.",
        .min = 1,
    }),
    field<&Pipeline::Plugins::deny>({
        .name = "deny",
        .fallback = "[]",
        .doc = "Ids of plugins that are never loaded.",
        .min = 1,
    }),
    field<&Pipeline::Plugins::operators>({
        .name = "operators",
        .fallback = "{}",
        .doc = "Pins: the id of the only plugin that may compute an operator.",
        .choices = kOperators,
    }),
    field<&Pipeline::Plugins::options>({
        .name = "options",
        .fallback = "{}",
        .doc = "Options of plugins that no other key names, such as kernels: a map by plugin id.",
    }),
};
constexpr Table kPluginsTable = {"plugins", kPlugins};

constexpr Choice kNumerics[] = {
    {"reproducible", static_cast<int64_t>(Numerics::kReproducible)},
    {"fastest", static_cast<int64_t>(Numerics::kFastest)},
};

constexpr Choice kPlaces[] = {{"auto"}, {"cpu"}};

constexpr Field kPlacement[] = {
    field<&Placement::experts>({
        .name = "experts",
        .fallback = "auto",
        .doc =
            "The experts' weights: all of them on the device of all else, or `cpu`. `auto`: all on "
            "that device if it has the room; else as many as fit, those that are asked for most, "
            "while the CPU computes the others. A map says it of layers, numbered from 0: "
            "`{ 0-11: cuda, 12-15: cpu }`; other layers are as `auto` (docs/devices.md).",
    }),
    field<&Placement::dense>({
        .name = "dense",
        .fallback = "auto",
        .doc = "All else: attention, routers, shared experts, embedding and head, and the caches.",
    }),
};
constexpr Table kPlacementTable = {"placement", kPlacement};

constexpr Field kDevices[] = {
    field<&Pipeline::Devices::memory, &kFractionType>({
        .name = "memory",
        .fallback = "0.85",
        .doc = "The part of a device's free memory that may be taken.",
    }),
};
constexpr Table kDevicesTable = {"devices", kDevices};

constexpr Field kThreads[] = {
    field<&Pipeline::Threads::count>({
        .name = "count",
        .fallback = "auto",
        .doc = "Threads that compute. `auto`: the physical cores that this process may use.",
        .min = 1,
        .max = 1024,
    }),
    field<&Pipeline::Threads::decode>({
        .name = "decode",
        .fallback = "auto",
        .doc = "Of them, those that compute a single token: where reading weights is what takes "
               "the time, fewer can be faster. `auto`: all.",
        .min = 1,
        .max = 1024,
    }),
};
constexpr Table kThreadsTable = {"threads", kThreads};

constexpr Field kPolicy[] = {
    field<&PluginChoice::plugin>({
        .name = "plugin",
        .fallback = "arc",
        .doc = "The cache policy plugin, by id: `lru`, `lfu`, `s3fifo`, `arc`, `pinned` "
               "(docs/cache-policies.md), or a vendor's.",
        .min = 1,
    }),
    field<&PluginChoice::options>({
        .name = "options",
        .fallback = "{}",
        .doc = "Its options, as its manifest declares them.",
    }),
};
constexpr Table kPolicyTable = {"experts.policy", kPolicy};

constexpr Choice kIoEngines[] = {
    {"auto", static_cast<int64_t>(IoEngine::kAuto)},
    {"io_uring", static_cast<int64_t>(IoEngine::kIoUring)},
    {"pread", static_cast<int64_t>(IoEngine::kPread)},
};
constexpr Choice kDirectIo[] = {
    {"auto", static_cast<int64_t>(DirectIo::kAuto)},
    {"on", static_cast<int64_t>(DirectIo::kOn)},
    {"off", static_cast<int64_t>(DirectIo::kOff)},
};

constexpr Field kIo[] = {
    field<&Pipeline::Experts::Io::engine>({
        .name = "engine",
        .fallback = "auto",
        .doc =
            "What reads experts. `io_uring`: the kernel, while threads compute; it needs a "
            "`.colibri` file. `pread`: threads of their own. `auto`: `io_uring` if it is granted "
            "(`colibri plan` says so).",
        .choices = kIoEngines,
    }),
    field<&Pipeline::Experts::Io::direct>({
        .name = "direct",
        .fallback = "auto",
        .doc = "Whether reads go past the system's page cache straight into place; it needs a "
               "`.colibri` file. `auto`: if the filesystem grants it.",
        .choices = kDirectIo,
    }),
    field<&Pipeline::Experts::Io::depth>({
        .name = "depth",
        .fallback = "16",
        .doc = "Reads on their way at once; of other files than `.colibri`, at most one a thread.",
        .min = 1,
        .max = 32,
    }),
};
constexpr Table kIoTable = {"experts.io", kIo};

constexpr Choice kPrefetch[] = {
    {"off", static_cast<int64_t>(Prefetch::kOff)},
    {"idle", static_cast<int64_t>(Prefetch::kIdle)},
};

constexpr Field kExperts[] = {
    field<&Pipeline::Experts::budget>({
        .name = "budget",
        .fallback = "auto",
        .doc = "Memory for expert weights; the rest is read from disk when it is needed. `auto`: "
               "all if memory allows, else what memory allows. A percentage is one of the bytes of "
               "all experts.",
    }),
    field<&Pipeline::Experts::policy>({
        .name = "policy",
        .fallback = "{}",
        .doc = "Which experts stay in memory.",
        .table = &kPolicyTable,
    }),
    field<&Pipeline::Experts::io>({
        .name = "io",
        .fallback = "{}",
        .doc = "How the others are read.",
        .table = &kIoTable,
    }),
    field<&Pipeline::Experts::prefetch>({
        .name = "prefetch",
        .fallback = "off",
        .doc = "`idle`: while a token is decoded and the disk has nothing else to do, read what "
               "the next layer's router chooses of this layer's state, into memory for two "
               "experts that the budget gives. Never changes the answer.",
        .choices = kPrefetch,
    }),
};
constexpr Table kExpertsTable = {"experts", kExperts};

constexpr Choice kCacheCodecs[] = {
    {"f16", COLIBRI_CODEC_F16}, {"f32", COLIBRI_CODEC_F32}, {"q8_0", COLIBRI_CODEC_Q8_0}};

constexpr Field kContext[] = {
    field<&Pipeline::Context::max_tokens>({
        .name = "max_tokens",
        .fallback = "auto",
        .doc = "Longest sequence, prompt and answer together. `auto`: the model's own limit, but "
               "at most 4096.",
        .min = 1,
        .max = 1 << 24,
    }),
    field<&Pipeline::Context::kv, &kChoiceType<uint32_t>>({
        .name = "kv",
        .fallback = "f16",
        .doc = "Codec of the key and value cache. f32 takes twice the memory of f16, q8_0 half of "
               "it; the choice changes the answer.",
        .choices = kCacheCodecs,
    }),
    field<&Pipeline::Context::prefill_chunk>({
        .name = "prefill_chunk",
        .fallback = "512",
        .doc = "Most prompt tokens of one forward pass. More are faster and take more memory; the "
               "answer is the same.",
        .min = 1,
        .max = 8192,
    }),
};
constexpr Table kContextTable = {"context", kContext};

constexpr Field kPrompt[] = {
    field<&Pipeline::Prompt::text, &kTemplateType>({
        .name = "template",
        .fallback = "\"{input}\"",
        .doc = "What `run` makes of its input: {input} is replaced by it.",
    }),
};
constexpr Table kPromptTable = {"prompt", kPrompt};

constexpr Field kChat[] = {
    field<&Pipeline::Chat::source, &kChatTemplateType>({
        .name = "template",
        .fallback = "auto",
        .doc = "The template that turns a conversation into a prompt. `auto`: the checkpoint's "
               "own. A name: one of `share/colibri/chat_templates` (chatml, llama2, mistral, glm). "
               "Else a file ending in .jinja.",
    }),
};
constexpr Table kChatTable = {"chat", kChat};

constexpr Field kSampler[] = {
    field<&PluginChoice::plugin>({
        .name = "plugin",
        .doc = "The sampler plugin, by id.",
        .min = 1,
    }),
    field<&PluginChoice::options>({
        .name = "options",
        .fallback = "{}",
        .doc = "Its options, as its manifest declares them.",
    }),
};
constexpr Table kSamplerTable = {"sampling", kSampler};

constexpr Field kGenerate[] = {
    field<&Pipeline::Generate::max_tokens>({
        .name = "max_tokens",
        .fallback = "256",
        .doc = "Most tokens of an answer.",
        .min = 1,
        .max = 1 << 24,
    }),
    field<&Pipeline::Generate::stop>({
        .name = "stop",
        .fallback = "[]",
        .doc = "Texts that end the answer where they appear; they are not printed.",
        .min = 1,
    }),
    field<&Pipeline::Generate::seed>({
        .name = "seed",
        .fallback = "0",
        .doc = "Seed of the sampling. The same seed gives the same answer; greedy pipelines do not "
               "use it.",
        .min = 0,
        .max = kNoLimit,
    }),
};
constexpr Table kGenerateTable = {"generate", kGenerate};

constexpr Field part(Field description, const Table& table) {
  description.fallback = "{}";
  description.table = &table;
  return description;
}

// metadata stands in the Pipeline itself, so its table fills the whole struct.
constexpr Field metadata_part(Field description) {
  description.type = &kTableType;
  description.member = [](void* object) { return object; };
  return description;
}

constexpr Field kPipeline[] = {
    {
        .name = "apiVersion",
        .doc = "Version of this schema.",
        .choices = kApiVersions,
        .type = &kChoiceType<int>,
    },
    {
        .name = "kind",
        .doc = "Kind of this document.",
        .choices = kKinds,
        .type = &kChoiceType<int>,
    },
    metadata_part(part({.name = "metadata", .doc = "About this document."}, kMetadataTable)),
    {
        .name = "extends",
        .fallback = "[]",
        .doc = "Pipelines that this one builds on, weakest first. Maps are merged key by key; "
               "lists and scalars of the stronger document replace those of the weaker.",
        .min = 1,
        .type = &kTextsType,
    },
    field<&Pipeline::model, &kTableType>({
        .name = "model",
        .doc = "Which model, and how its weights are held.",
        .table = &kModelTable,
    }),
    field<&Pipeline::tokenizer>(
        part({.name = "tokenizer", .doc = "What turns text into tokens."}, kTokenizerTable)),
    field<&Pipeline::plugins>(part(
        {.name = "plugins", .doc = "Where plugins come from and which are used."}, kPluginsTable)),
    field<&Pipeline::numerics>({
        .name = "numerics",
        .fallback = "reproducible",
        .doc = "`reproducible`: only plugins whose results are the same bytes everywhere. "
               "`fastest`: approximate ones too, which changes the answer.",
        .choices = kNumerics,
    }),
    field<&Pipeline::placement>({
        .name = "placement",
        .fallback = "auto",
        .doc =
            "Where the model lies and is computed. A device or `cpu`: all of it there, or not at "
            "all. `auto`: on the first device, of the plugins that `plugins.prefer` or "
            "`plugins.operators` names, that has room for it; or for all but some of the "
            "experts, which then lie in this machine's memory; else on the CPU, and a warning says "
            "why. A map "
            "says it per part. The answer is the CPU's where the plugin's numerics are "
            "`identical`, as those of `cuda` are; others have bytes of their own.",
        .choices = kPlaces,
        .table = &kPlacementTable,
    }),
    field<&Pipeline::devices>(part({.name = "devices", .doc = "Devices."}, kDevicesTable)),
    field<&Pipeline::threads>(part({.name = "threads", .doc = "Threads."}, kThreadsTable)),
    field<&Pipeline::experts>(
        part({.name = "experts", .doc = "Where expert weights live."}, kExpertsTable)),
    field<&Pipeline::context>(part({.name = "context", .doc = "The sequence."}, kContextTable)),
    field<&Pipeline::prompt>(part({.name = "prompt", .doc = "The prompt."}, kPromptTable)),
    field<&Pipeline::chat>(part({.name = "chat", .doc = "Conversations."}, kChatTable)),
    field<&Pipeline::sampling>({
        .name = "sampling",
        .fallback = "[]",
        .doc = "Sampler plugins, applied in order before a token is drawn. Empty: greedy, the "
               "likeliest token.",
        .table = &kSamplerTable,
        .list = true,
    }),
    field<&Pipeline::generate>(part({.name = "generate", .doc = "The answer."}, kGenerateTable)),
};

}  // namespace

constexpr Table kPipelineTable = {"Pipeline", kPipeline, kPipelinePage};

}  // namespace colibri::config
