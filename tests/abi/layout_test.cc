// SPDX-License-Identifier: Apache-2.0
// Every struct and constant of the frozen headers, as layout_v1.txt has it. A line that changes or
// goes breaks plugins that exist; a line that is added at the end of a struct is how the ABI grows.
#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>

#include "colibri/cache_policy.h"
#include "colibri/format.h"
#include "colibri/sampler.h"
#include "colibri/tokenizer.h"

namespace {

class Layout {
 public:
  template <typename T>
  void begin(const char* name) {
    finish();
    text_ << name << " size " << sizeof(T) << " alignment " << alignof(T) << "\n";
    size_ = sizeof(T);
    alignment_ = alignof(T);
    end_ = 0;
    name_ = name;
  }
  void field(const char* name, size_t offset, size_t size) {
    text_ << "  " << name << " at " << offset << " size " << size << "\n";
    EXPECT_GE(offset, end_) << name_ << "." << name << " is not listed in order";
    EXPECT_LT(offset - end_, 8u) << "a field in front of " << name_ << "." << name
                                 << " is not listed";
    end_ = offset + size;
  }
  void finish() {
    const size_t rounded = (end_ + alignment_ - 1) / alignment_ * alignment_;
    EXPECT_EQ(rounded, size_) << "a field at the end of " << name_ << " is not listed";
  }
  void constant(const char* name, long long value) { text_ << name << " = " << value << "\n"; }
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  size_t size_ = 0, alignment_ = 1, end_ = 0;
  std::string name_;
};

#define STRUCT(type) \
  using Type = type; \
  layout.begin<Type>(#type)
#define FIELD(name) layout.field(#name, offsetof(Type, name), sizeof(Type::name))
#define CONSTANT(name) layout.constant(#name, static_cast<long long>(name))

void plugin_h(Layout& layout) {
  CONSTANT(COLIBRI_ABI_MAJOR);
  CONSTANT(COLIBRI_OK);
  CONSTANT(COLIBRI_INVALID_ARGUMENT);
  CONSTANT(COLIBRI_UNSUPPORTED);
  CONSTANT(COLIBRI_NOT_FOUND);
  CONSTANT(COLIBRI_CORRUPT_DATA);
  CONSTANT(COLIBRI_OUT_OF_MEMORY);
  CONSTANT(COLIBRI_IO);
  CONSTANT(COLIBRI_DEVICE_LOST);
  CONSTANT(COLIBRI_CANCELLED);
  CONSTANT(COLIBRI_INTERNAL);
  CONSTANT(COLIBRI_VALUE_NONE);
  CONSTANT(COLIBRI_VALUE_BOOL);
  CONSTANT(COLIBRI_VALUE_INT);
  CONSTANT(COLIBRI_VALUE_FLOAT);
  CONSTANT(COLIBRI_VALUE_STRING);
  CONSTANT(COLIBRI_VALUE_ARRAY);
  CONSTANT(COLIBRI_LOG_DEBUG);
  CONSTANT(COLIBRI_LOG_INFO);
  CONSTANT(COLIBRI_LOG_WARNING);
  CONSTANT(COLIBRI_LOG_ERROR);
  {
    STRUCT(colibri_error);
    FIELD(struct_size);
    FIELD(code);
    FIELD(text);
  }
  {
    STRUCT(colibri_str);
    FIELD(data);
    FIELD(size);
  }
  {
    STRUCT(colibri_value);
    FIELD(struct_size);
    FIELD(kind);
    FIELD(i);
    FIELD(f);
    FIELD(s);
    FIELD(n);
  }
  {
    STRUCT(colibri_math);
    FIELD(struct_size);
    FIELD(exp);
    FIELD(log);
    FIELD(pow);
    FIELD(sincos);
  }
  {
    STRUCT(colibri_host);
    FIELD(struct_size);
    FIELD(abi_minor);
    FIELD(context);
    FIELD(math);
    FIELD(log);
    FIELD(option);
  }
  {
    STRUCT(colibri_plugin);
    FIELD(struct_size);
    FIELD(abi_minor);
    FIELD(id);
    FIELD(version);
    FIELD(open);
    FIELD(close);
    FIELD(get_interface);
  }
}

void codec_h(Layout& layout) {
  CONSTANT(COLIBRI_CODEC_NONE);
  CONSTANT(COLIBRI_CODEC_F32);
  CONSTANT(COLIBRI_CODEC_F16);
  CONSTANT(COLIBRI_CODEC_BF16);
  CONSTANT(COLIBRI_CODEC_I32);
  CONSTANT(COLIBRI_CODEC_I8);
  CONSTANT(COLIBRI_CODEC_U8);
  CONSTANT(COLIBRI_CODEC_F64);
  CONSTANT(COLIBRI_CODEC_I16);
  CONSTANT(COLIBRI_CODEC_I64);
  CONSTANT(COLIBRI_CODEC_BOOL);
  CONSTANT(COLIBRI_CODEC_F8_E4M3);
  CONSTANT(COLIBRI_CODEC_F8_E5M2);
  CONSTANT(COLIBRI_CODEC_U16);
  CONSTANT(COLIBRI_CODEC_U32);
  CONSTANT(COLIBRI_CODEC_U64);
  CONSTANT(COLIBRI_CODEC_Q8_0);
  CONSTANT(COLIBRI_CODEC_Q4_0);
  CONSTANT(COLIBRI_CODEC_Q4_1);
  CONSTANT(COLIBRI_CODEC_Q5_0);
  CONSTANT(COLIBRI_CODEC_Q5_1);
  CONSTANT(COLIBRI_CODEC_Q2_K);
  CONSTANT(COLIBRI_CODEC_Q3_K);
  CONSTANT(COLIBRI_CODEC_Q4_K);
  CONSTANT(COLIBRI_CODEC_Q5_K);
  CONSTANT(COLIBRI_CODEC_Q6_K);
  CONSTANT(COLIBRI_CODEC_IQ4_NL);
  CONSTANT(COLIBRI_CODEC_IQ4_XS);
  CONSTANT(COLIBRI_CODEC_MXFP4);
  CONSTANT(COLIBRI_CODEC_F8_E4M3_128);
  CONSTANT(COLIBRI_CODEC_Q8_32);
}

void tokenizer_h(Layout& layout) {
  CONSTANT(COLIBRI_ENCODE_PARSE_SPECIAL);
  CONSTANT(COLIBRI_ENCODE_ADD_SPECIAL);
  {
    STRUCT(colibri_resource);
    FIELD(struct_size);
    FIELD(name);
    FIELD(bytes);
  }
  {
    STRUCT(colibri_tokenizer_1);
    FIELD(struct_size);
    FIELD(accepts);
    FIELD(create);
    FIELD(compile);
    FIELD(open_compiled);
    FIELD(destroy);
    FIELD(vocabulary);
    FIELD(encode);
    FIELD(token_bytes);
    FIELD(token_id);
    FIELD(is_special);
    FIELD(special);
    FIELD(decode_state_bytes);
    FIELD(decode_next);
    FIELD(decode_finish);
  }
}

void format_h(Layout& layout) {
  CONSTANT(COLIBRI_WHOLE);
  {
    STRUCT(colibri_file);
    FIELD(struct_size);
    FIELD(count);
    FIELD(name);
    FIELD(size);
    FIELD(read);
    FIELD(host);
  }
  {
    STRUCT(colibri_tensor_entry);
    FIELD(struct_size);
    FIELD(name);
    FIELD(codec);
    FIELD(layout);
    FIELD(rank);
    FIELD(shape);
    FIELD(file);
    FIELD(offset);
    FIELD(bytes);
    FIELD(checksum);
  }
  {
    STRUCT(colibri_format_1);
    FIELD(struct_size);
    FIELD(accepts);
    FIELD(open);
    FIELD(close);
    FIELD(vocabulary);
    FIELD(tensor_count);
    FIELD(tensor);
    FIELD(metadata);
    FIELD(metadata_count);
    FIELD(metadata_key);
    FIELD(resource);
  }
}

void cache_policy_h(Layout& layout) {
  {
    STRUCT(colibri_cache_shape);
    FIELD(struct_size);
    FIELD(layers);
    FIELD(experts);
    FIELD(top_k);
    FIELD(classes);
    FIELD(class_of_layer);
    FIELD(slots);
  }
  {
    STRUCT(colibri_cache_policy_1);
    FIELD(struct_size);
    FIELD(state_bytes);
    FIELD(create);
    FIELD(on_access);
    FIELD(on_insert);
    FIELD(victims);
    FIELD(on_evict);
    FIELD(resize);
  }
}

void sampler_h(Layout& layout) {
  {
    STRUCT(colibri_candidates);
    FIELD(struct_size);
    FIELD(sorted);
    FIELD(id);
    FIELD(logit);
    FIELD(n);
  }
  {
    STRUCT(colibri_sampler_1);
    FIELD(struct_size);
    FIELD(state_bytes);
    FIELD(create);
    FIELD(accept);
    FIELD(apply);
    FIELD(reset);
  }
}

TEST(LayoutTest, IsAsItWasFrozen) {
  Layout layout;
  plugin_h(layout);
  codec_h(layout);
  tokenizer_h(layout);
  format_h(layout);
  cache_policy_h(layout);
  sampler_h(layout);
  layout.finish();
  std::ifstream file("tests/abi/layout_v1.txt");
  std::ostringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(layout.text(), golden.str());
}

}  // namespace
