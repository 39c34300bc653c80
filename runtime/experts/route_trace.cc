// SPDX-License-Identifier: Apache-2.0
#include "runtime/experts/route_trace.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string>
#include <system_error>
#include <utility>

#include "runtime/base/file.h"

namespace colibri::experts {
namespace {

constexpr std::string_view kTitle = "colibri-route-trace 1\n";
constexpr uint64_t kMaxFileBytes = uint64_t{1} << 28;
// A replay allocates by these; no model comes near them.
constexpr uint32_t kMaxLayers = 1 << 12, kMaxExperts = 1 << 12;

// Takes a trace apart from front to back. Every failure says the line.
class Reader {
 public:
  Reader(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  Result<RouteTrace> read() {
    COLIBRI_TRY(literal(kTitle,
                        "is not 'colibri-route-trace 1': this is no route trace, or one of "
                        "another version"));
    RoutingShape& shape = trace_.shape;
    COLIBRI_TRY(field("layers ", shape.layers, kMaxLayers));
    COLIBRI_TRY(field("experts ", shape.experts, kMaxExperts));
    COLIBRI_TRY(field("top_k ", shape.top_k, shape.experts));
    COLIBRI_TRY(field("bundle_bytes ", trace_.bundle_bytes, uint64_t{1} << 40));
    while (!rest_.empty()) COLIBRI_TRY(visit());
    if (trace_.visits.empty()) return failure("there is no visit: nothing was recorded");
    return std::move(trace_);
  }

 private:
  Status failure(const std::string& what) const {
    return corrupt_data(name_ + ":" + std::to_string(line_) + ": " + what);
  }

  Status literal(std::string_view text, const std::string& otherwise) {
    if (!rest_.starts_with(text)) return failure(otherwise);
    rest_.remove_prefix(text.size());
    if (text.back() == '\n') ++line_;
    return {};
  }

  template <typename Number>
  Status number(const char* what, Number& value, Number least, Number most) {
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || value < least || value > most) {
      return failure(std::string(what) + " is not a number from " + std::to_string(least) + " to " +
                     std::to_string(most));
    }
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return {};
  }

  // "NAME N\n", from 1 to most
  template <typename Number>
  Status field(std::string_view name, Number& value, uint64_t most) {
    const std::string label(name.substr(0, name.size() - 1));
    COLIBRI_TRY(literal(name, "is not '" + label + " N'"));
    COLIBRI_TRY(number(label.c_str(), value, Number{1}, static_cast<Number>(most)));
    return literal("\n", "more than a number stands behind '" + label + "'");
  }

  // "STEP LAYER E,E E,E\n"
  Status visit() {
    // A run that was killed leaves its last line unfinished; an unfinished number could be read
    // wrongly, so no line is read before its end was seen.
    if (rest_.find('\n') == std::string_view::npos) {
      return failure("the last line has no end: the run that wrote the trace did not finish it");
    }
    RouteTrace::Visit visit;
    COLIBRI_TRY(number("the step", visit.step, uint64_t{0}, UINT64_MAX));
    COLIBRI_TRY(literal(" ", "no space follows the step"));
    COLIBRI_TRY(number("the layer", visit.layer, 0u, trace_.shape.layers - 1));
    visit.begin = trace_.experts.size();
    do {
      COLIBRI_TRY(literal(" ", "no space precedes a token's experts"));
      COLIBRI_TRY(token());
      ++visit.tokens;
    } while (!rest_.starts_with('\n'));
    rest_.remove_prefix(1);
    ++line_;
    const auto begin = trace_.experts.begin() + static_cast<ptrdiff_t>(visit.begin);
    std::sort(begin, trace_.experts.end());
    trace_.experts.erase(std::unique(begin, trace_.experts.end()), trace_.experts.end());
    visit.end = trace_.experts.size();
    trace_.visits.push_back(visit);
    return {};
  }

  Status token() {
    for (uint32_t i = 0; i < trace_.shape.top_k; ++i) {
      if (i > 0) {
        COLIBRI_TRY(literal(",", "a token has " + std::to_string(i) + " experts, not " +
                                     std::to_string(trace_.shape.top_k)));
      }
      uint32_t expert = 0;
      COLIBRI_TRY(number("an expert", expert, 0u, trace_.shape.experts - 1));
      trace_.experts.push_back(static_cast<int32_t>(expert));
    }
    return {};
  }

  std::string_view rest_;
  const std::string& name_;
  uint64_t line_ = 1;
  RouteTrace trace_;
};

}  // namespace

uint64_t RouteTrace::asked_in_decoding() const {
  uint64_t asked = 0;
  for (const Visit& visit : visits) asked += visit.tokens == 1 ? visit.end - visit.begin : 0;
  return asked;
}

Result<RouteTrace> parse_route_trace(std::string_view text, const std::string& name) {
  return Reader(text, name).read();
}

Result<RouteTrace> read_route_trace(const std::filesystem::path& path) {
  COLIBRI_ASSIGN(const std::string text, read_file(path, kMaxFileBytes));
  return parse_route_trace(text, path.string());
}

Result<std::unique_ptr<RouteTraceWriter>> RouteTraceWriter::create(
    const std::filesystem::path& path, const RoutingShape& shape, uint64_t bundle_bytes) {
  std::unique_ptr<RouteTraceWriter> writer(new RouteTraceWriter(path, shape));
  errno = 0;
  writer->file_ = std::fopen(path.c_str(), "wbe");
  COLIBRI_TRY(writer->check(writer->file_ != nullptr));
  std::setvbuf(writer->file_, writer->buffer_.data(), _IOFBF, writer->buffer_.size());
  const int written =
      std::fprintf(writer->file_, "%slayers %u\nexperts %u\ntop_k %u\nbundle_bytes %llu\n",
                   std::string(kTitle).c_str(), shape.layers, shape.experts, shape.top_k,
                   static_cast<unsigned long long>(bundle_bytes));
  COLIBRI_TRY(writer->check(written > 0));
  return writer;
}

RouteTraceWriter::~RouteTraceWriter() {
  if (file_ != nullptr) std::fclose(file_);
}

Status RouteTraceWriter::check(bool written) const {
  if (written) return {};
  return io_error("cannot write the route trace " + path_.string() + ": " +
                  std::generic_category().message(errno == 0 ? EIO : errno));
}

void RouteTraceWriter::number(uint64_t value, char behind) {
  char text[24];
  char* end = std::to_chars(text, text + sizeof(text) - 1, value).ptr;
  *end++ = behind;
  std::fwrite(text, 1, static_cast<size_t>(end - text), file_);
}

Status RouteTraceWriter::record(uint64_t step, uint32_t layer, uint32_t tokens,
                                const int32_t* chosen) {
  const std::lock_guard lock(mutex_);
  errno = 0;
  number(step, ' ');
  number(layer, ' ');
  const uint64_t pairs = uint64_t{tokens} * shape_.top_k;
  for (uint64_t i = 0; i < pairs; ++i) {
    const bool last_of_token = (i + 1) % shape_.top_k == 0;
    number(static_cast<uint64_t>(chosen[i]), i + 1 == pairs ? '\n' : last_of_token ? ' ' : ',');
  }
  return check(std::ferror(file_) == 0);
}

Status RouteTraceWriter::finish() {
  const std::lock_guard lock(mutex_);
  errno = 0;
  const bool whole = std::ferror(file_) == 0;
  const bool closed = std::fclose(std::exchange(file_, nullptr)) == 0;
  return check(whole && closed);
}

}  // namespace colibri::experts
