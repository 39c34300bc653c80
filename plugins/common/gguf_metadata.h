// SPDX-License-Identifier: Apache-2.0
// The key-value section of a GGUF file (versions 2 and 3, little-endian), read in place: values stay
// in the bytes, and only string lists get a table of offsets, so that a vocabulary of 150,000
// tokens costs one allocation. https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "colibri/format.h"
#include "runtime/base/status.h"

namespace colibri::gguf {

// Reads little-endian values one after another from bytes that live longer than it.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes, size_t at = 0) : bytes_(bytes), at_(at) {}

  size_t at() const { return at_; }
  size_t left() const { return bytes_.size() - at_; }
  // Whether a read failed because it left the bytes: a longer piece of the file may hold it.
  bool ran_out() const { return ran_out_; }

  Status skip(uint64_t n);
  Result<uint32_t> u32();
  Result<uint64_t> u64();
  Result<std::string_view> string();  // u64 length, bytes

 private:
  std::string_view bytes_;
  size_t at_;
  bool ran_out_ = false;
};

// The first 24 bytes of a file.
struct Preamble {
  uint32_t version = 0;
  uint64_t tensors = 0, pairs = 0;
};
// Refuses what is no GGUF, big-endian files and versions other than 2 and 3, each by name.
Result<Preamble> read_preamble(ByteReader* reader);

class Metadata {
 public:
  static constexpr uint64_t kMostPairs = 65536;

  // Reads `pairs` key-value pairs, which must be sound: known types, keys that are UTF-8 and stand
  // once, scalar strings that are UTF-8 (elements of lists may be any bytes). The bytes behind the
  // reader must outlive the metadata and be less than 4 GiB.
  static Result<Metadata> read(std::string_view bytes, uint64_t pairs, ByteReader* reader);
  // Reads a whole file that holds nothing else, like the resource "tokenizer.gguf".
  static Result<Metadata> read_file(std::string_view bytes);

  size_t size() const { return pairs_.size(); }
  std::string_view key(size_t i) const { return pairs_[i].key; }
  // See metadata() of colibri_format_1: integers beyond int64 become floats. O(1).
  colibri_status find(std::string_view key, uint64_t index, colibri_value* value) const;
  // The bytes of pair i, from its key's length to the end of its value.
  std::string_view raw(size_t i) const;

 private:
  struct Pair {
    std::string_view key;
    uint32_t type = 0;
    bool is_list = false;
    uint64_t count = 0;               // elements of a list
    size_t begin = 0, end = 0;        // of the whole pair
    size_t value = 0;                 // of a list: its first element
    std::vector<uint32_t> string_at;  // elements of a list of strings
  };

  explicit Metadata(std::string_view bytes) : bytes_(bytes) {}
  Status read_value(ByteReader* reader, Pair* pair) const;
  Status read_list(ByteReader* reader, Pair* pair) const;

  std::string_view bytes_;
  std::vector<Pair> pairs_;
  std::unordered_map<std::string_view, size_t> by_key_;
};

}  // namespace colibri::gguf
