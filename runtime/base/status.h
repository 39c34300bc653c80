// SPDX-License-Identifier: Apache-2.0
// Status and Result: how every function of the runtime says that it failed. Nothing of ours throws.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "colibri/plugin.h"

namespace colibri {

// A colibri_status code and a text for a person: where, what, how to mend it. Cheap when ok.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(colibri_status code, std::string text) : code_(code), text_(std::move(text)) {}

  bool ok() const { return code_ == COLIBRI_OK; }
  colibri_status code() const { return code_; }
  const std::string& text() const { return text_; }
  // The same status, its text behind "place: ".
  Status at(const std::string& place) const;

 private:
  colibri_status code_ = COLIBRI_OK;
  std::string text_;
};

inline Status invalid_argument(std::string text) {
  return {COLIBRI_INVALID_ARGUMENT, std::move(text)};
}
inline Status unsupported(std::string text) {
  return {COLIBRI_UNSUPPORTED, std::move(text)};
}
inline Status not_found(std::string text) {
  return {COLIBRI_NOT_FOUND, std::move(text)};
}
inline Status corrupt_data(std::string text) {
  return {COLIBRI_CORRUPT_DATA, std::move(text)};
}
inline Status out_of_memory(std::string text) {
  return {COLIBRI_OUT_OF_MEMORY, std::move(text)};
}
inline Status io_error(std::string text) {
  return {COLIBRI_IO, std::move(text)};
}
inline Status cancelled(std::string text) {
  return {COLIBRI_CANCELLED, std::move(text)};
}
inline Status internal_error(std::string text) {
  return {COLIBRI_INTERNAL, std::move(text)};
}

// A value, or the Status that says why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}           // NOLINT(google-explicit-constructor)
  Result(Status failure) : state_(std::move(failure)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return std::holds_alternative<T>(state_); }
  Status status() const { return ok() ? Status() : std::get<Status>(state_); }
  T& value() { return std::get<T>(state_); }
  const T& value() const { return std::get<T>(state_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Status> state_;
};

// A cleared colibri_error with struct_size set, ready to be handed to a plugin.
colibri_error empty_error();
// The failure a C call reported: its code, and its text or, without one, `what`.
Status from_c(colibri_status code, const colibri_error& error, const std::string& what);
// Writes a status to a caller's colibri_error (may be null; its struct_size is respected); returns
// the code.
colibri_status to_c(const Status& status, colibri_error* error);

inline colibri_str to_c(std::string_view text) {
  return {text.data(), text.size()};
}
inline std::string_view from_c(colibri_str text) {
  return text.size == 0 ? std::string_view() : std::string_view(text.data, text.size);
}

}  // namespace colibri

// Leaves the function with the status unless it is ok.
#define COLIBRI_TRY(expression)                                                              \
  do {                                                                                       \
    if (::colibri::Status try_status_ = (expression); !try_status_.ok()) return try_status_; \
  } while (false)

#define COLIBRI_JOIN_(a, b) a##b
#define COLIBRI_JOIN(a, b) COLIBRI_JOIN_(a, b)
#define COLIBRI_ASSIGN_(temporary, declaration, expression) \
  auto temporary = (expression);                            \
  if (!temporary.ok()) return temporary.status();           \
  declaration = std::move(*temporary)
// COLIBRI_ASSIGN(auto file, open(path)): the value of a Result, or leaves the function with its
// status.
#define COLIBRI_ASSIGN(declaration, expression) \
  COLIBRI_ASSIGN_(COLIBRI_JOIN(result_, __LINE__), declaration, expression)
