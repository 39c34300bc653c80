// SPDX-License-Identifier: Apache-2.0
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/bad_models/cases.h"

namespace colibri::testing {

namespace fs = std::filesystem;

std::vector<BadModel> bad_files() {
  const auto nothing = [](TinyModel*) {};
  const auto empty = [](TinyModel* model) { model->has_config = model->has_weights = false; };
  const auto fifo = [](const fs::path& path) { mkfifo(path.c_str(), 0600); };
  return {
      {"nothing_there", nothing, {}, "no/such/model"},
      {"empty_folder", empty, {}, ""},
      {"only_folders_inside", empty,
       [](const fs::path& folder) { fs::create_directory(folder / "model.safetensors"); }, ""},
      {"path_is_a_fifo", nothing,
       [&](const fs::path& folder) { mkfifo((folder / "pipe").c_str(), 0600); }, "pipe"},
      {"fifo_for_weights", [](TinyModel* model) { model->has_weights = false; },
       [fifo](const fs::path& folder) { fifo(folder / "model.safetensors"); }, ""},
      {"socket_in_the_folder", nothing,
       [](const fs::path& folder) {
         const int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
         sockaddr_un address = {};
         address.sun_family = AF_UNIX;
         const std::string path = folder / "s";
         path.copy(address.sun_path, sizeof(address.sun_path) - 1);
         bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
         close(descriptor);
       },
       ""},
      {"links_in_a_circle", [](TinyModel* model) { model->has_weights = false; },
       [](const fs::path& folder) {
         fs::create_symlink("b.safetensors", folder / "model.safetensors");
         fs::create_symlink("model.safetensors", folder / "b.safetensors");
       },
       ""},
      {"link_to_nothing", [](TinyModel* model) { model->has_weights = false; },
       [](const fs::path& folder) {
         fs::create_symlink("../blobs/0123456789abcdef", folder / "model.safetensors");
       },
       ""},
      {"path_is_a_link_to_itself", nothing,
       [](const fs::path& folder) { fs::create_symlink("self", folder / "self"); }, "self"},
      {"name_is_not_utf8", [](TinyModel* model) { model->files["caf\xe9.txt"] = "x"; }, {}, ""},
      {"too_many_files", nothing,
       [](const fs::path& folder) {
         for (int i = 0; i < 4096; ++i) {
           fs::create_hard_link(folder / "config.json", folder / ("x" + std::to_string(i)));
         }
       },
       ""},
      {"no_weights", [](TinyModel* model) { model->has_weights = false; }, {}, ""},
      {"weights_under_another_name",
       [](TinyModel* model) {
         model->has_weights = false;
         model->files["weights.safetensors"] = safetensors_file(model->header, model->data);
       },
       {},
       ""},
      {"no_config", [](TinyModel* model) { model->has_config = false; }, {}, ""},
      {"weights_file_alone", nothing, {}, "model.safetensors"},
      {"config_file_alone", nothing, {}, "config.json"},
  };
}

}  // namespace colibri::testing
