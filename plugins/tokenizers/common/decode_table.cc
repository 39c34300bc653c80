// SPDX-License-Identifier: Apache-2.0
#include "plugins/tokenizers/common/decode_table.h"

namespace colibri::tokenizers {

void DecodeTable::resize(size_t ids) {
  entries_.resize(ids);
  if (rules_.first_differs) first_.resize(ids);
}

void DecodeTable::set_byte(int32_t id, char byte) {
  at(id).bytes.assign(1, byte);
  at(id).byte = true;
  if (rules_.first_differs) set_first(id, std::string(1, byte));
}

void DecodeTable::set_first(int32_t id, std::string bytes) {
  first_[static_cast<size_t>(id)] = std::move(bytes);
}

std::string_view DecodeTable::bytes(int32_t id) const {
  return known(id) ? std::string_view(entries_[static_cast<size_t>(id)].bytes) : std::string_view();
}

bool DecodeTable::is_special(int32_t id) const {
  return known(id) && entries_[static_cast<size_t>(id)].special;
}

void DecodeTable::decode(DecodeState& state, int32_t id, bool skip_special, TextOut& out) const {
  if (!known(id) || (skip_special && is_special(id))) return;
  const Entry& entry = entries_[static_cast<size_t>(id)];
  if (!text_) return decode_bytes(state, entry.bytes, Broken::kMaximalParts, out);
  std::string_view bytes = entry.bytes;
  if (rules_.first_differs && !state.started) bytes = first_[static_cast<size_t>(id)];
  // A byte may be the first of a character, so it ends the stripping unless it is what is stripped.
  while (!state.behind_strip && !bytes.empty()) {
    if (state.stripped < rules_.strip && bytes[0] == rules_.stripped) {
      ++state.stripped;
      bytes.remove_prefix(1);
    } else {
      state.behind_strip = true;
    }
  }
  state.started = true;
  if (!entry.byte) decode_end(state, Broken::kBytes, out);
  decode_bytes(state, bytes, Broken::kBytes, out);
}

void DecodeTable::end(DecodeState& state, TextOut& out) const {
  decode_end(state, text_ ? Broken::kBytes : Broken::kMaximalParts, out);
  state = {};
}

}  // namespace colibri::tokenizers
