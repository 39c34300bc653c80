// SPDX-License-Identifier: Apache-2.0
#include "runtime/convert/convert.h"

#include <algorithm>
#include <cstdio>
#include <system_error>

#include "runtime/base/checksum.h"
#include "runtime/base/container.h"
#include "runtime/base/file.h"
#include "runtime/base/memory.h"
#include "runtime/base/writable_file.h"
#include "runtime/convert/journal.h"
#include "runtime/convert/layout.h"
#include "runtime/convert/records.h"
#include "runtime/engine/weights.h"
#include "runtime/model/codecs.h"
#include "runtime/model/rows.h"

namespace colibri::convert {
namespace {

// What two runs must share to be one conversion.
std::string identity_of(const engine::Plan& plan, const Layout& layout,
                        const std::string& metadata) {
  RecordWriter all;
  const model::ModelFiles& files = plan.source->files();
  for (uint32_t i = 0; i < files.count(); ++i) {
    std::error_code ignored;
    const auto written = std::filesystem::last_write_time(files.path(i), ignored);
    all.string(files.name(i));
    all.u64(files.size(i));
    all.u64(static_cast<uint64_t>(written.time_since_epoch().count()));
  }
  all.string(metadata);
  for (const Item& item : layout.items) {
    all.string(item.entry.name);
    all.u32(item.entry.codec);
    all.u32(item.entry.layout);
    all.u64(item.entry.offset);
  }
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx",
                static_cast<unsigned long long>(checksum(all.bytes())));
  return text;
}

// The rows of a weight as they are, which must be finite numbers.
Status read_plain(const model::ModelSource& source, const model::Weight& weight, std::byte* to) {
  COLIBRI_ASSIGN(
      const Memory scratch,
      Memory::allocate(model::rows_scratch_bytes(weight, weight.rows), "reading " + weight.name()));
  COLIBRI_TRY(model::read_rows(source, weight, 0, weight.rows, to, scratch.data()));
  return model::check_finite(weight.codec(), to, weight.bytes(), weight.tensor->name)
      .at(source.files().path());
}

class Converter {
 public:
  Converter(const engine::Plan& plan, const std::filesystem::path& path, const Progress& progress)
      : plan_(plan), path_(path), progress_(progress), layout_(Layout::of(plan)) {
    partial_ = path_;
    partial_ += ".partial";
    journal_ = path_;
    journal_ += ".journal";
  }

  Status run() {
    const std::string metadata = metadata_section(*plan_.source, plan_.spec.architecture);
    COLIBRI_ASSIGN(Journal journal, Journal::open(journal_, identity_of(plan_, layout_, metadata)));
    COLIBRI_ASSIGN(WritableFile file, WritableFile::open(partial_));
    uint64_t largest = 0;
    for (const Item& item : layout_.items) largest = std::max(largest, item.entry.bytes);
    COLIBRI_ASSIGN(buffer_, Memory::allocate(largest, "the largest tensor"));
    COLIBRI_ASSIGN(staging_, Memory::allocate(engine::staging_bytes(plan_.spec, plan_.layers),
                                              "reading weights"));
    COLIBRI_TRY(journal.keep(whole(journal.done())));
    for (size_t i = 0; i < layout_.items.size(); ++i) {
      Entry& entry = layout_.items[i].entry;
      if (i < journal.done().size()) {
        entry.checksum = journal.done()[i];
      } else {
        COLIBRI_TRY(make(layout_.items[i]));
        entry.checksum = checksum(buffer_.data(), entry.bytes);
        COLIBRI_TRY(file.write(entry.offset, {reinterpret_cast<const char*>(buffer_.data()),
                                              static_cast<size_t>(entry.bytes)}));
        COLIBRI_TRY(journal.add(entry.checksum));
      }
      progress_(entry.offset + entry.bytes, layout_.end);
    }
    COLIBRI_TRY(finish(file, metadata));
    std::error_code error;
    std::filesystem::rename(partial_, path_, error);
    if (error) return io_error(path_.string() + ": cannot be given its name: " + error.message());
    std::filesystem::remove(journal_, error);
    return {};
  }

 private:
  // How many of the tensors that the journal counts are in the partial file as they were written.
  size_t whole(const std::vector<uint64_t>& done) {
    const Result<File> file = File::open(partial_);
    size_t n = 0;
    for (; file.ok() && n < std::min(done.size(), layout_.items.size()); ++n) {
      const Entry& entry = layout_.items[n].entry;
      const Status read = file->read(entry.offset, buffer_.data(), entry.bytes);
      if (!read.ok() || checksum(buffer_.data(), entry.bytes) != done[n]) break;
    }
    return n;
  }

  Status make(const Item& item) {
    const model::ModelSource& source = *plan_.source;
    if (item.placed == nullptr) return read_plain(source, *item.weight, buffer_.data());
    return engine::load_weight(source, *item.weight, *item.placed, buffer_.data(), staging_.data());
  }

  Status finish(WritableFile& file, const std::string& metadata) {
    container::Head head;
    head.sections[container::kDense] = {container::kPage, layout_.experts_begin - container::kPage,
                                        0};
    uint64_t end = align_up(layout_.end, container::kPage);
    head.sections[container::kExperts] = {layout_.experts_begin, end - layout_.experts_begin, 0};
    std::vector<Entry> entries;
    for (const Item& item : layout_.items) entries.push_back(item.entry);
    COLIBRI_ASSIGN(const std::string resources, resource_section(*plan_.source));
    const std::pair<container::Section, std::string> sections[] = {
        {container::kMetadata, metadata},
        {container::kResources, resources},
        {container::kDirectory, directory_section(entries)}};
    for (const auto& [section, bytes] : sections) {
      head.sections[section] = {end, bytes.size(), checksum(bytes)};
      COLIBRI_TRY(file.write(end, bytes));
      end = align_up(end + bytes.size(), container::kPage);
    }
    head.file_bytes = end;
    COLIBRI_TRY(file.resize(end));
    COLIBRI_TRY(file.write(0, container::encode(head)));
    return file.sync();
  }

  const engine::Plan& plan_;
  const std::filesystem::path path_;
  const Progress& progress_;
  Layout layout_;
  std::filesystem::path partial_, journal_;
  Memory buffer_, staging_;
};

}  // namespace

Status convert(const engine::Plan& plan, const std::filesystem::path& path,
               const Progress& progress) {
  if (plan.source->names_roles()) {
    return invalid_argument(
        plan.source->files().path() +
        ": is a .colibri file already; convert the model that it was made from");
  }
  if (std::filesystem::exists(path)) {
    return invalid_argument(path.string() + ": exists already; remove it or choose another name");
  }
  return Converter(plan, path, progress).run();
}

}  // namespace colibri::convert
