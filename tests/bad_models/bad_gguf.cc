// SPDX-License-Identifier: Apache-2.0
#include "tests/bad_models/cases.h"
#include "tests/bad_models/gguf_file.h"

namespace colibri::testing {
namespace {

// A model of nothing but one GGUF file of these bytes.
BadModel file_of(const std::string& name, const std::string& bytes) {
  return {name,
          [bytes](TinyModel* model) {
            model->has_config = model->has_weights = false;
            model->files["m.gguf"] = bytes;
          },
          {},
          ""};
}

GgufFile sound() {
  return GgufFile().text("general.architecture", "llama").tensor("a", {4}).tensor("b", {2, 3});
}

// The sound file with one more pair, whose type and value are these bytes.
BadModel value_of(const std::string& name, const std::string& type_and_value) {
  GgufFile file = sound();
  file.pairs.emplace_back("some.key", type_and_value);
  return file_of(name, file.bytes());
}

template <typename Change>
BadModel changed(const std::string& name, Change change) {
  GgufFile file = sound();
  change(&file);
  return file_of(name, file.bytes());
}

// The sound file with other bytes at `at`.
BadModel patched(const std::string& name, size_t at, const std::string& bytes) {
  std::string file = sound().bytes();
  file.replace(at, bytes.size(), bytes);
  return file_of(name, file);
}

constexpr uint32_t kBool = 7, kString = 8, kList = 9;
constexpr size_t kVersionAt = 4, kTensorsAt = 8, kPairsAt = 16, kFirstKeyAt = 24;

std::vector<BadModel> bad_preambles() {
  return {
      file_of("gguf_empty", ""),
      file_of("gguf_three_bytes", "GGU"),
      file_of("gguf_is_a_page", "<!DOCTYPE html><html>Not Found</html>"),
      file_of("gguf_only_the_magic", "GGUF"),
      patched("gguf_version_1", kVersionAt, le32(1)),
      patched("gguf_version_4", kVersionAt, le32(4)),
      patched("gguf_big_endian", kVersionAt, std::string("\0\0\0\3", 4)),
      patched("gguf_more_tensors_than_there_are", kTensorsAt, le64(5)),
      patched("gguf_tensor_count_huge", kTensorsAt, le64(UINT64_MAX)),
      patched("gguf_pair_count_huge", kPairsAt, le64(uint64_t{1} << 62)),
      patched("gguf_more_pairs_than_there_are", kPairsAt, le64(2)),
  };
}

std::vector<BadModel> bad_pairs() {
  GgufFile twice = sound();
  twice.text("general.architecture", "again");
  GgufFile empty_key = sound();
  empty_key.u32("", 1);
  GgufFile wrong_key = sound();
  wrong_key.u32("caf\xe9", 1);
  return {
      patched("gguf_key_longer_than_the_file", kFirstKeyAt, le64(1'000'000'000'000)),
      patched("gguf_key_length_wraps_around", kFirstKeyAt, le64(UINT64_MAX - 8)),
      file_of("gguf_key_twice", twice.bytes()),
      file_of("gguf_key_empty", empty_key.bytes()),
      file_of("gguf_key_not_utf8", wrong_key.bytes()),
      value_of("gguf_value_type_unknown", le32(13) + le32(0)),
      value_of("gguf_boolean_of_two", le32(kBool) + "\2"),
      value_of("gguf_text_not_utf8", le32(kString) + gguf_string("\xff")),
      value_of("gguf_text_longer_than_the_file", le32(kString) + le64(UINT64_MAX)),
      value_of("gguf_list_of_lists", le32(kList) + le32(kList) + le64(0)),
      value_of("gguf_list_type_unknown", le32(kList) + le32(99) + le64(0)),
      value_of("gguf_list_count_overflows", le32(kList) + le32(12) + le64(uint64_t{1} << 61)),
      value_of("gguf_list_longer_than_the_file", le32(kList) + le32(0) + le64(1'000'000)),
      value_of("gguf_list_of_texts_huge", le32(kList) + le32(kString) + le64(UINT64_MAX)),
      value_of("gguf_list_of_booleans_of_two", le32(kList) + le32(kBool) + le64(2) + "\1\2"),
      changed("gguf_alignment_zero", [](GgufFile* f) { f->u32("general.alignment", 0); }),
      changed("gguf_alignment_three", [](GgufFile* f) { f->u32("general.alignment", 3); }),
      changed("gguf_alignment_huge", [](GgufFile* f) { f->u32("general.alignment", 1u << 31); }),
      changed("gguf_alignment_is_text", [](GgufFile* f) { f->text("general.alignment", "32"); }),
  };
}

std::vector<BadModel> bad_directories() {
  std::string cut = sound().bytes();
  cut.resize(cut.size() - 1);
  return {
      file_of("gguf_cut_in_the_directory", sound().header().substr(0, sound().header().size() - 3)),
      file_of("gguf_without_data", sound().header()),
      file_of("gguf_cut_in_the_data", cut),
      changed("gguf_five_dimensions",
              [](GgufFile* f) {
                f->tensor("c", {1, 1, 1, 1, 1});
              }),
      changed("gguf_extent_zero",
              [](GgufFile* f) {
                f->tensor("c", {4, 0});
              }),
      changed("gguf_extents_overflow",
              [](GgufFile* f) {
                f->tensors[1].extents = {1u << 31, 1u << 31, 1u << 31};
              }),
      changed("gguf_extent_negative",
              [](GgufFile* f) { f->tensors[1].extents = {UINT64_MAX - 1}; }),
      changed("gguf_type_of_no_codec", [](GgufFile* f) { f->tensors[0].type = 4; }),
      changed("gguf_type_newer", [](GgufFile* f) { f->tensors[0].type = 1000; }),
      changed("gguf_type_not_read", [](GgufFile* f) { f->tensors[0].type = 16; }),
      changed("gguf_rows_do_not_fill_blocks", [](GgufFile* f) { f->tensors[0].type = 12; }),
      changed("gguf_tensors_overlap", [](GgufFile* f) { f->tensors[1].offset = 0; }),
      changed("gguf_hole_between_tensors", [](GgufFile* f) { f->tensors[1].offset = 64; }),
      changed("gguf_offset_wraps_around", [](GgufFile* f) { f->tensors[1].offset = INT64_MAX; }),
      changed("gguf_tensor_twice", [](GgufFile* f) { f->tensors[1].name = "a"; }),
      changed("gguf_tensor_without_name", [](GgufFile* f) { f->tensors[1].name = ""; }),
      changed("gguf_tensor_name_not_utf8", [](GgufFile* f) { f->tensors[1].name = "\xc0"; }),
  };
}

GgufFile part(uint32_t number, uint32_t count, const std::string& tensor) {
  return GgufFile().u32("split.no", number).u32("split.count", count).tensor(tensor, {4});
}

// Parts under their names; a part may lie.
BadModel parts(const std::string& name, const std::map<std::string, GgufFile>& files,
               const std::string& open = "") {
  return {name,
          [files](TinyModel* model) {
            model->has_config = model->has_weights = false;
            for (const auto& [file, content] : files) model->files[file] = content.bytes();
          },
          {},
          open};
}

std::vector<BadModel> bad_parts() {
  const std::string one = "m-00001-of-00002.gguf", two = "m-00002-of-00002.gguf";
  return {
      parts("gguf_two_models", {{"a.gguf", sound()}, {"b.gguf", sound()}}),
      parts("gguf_three_models", {{"a.gguf", sound()}, {"b.gguf", sound()}, {one, sound()}}),
      parts("gguf_second_part_missing", {{one, part(0, 2, "a")}}),
      parts("gguf_first_part_missing", {{two, part(1, 2, "b")}}),
      parts("gguf_part_missing_beside_a_file", {{"m-00002-of-00003.gguf", part(1, 3, "b")}},
            "m-00002-of-00003.gguf"),
      parts("gguf_parts_swapped", {{one, part(1, 2, "a")}, {two, part(0, 2, "b")}}),
      parts("gguf_part_of_another_split", {{one, part(0, 2, "a")}, {two, part(1, 3, "b")}}),
      parts("gguf_part_under_another_name", {{"m.gguf", part(0, 2, "a")}}),
      parts(
          "gguf_part_number_is_text",
          {{one, GgufFile().text("split.no", "0").u32("split.count", 2)}, {two, part(1, 2, "b")}}),
      parts("gguf_parts_have_fewer_tensors",
            {{one, part(0, 2, "a").u32("split.tensors.count", 9)}, {two, part(1, 2, "b")}}),
      parts("gguf_tensor_in_two_parts", {{one, part(0, 2, "a")}, {two, part(1, 2, "a")}}),
      parts("gguf_too_many_parts", {{"m-00001-of-99999.gguf", part(0, 99999, "a")}},
            "m-00001-of-99999.gguf"),
  };
}

// What is sound as a file and wrong as a model: the tiny model in its GGUF form with one fault.
template <typename Change>
BadModel unfit(const std::string& name, Change change) {
  GgufFile file = tiny_gguf();
  change(&file);
  return file_of(name, file.bytes());
}

void rename(GgufFile* file, const std::string& from, const std::string& to) {
  for (GgufFile::Tensor& tensor : file->tensors) {
    if (tensor.name == from) tensor.name = to;
  }
}

void set(GgufFile* file, const std::string& key, uint32_t value) {
  for (auto& [name, bytes] : file->pairs) {
    if (name == key) bytes = le32(4) + le32(value);
  }
}

std::vector<BadModel> bad_bindings() {
  return {
      unfit("gguf_architecture_unknown",
            [](GgufFile* f) { f->pairs[0].second = le32(kString) + gguf_string("llama9"); }),
      unfit("gguf_architecture_is_a_number",
            [](GgufFile* f) { set(f, "general.architecture", 7); }),
      unfit("gguf_tensor_missing",
            [](GgufFile* f) { rename(f, "blk.0.ffn_up_exps.weight", "blk.1.ffn_up_exps.weight"); }),
      unfit("gguf_tensor_that_nothing_uses",
            [](GgufFile* f) { f->tensor("blk.0.attn_q.scale", {8}); }),
      unfit("gguf_more_experts_than_the_stack",
            [](GgufFile* f) { set(f, "llama.expert_count", 4); }),
      unfit("gguf_layers_huge", [](GgufFile* f) { set(f, "llama.block_count", 4'000'000'000); }),
      unfit("gguf_heads_zero", [](GgufFile* f) { set(f, "llama.attention.head_count", 0); }),
      unfit("gguf_rope_scaling_unknown",
            [](GgufFile* f) { f->text("llama.rope.scaling.type", "spiral"); }),
      unfit("gguf_end_of_text_outside_of_the_vocabulary",
            [](GgufFile* f) { f->u32("tokenizer.ggml.eos_token_id", 16); }),
      unfit("gguf_end_of_turn_is_text",
            [](GgufFile* f) { f->text("tokenizer.ggml.eot_token_id", "</s>"); }),
      unfit("gguf_router_is_integers",
            [](GgufFile* f) {
              for (GgufFile::Tensor& tensor : f->tensors) {
                if (tensor.name == "blk.0.ffn_gate_inp.weight") tensor.type = 26;  // i32
              }
            }),
      {"gguf_numbers_that_are_not",
       [](TinyModel* model) {
         model->has_config = model->has_weights = false;
         std::string bytes = tiny_gguf().bytes();
         bytes.replace(bytes.size() - 4, 4, "\xff\xff\xff\xff");  // the last of a down projection
         model->files["m.gguf"] = bytes;
       },
       {},
       ""},
  };
}

}  // namespace

std::vector<BadModel> bad_gguf() {
  std::vector<BadModel> all;
  for (const auto& group :
       {bad_preambles(), bad_pairs(), bad_directories(), bad_parts(), bad_bindings()}) {
    all.insert(all.end(), group.begin(), group.end());
  }
  return all;
}

}  // namespace colibri::testing
