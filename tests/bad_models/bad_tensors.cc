// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "tests/bad_models/cases.h"

namespace colibri::testing {
namespace {

// The model with these tensors.
void use(TinyModel* model, const std::vector<TinyTensor>& tensors) {
  model->header = header_of(tensors);
  model->data = data_of(tensors);
}

std::function<void(TinyModel*)> with_shape(size_t tensor, std::vector<int64_t> shape) {
  return [tensor, shape](TinyModel* model) {
    std::vector<TinyTensor> tensors = tiny_tensors();
    tensors[tensor].shape = shape;
    use(model, tensors);
  };
}

std::function<void(TinyModel*)> without(size_t first, size_t count) {
  return [first, count](TinyModel* model) {
    std::vector<TinyTensor> tensors = tiny_tensors();
    tensors.erase(tensors.begin() + static_cast<ptrdiff_t>(first),
                  tensors.begin() + static_cast<ptrdiff_t>(first + count));
    use(model, tensors);
  };
}

std::function<void(TinyModel*)> with_more(std::vector<std::string> names) {
  return [names](TinyModel* model) {
    std::vector<TinyTensor> tensors = tiny_tensors();
    for (const std::string& name : names) tensors.push_back({name, {2}});
    use(model, tensors);
  };
}

// Overwrites four bytes of the data.
std::function<void(TinyModel*)> with_number(size_t offset, uint32_t bits) {
  return [offset, bits](TinyModel* model) {
    std::memcpy(model->data.data() + offset, &bits, sizeof(bits));
  };
}

// The embedding in another data type, two of its bytes overwritten.
std::function<void(TinyModel*)> with_dtype(std::string dtype, size_t offset, uint16_t bits) {
  return [dtype, offset, bits](TinyModel* model) {
    std::vector<TinyTensor> tensors = tiny_tensors();
    tensors[0].dtype = dtype;
    use(model, tensors);
    std::memcpy(model->data.data() + offset, &bits, sizeof(bits));
  };
}

}  // namespace

std::vector<BadModel> bad_tensors() {
  const size_t head = tiny_tensors().size() - 1;
  std::vector<std::string> many;
  for (int i = 0; i < 11; ++i) many.push_back("vision." + std::to_string(i) + ".bias");
  return {
      {"tensor_missing", without(2, 1), {}, ""},
      {"expert_missing", without(11, 3), {}, ""},
      {"head_missing_and_not_tied", without(head, 1), {}, ""},
      {"many_tensors_missing", without(0, head - 2), {}, ""},
      {"tensor_unused", with_more({"model.layers.0.self_attn.q_norm.weight"}), {}, ""},
      {"tensors_unused", with_more(many), {}, ""},
      {"layer_beyond_the_config", with_more({"model.layers.1.input_layernorm.weight"}), {}, ""},
      {"tensor_with_a_control_character",
       [](TinyModel* model) { replace(&model->header, "lm_head", "lm\\n\\u001b[2Jhead"); },
       {},
       ""},
      {"shape_transposed", with_shape(3, {8, 4}), {}, ""},
      {"shape_of_another_head_count", with_shape(2, {12, 8}), {}, ""},
      {"shape_of_another_vocabulary", with_shape(0, {17, 8}), {}, ""},
      {"shape_of_another_expert_count", with_shape(7, {3, 8}), {}, ""},
      {"norm_as_a_matrix", with_shape(1, {1, 8}), {}, ""},
      {"matrix_as_a_vector", with_shape(2, {64}), {}, ""},
      {"tensor_without_elements", with_shape(2, {0, 8}), {}, ""},
      {"tensor_without_dimensions", with_shape(1, {}), {}, ""},
      {"weights_as_integers",
       [](TinyModel* model) { replace(&model->header, "F32", "I32"); },
       {},
       ""},
      {"weights_as_f64", with_dtype("F64", 0, 0), {}, ""},
      {"weight_nan", with_number(5 * 4, 0x7fc00000), {}, ""},
      {"weight_infinite", with_number(700 * 4, 0xff800000), {}, ""},
      {"weight_nan_in_f16", with_dtype("F16", 6, 0xfe00), {}, ""},
      {"weight_infinite_in_bf16", with_dtype("BF16", 254, 0x7f80), {}, ""},
  };
}

}  // namespace colibri::testing
