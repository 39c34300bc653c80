// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "tests/conformance/questions.h"

namespace colibri::conformance {
namespace {

struct Epilogue {
  uint32_t epilogue, activation, output_dtype;
  bool bias = false, scattered = false;  // scattered = rows of output through output_index
  float clamp = 0, alpha = 0, up_offset = 0;
};

struct Product {
  uint32_t codec;         // of the packed weights
  uint32_t source_codec;  // of the weights before packing
  int64_t rows, cols;     // of each weight
  std::vector<int64_t> group_rows;
  bool indexed;  // input rows through row_index, in any order and repeated
  Epilogue epilogue;
  Style style;
};

// Rows of input: f32, or prepared from f32 by the rules that quantize_rows is checked for.
Rows make_input(Random& random, const Product& p, int64_t rows) {
  const std::vector<float> numbers = make_rows(random, p.style, rows, p.cols);
  if (!is_quantised(p.codec)) return Rows(numbers, p.cols, 4);
  Rows prepared(COLIBRI_CODEC_Q8_32, rows, p.cols);
  for (int64_t row = 0; row < rows; ++row) {
    uint8_t* bytes = prepared.memory().data() + row * prepared.tensor().stride[0];
    for (int64_t block = 0; block < p.cols / 32; ++block) {
      int16_t sum[2] = {};
      for (int64_t i = 0; i < 32; ++i) {
        const auto q = static_cast<int8_t>(p.style == Style::kPlain ? random.below(255) - 127
                                           : row % 2 == 0           ? 127
                                                                    : -127);
        bytes[block * 32 + i] = static_cast<uint8_t>(q);
        sum[i / 16] = static_cast<int16_t>(sum[i / 16] + q);
      }
      const float scale = std::abs(numbers[static_cast<size_t>(row * p.cols + block * 32)]);
      std::memcpy(bytes + p.cols + block * 4, &scale, 4);
      std::memcpy(bytes + p.cols + p.cols / 32 * 4 + block * 4, sum, 4);
    }
  }
  return prepared;
}

std::string name_of(const Product& p) {
  std::string name = std::string(codec_name(p.codec)) + " from " + codec_name(p.source_codec) +
                     " " + shape_text(p.rows, p.cols);
  name += p.epilogue.epilogue == COLIBRI_EPILOGUE_GATED ? ", gated" : "";
  name += p.epilogue.activation == COLIBRI_ACTIVATION_SILU      ? " silu"
          : p.epilogue.activation == COLIBRI_ACTIVATION_SIGMOID ? " sigmoid"
                                                                : "";
  name += p.epilogue.bias ? ", bias" : "";
  if (p.epilogue.clamp != 0) name += ", clamp " + std::to_string(p.epilogue.clamp);
  if (p.epilogue.alpha != 0) name += ", alpha " + std::to_string(p.epilogue.alpha);
  if (p.epilogue.up_offset != 0) name += ", up offset " + std::to_string(p.epilogue.up_offset);
  name += std::string(" to ") + codec_name(p.epilogue.output_dtype) + ", rows";
  for (int64_t rows : p.group_rows) name += " " + std::to_string(rows);
  name += p.epilogue.scattered ? ", scattered" : "";
  return name + (p.indexed ? ", indexed, " : ", ") + style_name(p.style);
}

void check_product(Checker& checker, Random& random, const Product& p) {
  const bool gated = p.epilogue.epilogue == COLIBRI_EPILOGUE_GATED;
  const size_t weights_per_group = gated ? 2 : 1;
  Question question;
  question.op = COLIBRI_OP_GROUPED_MATMUL;
  question.name = name_of(p);
  colibri_grouped_matmul_attributes attributes = {};
  attributes.epilogue = p.epilogue.epilogue;
  attributes.activation = p.epilogue.activation;
  attributes.input_dtype = is_quantised(p.codec) ? COLIBRI_CODEC_Q8_32 : COLIBRI_CODEC_F32;
  attributes.output_dtype = p.epilogue.output_dtype;
  attributes.bias = p.epilogue.bias ? 1 : 0;
  attributes.clamp = p.epilogue.clamp;
  if (p.epilogue.clamp != 0) question.magnitude = 8;
  question.magnifies =
      p.style != Style::kPlain && (p.epilogue.clamp != 0 || p.epilogue.epilogue != 0 ||
                                   p.epilogue.activation != COLIBRI_ACTIVATION_NONE);
  attributes.alpha = p.epilogue.alpha;
  attributes.up_offset = p.epilogue.up_offset;
  question.set_attributes(attributes);
  question.weights.assign(weights_per_group, weight_description(p.codec, p.rows, p.cols));
  for (size_t i = 0; i < std::max<size_t>(p.group_rows.size(), 1) * weights_per_group; ++i) {
    SourceMatrix weight = make_weight(random, p.source_codec, p.rows, p.cols);
    if (p.style == Style::kNotFinite) {  // the last output column: NaN weights, or NaN scales
      std::memset(weight.bytes.data() + (p.rows - 1) * weight.stride, 0xFF,
                  static_cast<size_t>(weight.stride));
    }
    question.sources.push_back(std::move(weight));
  }
  // product rows begin at 2 when they are indexed: what is before and after the groups must stay as
  // it is
  std::vector<int64_t> group_begin = {p.indexed ? 2 : 0};
  for (int64_t rows : p.group_rows) group_begin.push_back(group_begin.back() + rows);
  const int64_t output_rows = group_begin.back() + 1;
  const int64_t input_rows = p.indexed ? 5 : output_rows;
  question.max_rows = output_rows;
  std::vector<int32_t> row_index(static_cast<size_t>(output_rows));
  for (int32_t& i : row_index) i = static_cast<int32_t>(random.below(input_rows));
  const Rows input = make_input(random, p, input_rows);
  const auto weights_in_all = static_cast<int64_t>(question.sources.size());
  const Rows bias(
      p.epilogue.bias ? make_rows(random, p.style, weights_in_all, p.rows) : std::vector<float>(),
      p.rows, 4);
  // the output has more rows than there are products, and takes them in descending order
  std::vector<int32_t> output_index(static_cast<size_t>(output_rows));
  for (size_t i = 0; i < output_index.size(); ++i)
    output_index[i] = static_cast<int32_t>(output_rows + 1 - static_cast<int64_t>(i));

  checker.check(question, [&](const std::vector<colibri_tensor>& weights, const RunCall& run) {
    auto call = arguments<colibri_grouped_matmul_args>();
    const Rows output(p.epilogue.output_dtype, output_rows + (p.epilogue.scattered ? 2 : 0), p.rows,
                      64);
    std::vector<colibri_tensor> biases;
    for (int64_t i = 0; i < bias.tensor().shape[0]; ++i) {
      biases.push_back(
          matrix(COLIBRI_CODEC_F32, p.rows, 1, bias.memory().data() + i * bias.tensor().stride[0]));
      biases.back().rank = 1;
    }
    std::vector<colibri_tensor> used = weights;
    for (size_t group = 0; group < p.group_rows.size();
         ++group) {  // weights and biases of an empty group may be anywhere
      for (size_t i = 0; i < weights_per_group && p.group_rows[group] == 0; ++i) {
        used[group * weights_per_group + i].buffer = nullptr;
        if (p.epilogue.bias) biases[group * weights_per_group + i].buffer = nullptr;
      }
    }
    call.weights_per_group = static_cast<uint32_t>(weights_per_group);
    call.groups = static_cast<int64_t>(p.group_rows.size());
    call.group_begin = group_begin.data();
    call.row_index = p.indexed ? row_index.data() : nullptr;
    call.weight = used.data();
    call.input = input.tensor();
    call.output = output.tensor();
    call.bias = p.epilogue.bias ? biases.data() : nullptr;
    call.output_index = p.epilogue.scattered ? output_index.data() : nullptr;
    run(&call);
    return std::vector<Output>{{"output", output}};
  });
}

void check_decoded_codec(Checker& checker, Random& random, uint32_t codec) {
  const Epilogue none = {COLIBRI_EPILOGUE_NONE, COLIBRI_ACTIVATION_NONE, COLIBRI_CODEC_F32};
  const Epilogue gated = {COLIBRI_EPILOGUE_GATED, COLIBRI_ACTIVATION_SILU, COLIBRI_CODEC_F32};
  const Epilogue prepared = {COLIBRI_EPILOGUE_GATED, COLIBRI_ACTIVATION_SILU, COLIBRI_CODEC_Q8_32};
  const int64_t width = codec_facts(codec)->elements;
  check_product(checker, random,
                {codec, codec, 64, width, {0, 3, 0, 1, 5, 0}, true, prepared, Style::kPlain});
  check_product(checker, random, {codec, codec, 37, width, {2, 0, 1}, true, gated, Style::kPlain});
  check_product(checker, random,
                {codec, codec, 20, 3 * width, {4, 1}, true, none, Style::kNotFinite});
  for (const int64_t rows : {1, 8, 9, 17, 24, 33, 65}) {
    check_product(checker, random,
                  {codec, codec, rows, width, {rows % 7}, rows % 2 == 0, none, Style::kPlain});
  }
  if (checker.quick()) return;
  for (const int64_t tokens : {1, 4, 65}) {
    for (const Style style : {Style::kPlain, Style::kExtreme}) {
      check_product(checker, random,
                    {codec, codec, 41, 5 * width, {tokens}, tokens == 4, none, style});
    }
  }
}

// Whether packing makes weights of this codec out of floats.
bool can_be_made(uint32_t codec) {
  return !is_quantised(codec) || codec == COLIBRI_CODEC_Q8_0 || codec == COLIBRI_CODEC_Q4_0 ||
         codec == COLIBRI_CODEC_Q4_1 || codec == COLIBRI_CODEC_Q5_0 || codec == COLIBRI_CODEC_Q5_1;
}

// Every option on its own and all together, over rows and columns that leave tails.
void check_options(Checker& checker, Random& random, uint32_t codec) {
  constexpr uint32_t kF32 = COLIBRI_CODEC_F32;
  constexpr uint32_t kSilu = COLIBRI_ACTIVATION_SILU;
  constexpr uint32_t kGated = COLIBRI_EPILOGUE_GATED;
  const Epilogue options[] = {
      {0, 0, kF32, true},
      {0, 0, kF32, false, true},
      {0, 0, kF32, false, false, 0.25f},
      {0, 0, kF32, true, true, 0.25f},
      {0, COLIBRI_ACTIVATION_SIGMOID, kF32},
      {0, COLIBRI_ACTIVATION_SIGMOID, kF32, false, false, 0.25f},
      {0, COLIBRI_ACTIVATION_SIGMOID, kF32, true, true},
      {kGated, kSilu, kF32, true},
      {kGated, kSilu, kF32, false, false, 0.25f},
      {kGated, 0, kF32, false, true, 0.25f},
      {kGated, kSilu, kF32, false, false, 0, 1.702f},
      {kGated, kSilu, kF32, false, false, 0, 0, 1},
      {kGated, 0, kF32, false, false, 0, 0, -0.5f},
      {kGated, kSilu, kF32, true, true, 7, 1.702f, 1},
      {kGated, kSilu, COLIBRI_CODEC_Q8_32, true, false, 0.25f, 1.702f, 1},
  };
  const int64_t width = least_width(codec);
  for (const Epilogue& epilogue : options) {
    const int64_t rows = epilogue.output_dtype == kF32 ? 45 : 64;
    for (Style style : {Style::kPlain, Style::kExtreme, Style::kNotFinite}) {
      check_product(checker, random,
                    {codec, codec, rows, 2 * width, {3, 0, 1, 6}, true, epilogue, style});
      if (checker.quick()) continue;
      check_product(checker, random, {codec, codec, rows, width, {1}, false, epilogue, style});
      check_product(checker, random,
                    {codec, codec, rows + 96, width, {67}, false, epilogue, style});
    }
  }
}

}  // namespace

void check_grouped_matmul(Checker& checker) {
  Random random(4);
  const Epilogue none = {COLIBRI_EPILOGUE_NONE, COLIBRI_ACTIVATION_NONE, COLIBRI_CODEC_F32};
  const Epilogue gated = {COLIBRI_EPILOGUE_GATED, COLIBRI_ACTIVATION_SILU, COLIBRI_CODEC_F32};
  const Epilogue linear = {COLIBRI_EPILOGUE_GATED, COLIBRI_ACTIVATION_NONE, COLIBRI_CODEC_F32};
  const Epilogue prepared = {COLIBRI_EPILOGUE_GATED, COLIBRI_ACTIVATION_SILU, COLIBRI_CODEC_Q8_32};
  for (uint32_t codec : weight_codecs()) {
    const int64_t width = least_width(codec);
    // experts: some empty, gathered rows, all epilogues
    check_product(checker, random,
                  {codec, codec, 64, 2 * width, {0, 3, 0, 1, 5, 0}, true, prepared, Style::kPlain});
    check_product(checker, random,
                  {codec, codec, 37, width, {2, 0, 1}, true, gated, Style::kPlain});
    check_product(checker, random, {codec, codec, 13, width, {1}, false, linear, Style::kExtreme});
    check_product(checker, random,
                  {codec, codec, 20, 3 * width, {4, 1}, true, none, Style::kNotFinite});
    check_product(checker, random,
                  {codec, codec, 96, width, {3, 70}, true, prepared, Style::kNotFinite});
    check_product(checker, random, {codec, codec, 8, width, {0}, false, none, Style::kPlain});
    check_product(checker, random, {codec, codec, 8, width, {}, false, none, Style::kPlain});
    // every number of panels up to 17, so that streams and their tails are all met
    for (int64_t rows = 1; rows <= 136; rows += checker.quick() ? 19 : 5) {
      check_product(checker, random,
                    {codec,
                     codec,
                     rows,
                     width,
                     {rows % 3 == 0 ? 1 : rows % 7},
                     rows % 2 == 0,
                     none,
                     Style::kPlain});
    }
    // many tokens at once, over columns enough for kernels that take them in strips, and over panels
    // that do not fill their vectors
    const int64_t wide = width > 32 ? 5 * width : 35 * width;
    check_product(checker, random,
                  {codec, codec, 96, wide, {9, 18}, true, prepared, Style::kPlain});
    check_product(checker, random, {codec, codec, 41, wide, {11}, false, none, Style::kExtreme});
    for (const int64_t rows : {5, 12, 21, 30, 37}) {
      check_product(checker, random,
                    {codec, codec, rows, width, {8 + rows % 4}, true, none, Style::kNotFinite});
    }
    for (uint32_t source : kFloatCodecs) {
      if (source != codec && can_be_made(codec))
        check_product(checker, random,
                      {codec, source, 21, 2 * width, {2}, false, none, Style::kPlain});
    }
    // where chains and blocks of a sum of floats end
    if (!is_quantised(codec)) {
      for (const int64_t cols : {1, 7, 9, 63, 64, 65, 72, 135}) {
        check_product(checker, random, {codec, codec, 21, cols, {1, 9}, true, none, Style::kPlain});
      }
    }
    // the options see sums, whatever codec they come from
    if (can_be_made(codec)) check_options(checker, random, codec);
    if (checker.quick()) continue;
    // a wide block has all kinds of neighbours in itself
    const std::vector<int64_t> blocks =
        width > 32 ? std::vector<int64_t>{2} : std::vector<int64_t>{1, 3, 5};
    for (int64_t cols : blocks) {
      for (int64_t tokens : {1, 2, 3, 4, 5, 13, 33, 64, 65, 130}) {
        for (Style style : {Style::kPlain, Style::kExtreme, Style::kNotFinite}) {
          check_product(checker, random,
                        {codec, codec, 41, cols * width, {tokens}, tokens % 2 == 0, none, style});
          check_product(
              checker, random,
              {codec, codec, 160, cols * width, {tokens}, tokens % 2 == 0, prepared, style});
        }
      }
    }
    check_product(checker, random,
                  {codec, codec, 4200, width, {1, 2, 64}, true, gated, Style::kPlain});
  }
  for (const uint32_t codec : kDecodedCodecs) check_decoded_codec(checker, random, codec);
}

}  // namespace colibri::conformance
