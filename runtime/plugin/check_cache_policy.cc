// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>
#include <thread>

#include "colibri/cache_policy.h"
#include "runtime/plugin/check_parts.h"

namespace colibri::plugin {
namespace {

constexpr uint32_t kLayers = 4;
constexpr uint32_t kExperts = 20;
constexpr uint32_t kTopK = 3;
constexpr uint32_t kKeys = kLayers * kExperts;
constexpr uint8_t kClassOfLayer[kLayers] = {0, 1, 0, 1};

// A small expert store around a policy: keeps residents as the host does and checks every answer.
class Store {
 public:
  Store(const Plugin& plugin, uint32_t slots)
      : table_(*plugin.interface<colibri_cache_policy_1>("colibri.cache_policy/1")),
        host_(plugin.id(), sample_options(plugin.manifest())),
        slots_{slots, slots},
        shape_{sizeof(shape_), kLayers, kExperts, kTopK, 2, kClassOfLayer, slots_},
        state_(table_.state_bytes(&shape_, host_.get())) {}

  Status create() {
    colibri_error error = empty_error();
    const colibri_status code = table_.create(&shape_, host_.get(), state_.get(), &error);
    COLIBRI_TRY(expect_reason("create", code, error));
    return from_c(code, error, "create");
  }

  // One layer of one step: asks for the keys, then brings in what is missing, as far as the policy
  // lets it.
  Status access(uint64_t step, const std::vector<uint32_t>& keys) {
    std::vector<uint8_t> resident;
    resident.reserve(keys.size());
    for (const uint32_t key : keys) resident.push_back(resident_[key]);
    table_.on_access(state_.get(), step, keys.data(), resident.data(),
                     static_cast<uint32_t>(keys.size()), 0);
    for (const uint32_t key : keys) {
      if (resident_[key] != 0) continue;
      if (used(class_of(key)) == slots_[class_of(key)]) {
        COLIBRI_TRY(evict(class_of(key), 1, keys));
      }
      if (used(class_of(key)) == slots_[class_of(key)]) continue;  // not admitted
      resident_[key] = 1;
      table_.on_insert(state_.get(), key);
    }
    return state_.intact() ? Status() : internal_error("writes behind its state");
  }

  // Takes slots away from a class, as a lower budget does.
  Status shrink(uint32_t klass, uint32_t slots) {
    if (table_.resize(state_.get(), klass, slots) != COLIBRI_OK) {
      return internal_error("resize fails");
    }
    slots_[klass] = slots;
    const uint32_t now = used(klass);
    if (now > slots) COLIBRI_TRY(evict(klass, now - slots, {}));
    return used(klass) <= slots ? Status()
                                : internal_error("gives up fewer keys than a lower budget needs");
  }

  // Every question must have an answer: nothing evictable, more victims than residents.
  Status ask_for_too_much() {
    uint32_t keys[kKeys + 1];
    uint64_t none[(kKeys + 63) / 64] = {};
    if (table_.victims(state_.get(), 0, none, kKeys, keys) != 0) {
      return internal_error("victims chooses a key that is not evictable");
    }
    return evict(0, kKeys, {});
  }

  const std::vector<uint32_t>& evicted() const { return evicted_; }

 private:
  static uint32_t class_of(uint32_t key) { return kClassOfLayer[key / kExperts]; }
  uint32_t used(uint32_t klass) const {
    uint32_t count = 0;
    for (uint32_t key = 0; key < kKeys; ++key) {
      count += resident_[key] != 0 && class_of(key) == klass ? 1 : 0;
    }
    return count;
  }

  Status evict(uint32_t klass, uint32_t n, const std::vector<uint32_t>& leased) {
    uint64_t evictable[(kKeys + 63) / 64] = {};
    for (uint32_t key = 0; key < kKeys; ++key) {
      const bool in_use = std::find(leased.begin(), leased.end(), key) != leased.end();
      if (resident_[key] != 0 && !in_use) evictable[key / 64] |= uint64_t{1} << (key % 64);
    }
    GuardedMemory room(n * sizeof(uint32_t));
    auto* victims = static_cast<uint32_t*>(room.get());
    const uint32_t count = table_.victims(state_.get(), klass, evictable, n, victims);
    if (count > n || !room.intact())
      return internal_error("victims gives more keys than asked for");
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t key = victims[i];
      if (key >= kKeys || (evictable[key / 64] >> (key % 64) & 1) == 0) {
        return internal_error("victims chooses a key that is not evictable, or one twice");
      }
      if (class_of(key) != klass) return internal_error("victims chooses a key of another class");
      evictable[key / 64] &= ~(uint64_t{1} << (key % 64));
      resident_[key] = 0;
      table_.on_evict(state_.get(), key);
      evicted_.push_back(key);
    }
    return {};
  }

  const colibri_cache_policy_1& table_;
  Host host_;
  uint32_t slots_[2];
  colibri_cache_shape shape_;
  GuardedMemory state_;
  uint8_t resident_[kKeys] = {};
  std::vector<uint32_t> evicted_;  // in order
};

// Random work of a fixed seed; returns all victims in order.
Result<std::vector<uint32_t>> work(const Plugin& plugin, uint32_t slots) {
  Store store(plugin, slots);
  COLIBRI_TRY(store.create());
  std::mt19937 random(slots);
  for (uint64_t step = 0; step < 300; ++step) {
    for (uint32_t layer = 0; layer < kLayers; ++layer) {
      std::vector<uint32_t> keys;
      while (keys.size() < kTopK) {
        const auto expert =
            static_cast<uint32_t>(random() % (step % 2 == 0 ? kExperts : kTopK + 2));
        const uint32_t key = layer * kExperts + expert;
        if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
      }
      std::sort(keys.begin(), keys.end());
      COLIBRI_TRY(store.access(step, keys));
    }
    if (step == 200 && slots > 2) COLIBRI_TRY(store.shrink(1, slots - 2));
  }
  COLIBRI_TRY(store.ask_for_too_much());
  return store.evicted();
}

}  // namespace

Status check_cache_policy_bad_input(const Plugin& plugin) {
  for (const uint32_t slots : {1u, 2u, 5u, kKeys}) {
    COLIBRI_ASSIGN(const std::vector<uint32_t> first, work(plugin, slots));
    COLIBRI_ASSIGN(const std::vector<uint32_t> second, work(plugin, slots));
    if (first != second) return internal_error("the same calls give different victims");
  }
  return {};
}

Status check_cache_policy_workers(const Plugin& plugin) {
  constexpr size_t kThreads = 8;
  COLIBRI_ASSIGN(const std::vector<uint32_t> alone, work(plugin, 7));
  std::vector<Status> status(kThreads);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      const Result<std::vector<uint32_t>> together = work(plugin, 7);
      status[i] = together.status();
      if (together.ok() && *together != alone) {
        status[i] = internal_error("several threads give other victims than one");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Status& each : status) COLIBRI_TRY(each);
  return {};
}

}  // namespace colibri::plugin
