// SPDX-License-Identifier: Apache-2.0
// What cache policies have in common: rings of keys, the shape they are made for, and how they cut
// the state memory of the host into arrays. Header-only.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "colibri/cache_policy.h"
#include "runtime/base/memory.h"
#include "runtime/base/status.h"

namespace colibri::cache_policies {

// Cuts memory into arrays, one behind the other. Without memory it only counts.
class Cutter {
 public:
  explicit Cutter(void* memory) : memory_(static_cast<std::byte*>(memory)) {}

  template <typename T>
  T* cut(uint64_t n) {
    const uint64_t at = used_;
    used_ += align_up(n * sizeof(T));
    return memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + at);
  }
  uint64_t used() const { return used_; }

 private:
  std::byte* const memory_;
  uint64_t used_ = 0;
};

// Keys in rings, each key in at most one. A ring is a fixed node behind its last key and before its
// first. Every change takes constant time.
class Rings {
 public:
  void cut(Cutter& cutter, uint32_t keys, uint32_t rings) {
    keys_ = keys;
    nodes_ = cutter.cut<Node>(uint64_t{keys} + rings);
  }
  void clear(uint32_t rings) {
    for (uint32_t key = 0; key < keys_; ++key) nodes_[key] = {kAlone, kAlone};
    for (uint32_t ring = 0; ring < rings; ++ring) nodes_[end(ring)] = {end(ring), end(ring)};
  }

  bool holds(uint32_t key) const { return nodes_[key].next != kAlone; }
  uint32_t end(uint32_t ring) const { return keys_ + ring; }  // what follows the last key
  uint32_t first(uint32_t ring) const { return nodes_[end(ring)].next; }
  bool empty(uint32_t ring) const { return first(ring) == end(ring); }
  uint32_t next(uint32_t node) const { return nodes_[node].next; }
  uint32_t previous(uint32_t node) const { return nodes_[node].previous; }

  void insert_before(uint32_t node, uint32_t key) {
    nodes_[key] = {nodes_[node].previous, node};
    nodes_[nodes_[key].previous].next = key;
    nodes_[node].previous = key;
  }
  void append(uint32_t ring, uint32_t key) { insert_before(end(ring), key); }
  void remove(uint32_t key) {
    nodes_[nodes_[key].previous].next = nodes_[key].next;
    nodes_[nodes_[key].next].previous = nodes_[key].previous;
    nodes_[key] = {kAlone, kAlone};
  }

 private:
  struct Node {
    uint32_t previous, next;
  };
  static constexpr uint32_t kAlone = UINT32_MAX;

  uint32_t keys_ = 0;
  Node* nodes_ = nullptr;
};

// The shape of a cache, checked.
struct Shape {
  uint32_t keys = 0, experts = 0, layers = 0, classes = 0;
  const uint8_t* class_of_layer = nullptr;

  // A policy has at most 8 rings per class, so that 31 bits name every node.
  static bool fits(const colibri_cache_shape& shape) {
    return uint64_t{shape.layers} * shape.experts < uint64_t{1} << 31 && shape.classes <= 256;
  }
  static Shape of(const colibri_cache_shape& shape) {
    return {shape.layers * shape.experts, shape.experts, shape.layers, shape.classes,
            shape.class_of_layer};
  }
  // `policy` names it in errors.
  static Status check(const colibri_cache_shape& shape, const std::string& policy) {
    if (!fits(shape)) {
      return unsupported(policy + ": more than 2^31 experts, or more than 256 classes");
    }
    for (uint32_t layer = 0; layer < shape.layers; ++layer) {
      if (shape.class_of_layer[layer] < shape.classes) continue;
      return invalid_argument(policy + ": layer " + std::to_string(layer) + " is of class " +
                              std::to_string(shape.class_of_layer[layer]) + " of " +
                              std::to_string(shape.classes));
    }
    return {};
  }

  uint32_t class_of(uint32_t key) const { return class_of_layer[key / experts]; }
  // The host's array is borrowed for the call: a copy in the state takes its place.
  void keep_classes(Cutter& cutter) {
    auto* own = cutter.cut<uint8_t>(layers);
    if (own == nullptr) return;
    if (layers > 0) std::memcpy(own, class_of_layer, layers);
    class_of_layer = own;
  }
};

// What a victim must be: its bit is set in the host's mask.
inline bool allowed(const uint64_t* evictable, uint32_t key) {
  return (evictable[key / 64] >> (key % 64) & 1) != 0;
}

}  // namespace colibri::cache_policies
