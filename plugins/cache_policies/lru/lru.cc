// SPDX-License-Identifier: Apache-2.0
// The cache policy "lru": the expert that was not used for the longest time goes first.
//
// Each class has a ring of its residents in order of use, least recent first. A use is an access
// that is no prefetch; being inserted counts as one, too. The keys of one access were used at the
// same time: among them the ascending order stands, so that the lowest key goes first. Every call
// takes constant time per key; victims() also steps over what is not evictable.
#include <cstdint>
#include <cstring>

#include "colibri/cache_policy.h"
#include "plugins/common/guard.h"

namespace colibri::lru {
namespace {

// Neighbours in a ring, by index: keys first, then one fixed node per class, between the most and
// the least recent.
struct Node {
  uint32_t previous, next;
  bool linked() const { return next != kAlone; }
  static constexpr uint32_t kAlone = UINT32_MAX;
};

// Behind it: the nodes, then the class of each layer.
struct State {
  uint32_t keys, experts, layers, classes;

  Node* nodes() { return reinterpret_cast<Node*>(this + 1); }
  uint8_t* class_of_layer() { return reinterpret_cast<uint8_t*>(nodes() + keys + classes); }
  uint32_t head(uint32_t klass) const { return keys + klass; }
};

constexpr uint64_t kMaxNodes = uint64_t{1} << 31;

uint64_t keys_of(const colibri_cache_shape& shape) {
  return uint64_t{shape.layers} * shape.experts;
}

bool fits(const colibri_cache_shape& shape) {
  return keys_of(shape) < kMaxNodes && shape.classes <= 256;
}

uint64_t state_bytes(const colibri_cache_shape* shape, const colibri_host*) {
  if (!fits(*shape)) return 0;  // create says why
  return sizeof(State) + (keys_of(*shape) + shape->classes) * sizeof(Node) + shape->layers;
}

colibri_status create(const colibri_cache_shape* shape, const colibri_host*, void* memory,
                      colibri_error* error) {
  return plugin::guard(error, [&]() -> Status {
    if (!fits(*shape)) return unsupported("lru: more than 2^31 experts, or more than 256 classes");
    for (uint32_t layer = 0; layer < shape->layers; ++layer) {
      if (shape->class_of_layer[layer] >= shape->classes) {
        return invalid_argument("lru: layer " + std::to_string(layer) + " is of class " +
                                std::to_string(shape->class_of_layer[layer]) + " of " +
                                std::to_string(shape->classes));
      }
    }
    auto* state = static_cast<State*>(memory);
    *state = {static_cast<uint32_t>(keys_of(*shape)), shape->experts, shape->layers,
              shape->classes};
    Node* nodes = state->nodes();
    for (uint32_t key = 0; key < state->keys; ++key) nodes[key] = {Node::kAlone, Node::kAlone};
    for (uint32_t klass = 0; klass < state->classes; ++klass) {
      nodes[state->head(klass)] = {state->head(klass), state->head(klass)};
    }
    if (shape->layers > 0) {
      std::memcpy(state->class_of_layer(), shape->class_of_layer, shape->layers);
    }
    return {};
  });
}

void unlink(Node* nodes, uint32_t key) {
  nodes[nodes[key].previous].next = nodes[key].next;
  nodes[nodes[key].next].previous = nodes[key].previous;
  nodes[key] = {Node::kAlone, Node::kAlone};
}

void link_as_most_recent(State& state, uint32_t key) {
  Node* nodes = state.nodes();
  const uint32_t head = state.head(state.class_of_layer()[key / state.experts]);
  nodes[key] = {nodes[head].previous, head};
  nodes[nodes[key].previous].next = key;
  nodes[head].previous = key;
}

void on_access(void* memory, uint64_t, const uint32_t* keys, const uint8_t*, uint32_t n,
               int32_t prefetched) {
  if (prefetched != 0) return;
  auto& state = *static_cast<State*>(memory);
  for (uint32_t i = 0; i < n; ++i) {
    if (keys[i] >= state.keys || !state.nodes()[keys[i]].linked()) continue;  // a miss
    unlink(state.nodes(), keys[i]);
    link_as_most_recent(state, keys[i]);
  }
}

void on_insert(void* memory, uint32_t key) {
  auto& state = *static_cast<State*>(memory);
  if (key >= state.keys || state.nodes()[key].linked()) return;
  link_as_most_recent(state, key);
}

uint32_t victims(void* memory, uint32_t klass, const uint64_t* evictable, uint32_t n,
                 uint32_t* keys) {
  auto& state = *static_cast<State*>(memory);
  if (klass >= state.classes) return 0;
  const Node* nodes = state.nodes();
  const uint32_t head = state.head(klass);
  uint32_t count = 0;
  for (uint32_t key = nodes[head].next; key != head && count < n; key = nodes[key].next) {
    if ((evictable[key / 64] >> (key % 64) & 1) != 0) keys[count++] = key;
  }
  return count;
}

void on_evict(void* memory, uint32_t key) {
  auto& state = *static_cast<State*>(memory);
  if (key < state.keys && state.nodes()[key].linked()) unlink(state.nodes(), key);
}

// The order of use does not depend on how many there may be.
colibri_status resize(void* memory, uint32_t klass, uint32_t) {
  return klass < static_cast<State*>(memory)->classes ? COLIBRI_OK : COLIBRI_INVALID_ARGUMENT;
}

const colibri_cache_policy_1 kTable = {sizeof(colibri_cache_policy_1),
                                       state_bytes,
                                       create,
                                       on_access,
                                       on_insert,
                                       victims,
                                       on_evict,
                                       resize};

const void* get_interface(const char* id) {
  return std::strcmp(id, "colibri.cache_policy/1") == 0 ? &kTable : nullptr;
}

const colibri_plugin kPlugin = {
    sizeof(colibri_plugin), COLIBRI_ABI_MINOR, "lru", "0.1.0", nullptr, nullptr, get_interface};

}  // namespace
}  // namespace colibri::lru

const colibri_plugin* colibri_plugin_v1(void) {
  return &colibri::lru::kPlugin;
}
