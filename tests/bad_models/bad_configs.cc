// SPDX-License-Identifier: Apache-2.0
#include "tests/bad_models/cases.h"

namespace colibri::testing {
namespace {

std::function<void(TinyModel*)> in_config(std::string from, std::string to) {
  return [from, to](TinyModel* model) { replace(&model->config, from, to); };
}

std::function<void(TinyModel*)> with_config(std::string text) {
  return [text](TinyModel* model) { model->config = text; };
}

std::function<void(TinyModel*)> with_file(const char* name, std::string text) {
  return [name, text](TinyModel* model) { model->files[name] = text; };
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::vector<BadModel> bad_json() {
  return {
      {"config_empty", with_config(""), {}, ""},
      {"config_only_spaces", with_config(" \n\t "), {}, ""},
      {"config_is_a_list", with_config("[]"), {}, ""},
      {"config_is_a_number", with_config("7"), {}, ""},
      {"config_unterminated", [](TinyModel* model) { model->config.resize(100); }, {}, ""},
      {"config_unterminated_string", [](TinyModel* model) { model->config.resize(10); }, {}, ""},
      {"config_with_a_trailing_comma", in_config("[2, 3]", "[2, 3],"), {}, ""},
      {"config_without_a_comma", in_config("\"mixtral\",", "\"mixtral\""), {}, ""},
      {"config_with_text_behind", in_config("[2, 3]\n}", "[2, 3]\n} x"), {}, ""},
      {"config_with_a_comment",
       in_config("\"hidden_act\"", "// activation\n\"hidden_act\""),
       {},
       ""},
      {"config_with_nan", in_config("1e-05", "NaN"), {}, ""},
      {"config_with_infinity", in_config("1e-05", "Infinity"), {}, ""},
      {"config_with_a_leading_zero",
       in_config("\"hidden_size\": 8", "\"hidden_size\": 08"),
       {},
       ""},
      {"config_with_too_large_a_float", in_config("10000.0", "1e999"), {}, ""},
      {"config_with_too_long_an_integer",
       in_config("10000.0", "1" + std::string(400, '0')),
       {},
       ""},
      {"config_is_not_utf8", in_config("silu", "sil\xfc"), {}, ""},
      {"config_with_a_control_character", in_config("silu", "si\x01lu"), {}, ""},
      {"config_deeply_nested",
       with_config("{\"a\":" + repeated("{\"a\":", 5000) + "1" + repeated("}", 5000) + "}"),
       {},
       ""},
      {"config_deeply_nested_lists",
       with_config("{\"a\":" + std::string(5000, '[') + std::string(5000, ']') + "}"),
       {},
       ""},
      {"config_deeply_nested_unclosed", with_config(repeated("{\"a\":", 200000)), {}, ""},
      {"config_with_a_key_twice", in_config("\"hidden_size\": 8", "\"vocab_size\": 8"), {}, ""},
      {"config_with_a_long_key",
       in_config("\"hidden_act\"", "\"" + std::string(600, 'k') + "\""),
       {},
       ""},
      {"config_with_too_many_values",
       with_config("{\"a\":[" + repeated("1,", 1000000) + "1]}"),
       {},
       ""},
      {"config_too_large", with_config("{}" + std::string(16 << 20, ' ')), {}, ""},
      {"generation_config_malformed",
       with_file("generation_config.json", "{\"eos_token_id\": }"),
       {},
       ""},
      {"tokenizer_config_malformed", with_file("tokenizer_config.json", "{\"a\" 1}"), {}, ""},
  };
}

std::vector<BadModel> bad_values() {
  return {
      {"model_type_unknown", in_config("\"mixtral\"", "\"mixtrall\""), {}, ""},
      {"model_type_missing", in_config("\"model_type\"", "\"modeltype\""), {}, ""},
      {"model_type_is_a_list", in_config("\"mixtral\"", "[\"mixtral\"]"), {}, ""},
      {"key_missing", in_config("\"hidden_size\"", "\"hidden_sice\""), {}, ""},
      {"key_null", in_config("\"num_hidden_layers\": 1", "\"num_hidden_layers\": null"), {}, ""},
      {"number_as_text",
       in_config("\"num_hidden_layers\": 1", "\"num_hidden_layers\": \"1\""),
       {},
       ""},
      {"number_as_a_list",
       in_config("\"num_hidden_layers\": 1", "\"num_hidden_layers\": [1]"),
       {},
       ""},
      {"number_as_a_boolean",
       in_config("\"num_experts_per_tok\": 1", "\"num_experts_per_tok\": true"),
       {},
       ""},
      {"boolean_as_a_number",
       in_config("\"tie_word_embeddings\": false", "\"tie_word_embeddings\": 0"),
       {},
       ""},
      {"integer_as_a_float", in_config("\"hidden_size\": 8", "\"hidden_size\": 8.5"), {}, ""},
      {"integer_above_2_to_53",
       in_config("\"vocab_size\": 16", "\"vocab_size\": 9007199254740993"),
       {},
       ""},
      {"integer_above_2_to_64",
       in_config("\"vocab_size\": 16", "\"vocab_size\": 99999999999999999999"),
       {},
       ""},
      {"integer_above_2_to_31",
       in_config("\"vocab_size\": 16", "\"vocab_size\": 4294967296"),
       {},
       ""},
      {"layers_zero", in_config("\"num_hidden_layers\": 1", "\"num_hidden_layers\": 0"), {}, ""},
      {"layers_negative",
       in_config("\"num_hidden_layers\": 1", "\"num_hidden_layers\": -1"),
       {},
       ""},
      {"layers_beyond_the_tensors",
       in_config("\"num_hidden_layers\": 1", "\"num_hidden_layers\": 2147483647"),
       {},
       ""},
      {"experts_zero", in_config("\"num_local_experts\": 2", "\"num_local_experts\": 0"), {}, ""},
      {"experts_beyond_the_tensors",
       in_config("\"num_local_experts\": 2", "\"num_local_experts\": 2147483647"),
       {},
       ""},
      {"top_k_zero", in_config("\"num_experts_per_tok\": 1", "\"num_experts_per_tok\": 0"), {}, ""},
      {"top_k_above_experts",
       in_config("\"num_experts_per_tok\": 1", "\"num_experts_per_tok\": 3"),
       {},
       ""},
      {"heads_not_a_multiple_of_kv_heads",
       in_config("\"num_key_value_heads\": 1", "\"num_key_value_heads\": 3"),
       {},
       ""},
      {"kv_heads_zero",
       in_config("\"num_key_value_heads\": 1", "\"num_key_value_heads\": 0"),
       {},
       ""},
      {"hidden_not_a_multiple_of_heads",
       [](TinyModel* model) {
         replace(&model->config, "\"head_dim\": 4,", "");
         replace(&model->config, "\"num_attention_heads\": 2", "\"num_attention_heads\": 3");
       },
       {},
       ""},
      {"head_dim_odd", in_config("\"head_dim\": 4", "\"head_dim\": 3"), {}, ""},
      {"head_dim_one", in_config("\"head_dim\": 4", "\"head_dim\": 1"), {}, ""},
      {"eps_zero", in_config("1e-05", "0"), {}, ""},
      {"eps_negative", in_config("1e-05", "-1e-05"), {}, ""},
      {"eps_too_small_for_a_float", in_config("1e-05", "1e-60"), {}, ""},
      {"eps_as_text", in_config("1e-05", "\"1e-05\""), {}, ""},
      {"theta_zero", in_config("10000.0", "0.0"), {}, ""},
      {"theta_too_large_for_a_float", in_config("10000.0", "1e60"), {}, ""},
      {"window_zero", in_config("\"sliding_window\": null", "\"sliding_window\": 0"), {}, ""},
      {"window_negative", in_config("\"sliding_window\": null", "\"sliding_window\": -4"), {}, ""},
      {"rope_scaling_not_covered",
       in_config("\"rope_theta\"",
                 "\"rope_scaling\": {\"type\": \"longrope\", \"factor\": 4}, \"rope_theta\""),
       {},
       ""},
      {"activation_not_covered", in_config("silu", "gelu"), {}, ""},
      {"quantization_not_covered",
       in_config("\"rope_theta\"", "\"quantization_config\": {\"bits\": 4}, \"rope_theta\""),
       {},
       ""},
      {"eos_beyond_the_vocabulary", in_config("[2, 3]", "[2, 16]"), {}, ""},
      {"eos_negative", in_config("[2, 3]", "-1"), {}, ""},
      {"eos_as_text", in_config("[2, 3]", "\"</s>\""), {}, ""},
      {"eos_in_nested_lists", in_config("[2, 3]", "[[2, 3]]"), {}, ""},
      {"generation_eos_beyond_the_vocabulary",
       with_file("generation_config.json", "{\"eos_token_id\": 99}"),
       {},
       ""},
      {"bos_as_a_float", in_config("\"bos_token_id\": 1", "\"bos_token_id\": 1.5"), {}, ""},
      {"several_problems_at_once",
       [](TinyModel* model) {
         replace(&model->config, "silu", "gelu");
         replace(&model->config, "\"num_hidden_layers\": 1", "\"num_hidden_layers\": \"1\"");
         replace(&model->config, "\"num_experts_per_tok\": 1", "\"num_experts_per_tok\": 3");
         replace(&model->config, "\"rms_norm_eps\"", "\"norm_eps\"");
         replace(&model->config, "[2, 3]", "77");
       },
       {},
       ""},
  };
}

}  // namespace

std::vector<BadModel> bad_configs() {
  std::vector<BadModel> cases = bad_json();
  const std::vector<BadModel> values = bad_values();
  cases.insert(cases.end(), values.begin(), values.end());
  return cases;
}

}  // namespace colibri::testing
