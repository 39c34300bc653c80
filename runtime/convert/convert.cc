// SPDX-License-Identifier: Apache-2.0
#include "runtime/convert/convert.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <system_error>
#include <vector>

#include "runtime/base/checksum.h"
#include "runtime/base/container.h"
#include "runtime/base/file.h"
#include "runtime/base/memory.h"
#include "runtime/base/thread_pool.h"
#include "runtime/base/writable_file.h"
#include "runtime/convert/journal.h"
#include "runtime/convert/layout.h"
#include "runtime/convert/records.h"
#include "runtime/convert/tensor.h"
#include "runtime/engine/weights.h"

namespace colibri::convert {
namespace {

// Tensors are made side by side in the memory of the largest one, or in this much if that is less.
constexpr uint64_t kLeastBuffer = uint64_t{32} << 20;

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
    COLIBRI_ASSIGN(pool_, ThreadPool::create(plan_.threads));
    uint64_t buffer = kLeastBuffer;
    for (const Item& item : layout_.items) buffer = std::max(buffer, item.entry.bytes);
    COLIBRI_ASSIGN(buffer_, Memory::allocate(buffer, "the largest tensor"));
    staging_bytes_ = engine::staging_bytes(plan_.spec, plan_.layers);
    COLIBRI_ASSIGN(staging_, Memory::allocate(plan_.threads * staging_bytes_, "reading weights"));
    COLIBRI_TRY(journal.keep(whole(journal.done())));
    for (size_t i = 0; i < journal.done().size(); ++i) {
      layout_.items[i].entry.checksum = journal.done()[i];
    }
    for (size_t begin = journal.done().size(); begin < layout_.items.size();) {
      COLIBRI_ASSIGN(begin, write_some(begin, file, journal));
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

  // Makes and writes as many tensors from `begin` on as the buffer holds; the first one behind them.
  Result<size_t> write_some(size_t begin, WritableFile& file, Journal& journal) {
    std::vector<std::byte*> places;
    uint64_t used = 0;
    for (size_t i = begin; i < layout_.items.size(); ++i) {
      const uint64_t bytes = layout_.items[i].entry.bytes;
      if (used + bytes > buffer_.size()) break;
      places.push_back(buffer_.data() + used);
      used += align_up(bytes);
    }
    std::vector<Status> made(places.size());
    const auto count = static_cast<int64_t>(places.size());
    (void)pool_->run(count, plan_.threads, [&](unsigned worker, int64_t first, int64_t last) {
      for (auto i = static_cast<size_t>(first); i < static_cast<size_t>(last); ++i) {
        made[i] = make(layout_.items[begin + i], places[i], worker, file);
      }
      return colibri_status{COLIBRI_OK};
    });
    // What stands before a failure counts.
    for (size_t i = 0; i < places.size(); ++i) {
      COLIBRI_TRY(made[i]);
      const Entry& entry = layout_.items[begin + i].entry;
      COLIBRI_TRY(journal.add(entry.checksum));
      progress_(entry.offset + entry.bytes, layout_.end);
    }
    return begin + places.size();
  }

  // [worker]
  Status make(Item& item, std::byte* to, unsigned worker, WritableFile& file) const {
    COLIBRI_TRY(make_tensor(plan_, item, to, staging_.data() + worker * staging_bytes_));
    item.entry.checksum = checksum(to, item.entry.bytes);
    return file.write(item.entry.offset,
                      {reinterpret_cast<const char*>(to), static_cast<size_t>(item.entry.bytes)});
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
  std::unique_ptr<ThreadPool> pool_;
  Memory buffer_, staging_;
  uint64_t staging_bytes_ = 0;  // of a worker
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
