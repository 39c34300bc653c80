// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/status.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/utf8.h"

namespace colibri {

Status Status::at(const std::string& place) const {
  return ok() ? Status() : Status(code_, place + ": " + text_);
}

colibri_error empty_error() {
  colibri_error error = {};
  error.struct_size = sizeof(error);
  return error;
}

Status from_c(colibri_status code, const colibri_error& error, const std::string& what) {
  if (code == COLIBRI_OK) return {};
  const size_t length = strnlen(error.text, sizeof(error.text));
  return {code, length == 0 ? what + " failed with status " + std::to_string(code)
                            : std::string(error.text, length)};
}

colibri_status to_c(const Status& status, colibri_error* error) {
  if (error == nullptr) return status.code();
  const size_t head = offsetof(colibri_error, text);
  if (error->struct_size >= head) error->code = status.code();
  if (error->struct_size > head) {
    const size_t room = std::min<size_t>(error->struct_size - head, sizeof(error->text));
    const std::string_view text = utf8::truncated(status.text(), room - 1);
    std::memcpy(error->text, text.data(), text.size());
    error->text[text.size()] = '\0';
  }
  return status.code();
}

}  // namespace colibri
