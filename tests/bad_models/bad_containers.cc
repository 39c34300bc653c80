// SPDX-License-Identifier: Apache-2.0
#include "colibri/codec.h"
#include "tests/bad_models/cases.h"
#include "tests/bad_models/container_file.h"

namespace colibri::testing {
namespace {

BadModel file_of(const std::string& name, const std::string& bytes) {
  return {"container_" + name,
          [bytes](TinyModel* model) {
            model->has_config = model->has_weights = false;
            model->files["m.colibri"] = bytes;
          },
          {},
          "m.colibri"};
}

template <typename Change>
BadModel changed(const std::string& name, Change change) {
  ContainerFile file = tiny_container();
  change(&file);
  return file_of(name, file.bytes());
}

// The sound file with other bytes at `at`.
BadModel patched(const std::string& name, size_t at, const std::string& bytes) {
  std::string file = tiny_container().bytes();
  file.replace(at, bytes.size(), bytes);
  return file_of(name, file);
}

BadModel cut(const std::string& name, size_t size) {
  return file_of(name, tiny_container().bytes().substr(0, size));
}

template <typename Change>
BadModel head(const std::string& name, Change change) {
  return changed(name, [&](ContainerFile* file) { file->change_head = change; });
}

template <typename Change>
BadModel tensor(const std::string& name, size_t index, Change change) {
  return changed(name, [&](ContainerFile* file) { change(&file->tensors[index]); });
}

using container::Head;

}  // namespace

std::vector<BadModel> bad_containers() {
  std::vector<BadModel> all = {
      cut("only_the_magic", 8),
      cut("half_a_head", 2048),
      cut("only_the_head", 4096),
      cut("cut_short", 40960),
      file_of("longer_than_it_says", tiny_container().bytes() + std::string(4096, '\0')),
      patched("version_0", 8, le32(0)),
      patched("version_2", 8, le32(2)),
      patched("head_damaged", 200, "x"),
      patched("metadata_damaged", tiny_container().bytes().size() - 3 * 4096 + 30, "x"),
      patched("directory_damaged", tiny_container().bytes().size() - 4096 + 30, "x"),
      head("section_in_the_head", [](Head* h) { h->sections[container::kMetadata].offset = 0; }),
      head("section_not_aligned", [](Head* h) { h->sections[container::kDirectory].offset += 64; }),
      head("section_leaves_the_file",
           [](Head* h) { h->sections[container::kResources].bytes = uint64_t{1} << 40; }),
      head("section_wraps_around",
           [](Head* h) { h->sections[container::kDense].bytes = UINT64_MAX - 100; }),
      head("sections_overlap",
           [](Head* h) { h->sections[container::kExperts] = h->sections[container::kDense]; }),
      head("section_offset_huge",
           [](Head* h) { h->sections[container::kMetadata].offset = UINT64_MAX / 4096 * 4096; }),
      changed("metadata_is_no_gguf", [](ContainerFile* f) { f->raw_metadata = "hello"; }),
      changed("metadata_version_2_of_nothing",
              [](ContainerFile* f) { f->raw_metadata = "GGUF" + le32(9) + le64(0) + le64(0); }),
      changed("metadata_without_vocabulary",
              [](ContainerFile* f) {
                std::erase_if(f->metadata.pairs,
                              [](const auto& pair) { return pair.first == "colibri.vocabulary"; });
              }),
      changed("vocabulary_is_a_number",
              [](ContainerFile* f) {
                std::erase_if(f->metadata.pairs,
                              [](const auto& pair) { return pair.first == "colibri.vocabulary"; });
                f->metadata.u32("colibri.vocabulary", 1);
              }),
      changed("vocabulary_unknown",
              [](ContainerFile* f) {
                std::erase_if(f->metadata.pairs,
                              [](const auto& pair) { return pair.first == "colibri.vocabulary"; });
                f->metadata.text("colibri.vocabulary", "klingon");
              }),
      changed("resource_count_huge", [](ContainerFile* f) { f->raw_resources = le32(UINT32_MAX); }),
      changed("resource_cut_short",
              [](ContainerFile* f) { f->raw_resources = le32(1) + gguf_string("a") + le64(99); }),
      changed("bytes_behind_resources",
              [](ContainerFile* f) { f->raw_resources = le32(0) + std::string("more"); }),
      changed("tensor_count_huge", [](ContainerFile* f) { f->raw_directory = le32(UINT32_MAX); }),
      changed("directory_cut_short", [](ContainerFile* f) { f->raw_directory = le32(3); }),
      changed("directory_empty", [](ContainerFile* f) { f->tensors.clear(); }),
      changed("name_length_huge",
              [](ContainerFile* f) { f->raw_directory = le32(1) + le64(UINT64_MAX); }),
      changed("a_tensor_twice", [](ContainerFile* f) { f->tensors.push_back(f->tensors[1]); }),
      changed("a_tensor_missing",
              [](ContainerFile* f) { f->tensors.erase(f->tensors.begin() + 5); }),
      changed("a_tensor_nobody_wants", [](ContainerFile* f) { f->tensor("layers.0.sauce", {8}); }),
  };
  using Tensor = ContainerFile::Tensor;
  for (BadModel& bad : std::vector<BadModel>{
           tensor("name_empty", 1, [](Tensor* t) { t->name.clear(); }),
           tensor("name_not_utf8", 1, [](Tensor* t) { t->name = "a\xff"; }),
           tensor("rank_9", 1, [](Tensor* t) { t->extents.assign(9, 1); }),
           tensor("extent_negative", 1, [](Tensor* t) { t->extents[0] = UINT64_MAX; }),
           tensor("shape_overflows", 0, [](Tensor* t) { t->extents.assign(2, uint64_t{1} << 40); }),
           tensor("codec_unknown", 0, [](Tensor* t) { t->codec = 999; }),
           tensor("codec_holds_no_weights", 1, [](Tensor* t) { t->codec = COLIBRI_CODEC_I32; }),
           tensor("layout_unknown", 0, [](Tensor* t) { t->layout = 7; }),
           tensor("vector_in_panels", 1, [](Tensor* t) { t->layout = 1; }),
           tensor("bytes_too_few", 0, [](Tensor* t) { t->bytes -= 4; }),
           tensor("panels_too_short", 6, [](Tensor* t) { t->layout = 1; }),
           tensor("shape_wrong", 5,
                  [](Tensor* t) {
                    t->extents = {4, 16};
                  }),
           tensor("offset_in_the_head", 0, [](Tensor* t) { t->offset = 64; }),
           tensor("offset_not_aligned", 0, [](Tensor* t) { t->offset = 4100; }),
           tensor("offset_huge", 0, [](Tensor* t) { t->offset = INT64_MAX / 64 * 64; }),
           tensor("tensors_overlap", 2, [](Tensor* t) { t->offset = 4096; }),
           tensor("no_checksum", 3, [](Tensor* t) { t->checksum = 0; }),
       }) {
    all.push_back(std::move(bad));
  }
  return all;
}

}  // namespace colibri::testing
