// SPDX-License-Identifier: Apache-2.0
#include "tests/bad_models/cases.h"

namespace colibri::testing {
namespace {

constexpr const char* kIndexName = "model.safetensors.index.json";

// The first bytes of the sound file.
std::function<void(TinyModel*)> cut_to(size_t bytes) {
  return [bytes](TinyModel* model) {
    model->weights = safetensors_file(model->header, model->data).substr(0, bytes);
  };
}

std::function<void(TinyModel*)> in_header(std::string from, std::string to) {
  return [from, to](TinyModel* model) { replace(&model->header, from, to); };
}

// A file whose length field says `length`.
std::function<void(TinyModel*)> header_length(uint64_t length) {
  return [length](TinyModel* model) {
    std::string file = safetensors_file(model->header, model->data);
    for (size_t i = 0; i < 8; ++i) file[i] = static_cast<char>(length >> (8 * i) & 0xff);
    model->weights = file;
  };
}

// The model in two shards, and an index that says so.
void split(TinyModel* model) {
  const std::vector<TinyTensor> all = tiny_tensors();
  const std::vector<TinyTensor> first(all.begin(), all.begin() + 8),
      second(all.begin() + 8, all.end());
  model->has_weights = false;
  model->files["a.safetensors"] = safetensors_file(header_of(first), data_of(first));
  model->files["b.safetensors"] = safetensors_file(header_of(second), data_of(second));
  std::string map;
  for (const TinyTensor& tensor : all) {
    map += (map.empty() ? "" : ",\n") + ("\"" + tensor.name + "\": \"") +
           (&tensor - all.data() < 8 ? "a" : "b") + ".safetensors\"";
  }
  model->files[kIndexName] = "{\"metadata\": {\"total_size\": 1}, \"weight_map\": {\n" + map + "}}";
}

std::function<void(TinyModel*)> in_index(std::string from, std::string to) {
  return [from, to](TinyModel* model) {
    split(model);
    replace(&model->files[kIndexName], from, to);
  };
}

std::vector<BadModel> bad_shards() {
  return {
      {"shard_missing",
       [](TinyModel* model) {
         split(model);
         model->files.erase("b.safetensors");
       },
       {},
       ""},
      {"shard_truncated",
       [](TinyModel* model) {
         split(model);
         model->files["b.safetensors"].resize(1000);
       },
       {},
       ""},
      {"shard_outside_of_the_folder",
       in_index("\"lm_head.weight\": \"b.", "\"lm_head.weight\": \"../b."),
       {},
       ""},
      {"index_names_a_tensor_that_is_not_there",
       in_index("\"lm_head.weight\"", "\"ghost\": \"a.safetensors\", \"lm_head.weight\""),
       {},
       ""},
      {"index_lacks_a_tensor", in_index(",\n\"lm_head.weight\": \"b.safetensors\"", ""), {}, ""},
      {"index_names_the_wrong_shard",
       in_index("\"lm_head.weight\": \"b.", "\"lm_head.weight\": \"a."),
       {},
       ""},
      {"tensor_in_two_shards",
       [](TinyModel* model) {
         split(model);
         const std::vector<TinyTensor> all = tiny_tensors();
         model->files["a.safetensors"] = safetensors_file(header_of(all), data_of(all));
       },
       {},
       ""},
      {"index_names_a_tensor_twice",
       in_index("\"lm_head.weight\"", "\"lm_head.weight\": \"a.safetensors\", \"lm_head.weight\""),
       {},
       ""},
      {"index_without_weight_map", in_index("weight_map", "weights"), {}, ""},
      {"index_with_two_weight_maps",
       in_index("\"metadata\": {\"total_size\": 1}", "\"weight_map\": {}"),
       {},
       ""},
      {"index_with_a_number_for_a_file",
       in_index("\"lm_head.weight\": \"b.safetensors\"", "\"lm_head.weight\": 2"),
       {},
       ""},
      {"index_is_a_list",
       [](TinyModel* model) {
         split(model);
         model->files[kIndexName] = "[]";
       },
       {},
       ""},
      {"index_empty",
       [](TinyModel* model) {
         split(model);
         model->files[kIndexName] = "";
       },
       {},
       ""},
      {"index_unterminated",
       [](TinyModel* model) {
         split(model);
         model->files[kIndexName].resize(80);
       },
       {},
       ""},
      {"index_and_another_single_file",
       [](TinyModel* model) {
         split(model);
         model->has_weights = true;
       },
       {},
       ""},
  };
}

}  // namespace

std::vector<BadModel> bad_headers() {
  std::vector<BadModel> cases = {
      {"weights_empty", cut_to(0), {}, ""},
      {"truncated_in_length", cut_to(5), {}, ""},
      {"truncated_before_header", cut_to(8), {}, ""},
      {"truncated_in_header", cut_to(500), {}, ""},
      {"truncated_behind_header", [](TinyModel* model) { model->data.clear(); }, {}, ""},
      {"truncated_in_data", [](TinyModel* model) { model->data.resize(1000); }, {}, ""},
      {"bytes_behind_the_data", [](TinyModel* model) { model->data += "tail"; }, {}, ""},
      {"header_length_zero", header_length(0), {}, ""},
      {"header_length_beyond_the_file", header_length(99999), {}, ""},
      {"header_length_beyond_the_limit", header_length(100000001), {}, ""},
      {"header_length_overflows", header_length(UINT64_MAX), {}, ""},
      {"header_length_too_short", header_length(20), {}, ""},
      {"not_safetensors_at_all",
       [](TinyModel* model) { model->weights = "PK\x03\x04 this is a zip file"; },
       {},
       ""},
      {"header_is_a_list", [](TinyModel* model) { model->header = "[1, 2, 3]"; }, {}, ""},
      {"header_empty_object", [](TinyModel* model) { model->header = "{}"; }, {}, ""},
      {"header_string_unclosed", [](TinyModel* model) { model->header = "{\"lm_head"; }, {}, ""},
      {"header_object_unclosed", [](TinyModel* model) { model->header.pop_back(); }, {}, ""},
      {"header_without_comma", in_header("},\"model.norm", "}\"model.norm"), {}, ""},
      {"header_continues_behind_its_end", [](TinyModel* model) { model->header += "{}"; }, {}, ""},
      {"header_is_not_utf8", in_header("lm_head", "lm_\xff\xfe"), {}, ""},
      {"header_with_a_wrong_escape", in_header("lm_head", "lm_\\x41"), {}, ""},
      {"header_with_half_a_surrogate", in_header("lm_head", "lm_\\ud800"), {}, ""},
      {"header_deeply_nested",
       [](TinyModel* model) {
         replace(&model->header, "[16,8]", std::string(100000, '[') + std::string(100000, ']'));
       },
       {},
       ""},
      {"header_deeply_nested_unclosed",
       [](TinyModel* model) { model->header = "{\"a\":" + std::string(100000, '['); },
       {},
       ""},
      {"metadata_with_a_number", in_header("\"pt\"", "1"), {}, ""},
      {"metadata_is_a_list", in_header("{\"format\":\"pt\"}", "[]"), {}, ""},
      {"tensor_twice", in_header("\"lm_head.weight\"", "\"model.norm.weight\""), {}, ""},
      {"tensor_is_a_number",
       in_header("\"lm_head.weight\":{", "\"scale\":3,\"lm_head.weight\":{"),
       {},
       ""},
      {"dtype_unknown", in_header("F32", "F4"), {}, ""},
      {"dtype_with_an_escape_sequence", in_header("F32", "\\u001b[31mF32"), {}, ""},
      {"dtype_is_a_number", in_header("\"F32\"", "32"), {}, ""},
      {"dtype_missing", in_header("\"dtype\":\"F32\",", ""), {}, ""},
      {"dtype_twice",
       in_header("\"dtype\":\"F32\"", "\"dtype\":\"F32\",\"dtype\":\"F16\""),
       {},
       ""},
      {"shape_missing", in_header("\"shape\":[16,8],", ""), {}, ""},
      {"offsets_missing", in_header(",\"data_offsets\":[0,512]", ""), {}, ""},
      {"key_unknown", in_header("\"dtype\"", "\"strides\":[8,1],\"dtype\""), {}, ""},
      {"shape_is_text", in_header("[16,8]", "\"16x8\""), {}, ""},
      {"shape_with_text", in_header("[16,8]", "[\"16\",8]"), {}, ""},
      {"shape_negative", in_header("[16,8]", "[-16,8]"), {}, ""},
      {"shape_fractional", in_header("[16,8]", "[16.0,8]"), {}, ""},
      {"shape_above_2_to_53", in_header("[16,8]", "[9007199254740993,8]"), {}, ""},
      {"shape_above_2_to_64", in_header("[16,8]", "[99999999999999999999,8]"), {}, ""},
      {"shape_overflows",
       in_header("[16,8]", "[4294967296,4294967296,4294967296,4294967296]"),
       {},
       ""},
      {"shape_of_five_dimensions", in_header("[16,8]", "[1,1,1,16,8]"), {}, ""},
      {"shape_times_size_is_not_bytes", in_header("[16,8]", "[16,9]"), {}, ""},
      {"dtype_times_shape_is_not_bytes", in_header("F32", "F16"), {}, ""},
      {"offsets_of_one_number", in_header("[0,512]", "[0]"), {}, ""},
      {"offsets_of_three_numbers", in_header("[0,512]", "[0,512,512]"), {}, ""},
      {"offsets_reversed", in_header("[0,512]", "[512,0]"), {}, ""},
      {"offsets_negative", in_header("[0,512]", "[-8,512]"), {}, ""},
      {"offsets_overlap", in_header("[512,544]", "[508,544]"), {}, ""},
      {"offsets_leave_a_hole", in_header("[512,544]", "[516,544]"), {}, ""},
      {"offsets_beyond_the_file", in_header("[0,512]", "[0,9007199254740992]"), {}, ""},
  };
  const std::vector<BadModel> shards = bad_shards();
  cases.insert(cases.end(), shards.begin(), shards.end());
  return cases;
}

}  // namespace colibri::testing
