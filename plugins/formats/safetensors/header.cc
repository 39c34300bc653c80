// SPDX-License-Identifier: Apache-2.0
#include "plugins/formats/safetensors/header.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "plugins/common/format_files.h"
#include "plugins/formats/safetensors/json.h"
#include "runtime/base/utf8.h"

namespace colibri::safetensors {
namespace {

using plugin::file_name;
using plugin::read_bytes;

namespace od = simdjson::ondemand;

struct DataType {
  std::string_view name;
  uint32_t codec;
};

constexpr DataType kDataTypes[] = {
    {"F32", COLIBRI_CODEC_F32},         {"F16", COLIBRI_CODEC_F16},
    {"BF16", COLIBRI_CODEC_BF16},       {"F64", COLIBRI_CODEC_F64},
    {"I8", COLIBRI_CODEC_I8},           {"I16", COLIBRI_CODEC_I16},
    {"I32", COLIBRI_CODEC_I32},         {"I64", COLIBRI_CODEC_I64},
    {"U8", COLIBRI_CODEC_U8},           {"U16", COLIBRI_CODEC_U16},
    {"U32", COLIBRI_CODEC_U32},         {"U64", COLIBRI_CODEC_U64},
    {"BOOL", COLIBRI_CODEC_BOOL},       {"F8_E4M3", COLIBRI_CODEC_F8_E4M3},
    {"F8_E5M2", COLIBRI_CODEC_F8_E5M2},
};

Status set_data_type(std::string_view name, Tensor* tensor) {
  std::string known;
  for (const DataType& type : kDataTypes) {
    if (type.name == name) {
      tensor->codec = type.codec;
      return {};
    }
    known += (known.empty() ? "" : ", ") + std::string(type.name);
  }
  return unsupported("dtype " + utf8::printable(name) + " is not known; known are " + known);
}

// Reads the header of one file; the file is named in every message.
class HeaderReader {
 public:
  HeaderReader(std::string name, std::string json) : text_(std::move(name), std::move(json)) {}

  Result<std::vector<Tensor>> read() {
    od::object root;
    COLIBRI_TRY(text_.open(&root));
    for (auto member : root) {
      od::field field;
      COLIBRI_TRY(check(std::move(member).get(field), "is not an object"));
      std::string_view key;
      COLIBRI_TRY(check(field.unescaped_key().get(key), "has a wrong key"));
      if (!names_.emplace(key).second) {
        return corrupt_data(text_.name() + ": " + utf8::printable(key) + " stands twice");
      }
      if (key == "__metadata__") {
        COLIBRI_TRY(skip_metadata(field.value()));
      } else {
        COLIBRI_TRY(read_tensor(std::string(key), field.value()));
      }
    }
    COLIBRI_TRY(text_.close());
    return std::move(tensors_);
  }

 private:
  Status check(simdjson::error_code code, const std::string& expected) {
    return code == simdjson::SUCCESS ? Status() : text_.failed(code, expected);
  }

  Status wrong(const Tensor& tensor, const Status& status) const {
    return {status.code(),
            text_.name() + ": tensor " + utf8::printable(tensor.name) + ": " + status.text()};
  }

  // Free text of whoever wrote the file, in strings; nothing of it describes the tensors.
  Status skip_metadata(od::value value) {
    od::object object;
    COLIBRI_TRY(check(value.get_object().get(object), "__metadata__ is not an object"));
    for (auto member : object) {
      od::field field;
      COLIBRI_TRY(check(std::move(member).get(field), "__metadata__ is not an object"));
      std::string_view text;
      COLIBRI_TRY(check(field.unescaped_key().get(text), "has a wrong key"));
      COLIBRI_TRY(check(field.value().get_string().get(text),
                        "__metadata__ holds a value that is not a string"));
    }
    return {};
  }

  Status read_tensor(std::string name, od::value value) {
    Tensor tensor;
    tensor.name = std::move(name);
    const std::string place = "tensor " + utf8::printable(tensor.name);
    od::object object;
    COLIBRI_TRY(check(value.get_object().get(object), place + " is not an object"));
    bool have_type = false, have_shape = false, have_offsets = false;
    for (auto member : object) {
      od::field field;
      COLIBRI_TRY(check(std::move(member).get(field), place + " is not an object"));
      std::string_view key;
      COLIBRI_TRY(check(field.unescaped_key().get(key), "has a wrong key"));
      bool* have = key == "dtype"          ? &have_type
                   : key == "shape"        ? &have_shape
                   : key == "data_offsets" ? &have_offsets
                                           : nullptr;
      if (have == nullptr) {
        return wrong(tensor, corrupt_data("the key " + utf8::printable(key) +
                                          " is not known; known are dtype, shape, data_offsets"));
      }
      if (*have) return wrong(tensor, corrupt_data(std::string(key) + " stands twice"));
      if (key == "dtype") {
        std::string_view type;
        COLIBRI_TRY(check(field.value().get_string().get(type), place + ": dtype is no string"));
        if (const Status s = set_data_type(type, &tensor); !s.ok()) return wrong(tensor, s);
      } else if (key == "shape") {
        COLIBRI_TRY(read_shape(field.value(), &tensor));
      } else {
        COLIBRI_TRY(read_offsets(field.value(), &tensor));
      }
      *have = true;
    }
    for (const auto& [have, key] : {std::pair(have_type, "dtype"), std::pair(have_shape, "shape"),
                                    std::pair(have_offsets, "data_offsets")}) {
      if (!have) return wrong(tensor, corrupt_data(std::string(key) + " is missing"));
    }
    tensors_.push_back(std::move(tensor));
    return {};
  }

  Status read_shape(od::value value, Tensor* tensor) {
    return read_list("shape", value, *tensor, [&](uint64_t number) -> Status {
      if (tensor->rank == tensor->shape.size()) {
        return unsupported("has more than 4 dimensions");
      }
      tensor->shape[tensor->rank++] = static_cast<int64_t>(number);
      return {};
    });
  }

  Status read_offsets(od::value value, Tensor* tensor) {
    int count = 0;
    COLIBRI_TRY(read_list("data_offsets", value, *tensor, [&](uint64_t number) -> Status {
      if (count == 2) return corrupt_data("data_offsets has more than two numbers");
      (count++ == 0 ? tensor->begin : tensor->end) = number;
      return {};
    }));
    if (count != 2) return wrong(*tensor, corrupt_data("data_offsets has fewer than two numbers"));
    if (tensor->begin > tensor->end) {
      return wrong(*tensor, corrupt_data("data_offsets [" + std::to_string(tensor->begin) + ", " +
                                         std::to_string(tensor->end) + "] end before they begin"));
    }
    return {};
  }

  template <typename Add>
  Status read_list(const char* key, od::value value, const Tensor& tensor, Add add) {
    const std::string expected =
        "tensor " + utf8::printable(tensor.name) + ": " + key + " is not a list of integers";
    od::array list;
    COLIBRI_TRY(check(value.get_array().get(list), expected));
    for (auto item : list) {
      od::value element;
      // NOLINTNEXTLINE(performance-move-const-arg): get() takes an rvalue only
      COLIBRI_TRY(check(std::move(item).get(element), expected));
      const Result<uint64_t> number = read_unsigned(element);
      if (!number.ok()) {
        return wrong(
            tensor, corrupt_data("a number of " + std::string(key) + " " + number.status().text()));
      }
      if (const Status status = add(*number); !status.ok()) return wrong(tensor, status);
    }
    return {};
  }

  JsonText text_;
  std::unordered_set<std::string> names_;
  std::vector<Tensor> tensors_;
};

// Sorts tensors by their data and moves it from the data buffer, [0, size), to the file.
Status place(std::vector<Tensor>* tensors, uint64_t size, uint64_t buffer_begin) {
  std::sort(tensors->begin(), tensors->end(), [](const Tensor& a, const Tensor& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  uint64_t covered = 0;
  for (Tensor& tensor : *tensors) {
    const std::string here = "tensor " + utf8::printable(tensor.name) + ": data_offsets [" +
                             std::to_string(tensor.begin) + ", " + std::to_string(tensor.end) + "]";
    if (tensor.end > size) {
      return corrupt_data(here + " leave the data buffer of " + std::to_string(size) +
                          " bytes; the file may be cut short");
    }
    if (tensor.begin < covered) return corrupt_data(here + " overlap the tensor before it");
    if (tensor.begin > covered) {
      return corrupt_data(here + " leave a hole of " + std::to_string(tensor.begin - covered) +
                          " bytes before it");
    }
    covered = tensor.end;
    tensor.begin += buffer_begin;
    tensor.end += buffer_begin;
  }
  if (covered != size) {
    return corrupt_data("the last " + std::to_string(size - covered) +
                        " bytes belong to no tensor");
  }
  return {};
}

}  // namespace

Result<uint64_t> read_header_size(const colibri_file* files, uint32_t file) {
  const uint64_t size = files->size(files, file);
  const std::string name = file_name(files, file);
  if (size < 10) {
    return corrupt_data(name + ": has " + std::to_string(size) +
                        " bytes, too few for a safetensors header");
  }
  unsigned char head[9] = {};
  COLIBRI_TRY(read_bytes(files, file, 0, head, sizeof(head)));
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = length << 8 | head[i];
  if (head[8] != '{') return corrupt_data(name + ": does not begin like a safetensors file");
  if (length > kMostHeaderBytes) {
    return corrupt_data(name + ": its header would have " + std::to_string(length) +
                        " bytes; at most " + std::to_string(kMostHeaderBytes) + " are allowed");
  }
  if (length > size - 8) {
    return corrupt_data(name + ": its header has " + std::to_string(length) +
                        " bytes and the file only " + std::to_string(size - 8) +
                        " behind the length; it may be cut short");
  }
  return length;
}

Result<std::vector<Tensor>> read_header(const colibri_file* files, uint32_t file) {
  COLIBRI_ASSIGN(const uint64_t length, read_header_size(files, file));
  std::string json(length, '\0');
  COLIBRI_TRY(read_bytes(files, file, 8, json.data(), length));
  const std::string name = file_name(files, file);
  HeaderReader reader(name, std::move(json));
  COLIBRI_ASSIGN(std::vector<Tensor> tensors, reader.read());
  const uint64_t buffer_begin = 8 + length;
  COLIBRI_TRY(place(&tensors, files->size(files, file) - buffer_begin, buffer_begin).at(name));
  for (Tensor& tensor : tensors) tensor.file = file;
  return tensors;
}

}  // namespace colibri::safetensors
