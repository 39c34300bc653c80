// SPDX-License-Identifier: Apache-2.0
// Files that are no plugin of this machine and pipeline, and plugins that break a promise: each is
// refused by name, and the process lives on. (A plugin's crash cannot be survived: those go through
// `plugins check`.)
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "colibri/kernels.h"
#include "runtime/base/temporary_folder.h"
#include "runtime/machine/cpu_features.h"
#include "runtime/plugin/check.h"
#include "runtime/plugin/kernel_chooser.h"
#include "runtime/plugin/registry.h"

namespace colibri::plugin {
namespace {

namespace fs = std::filesystem;

std::string read_all(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Files that this process has mapped.
std::string mapped_files() {
  return read_all("/proc/self/maps");
}

class BadPluginsTest : public testing::Test {
 protected:
  BadPluginsTest() {
    request_.search = {folder_};
    request_.search_installed = false;
    profile_ = *machine::Profile::detect();
  }
  ~BadPluginsTest() override { EXPECT_EQ(unsetenv("COLIBRI_MAX_ISA"), 0); }

  static fs::path built(const std::string& name) { return fs::path(BAD_PLUGINS) / (name + ".so"); }
  void add(const std::string& name) const { fs::copy_file(built(name), folder_ / (name + ".so")); }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }

  std::unique_ptr<Registry> registry() {
    auto made = Registry::create(request_, profile_);
    EXPECT_TRUE(made.ok()) << made.status().text();
    if (!made.ok()) return nullptr;
    return std::move(*made);
  }
  // Why the only candidate of the folder is refused.
  std::string refusal() {
    const auto made = registry();
    EXPECT_EQ(made->decisions().size(), 1u);
    EXPECT_FALSE(made->decisions()[0].accepted);
    return made->decisions()[0].reason;
  }
  std::string refusal_of(const std::string& name) {
    add(name);
    return refusal();
  }

  // Output and exit code of the program.
  std::string run(const std::string& arguments, int* exit_code) const {
    const std::string command = std::string(COLIBRI) + " " + arguments + " 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    std::string output;
    for (int c = fgetc(pipe); c != EOF; c = fgetc(pipe)) output += static_cast<char>(c);
    *exit_code = WEXITSTATUS(pclose(pipe));
    return output;
  }

  const TemporaryFolder temporary_;
  const fs::path& folder_ = temporary_.path();
  Request request_;
  machine::Profile profile_;
};

TEST_F(BadPluginsTest, TheGoodOneIsAccepted) {
  add("good");
  EXPECT_EQ(registry()->offers("colibri.sampler/1").size(), 1u);
  EXPECT_THAT(mapped_files(), testing::HasSubstr((folder_ / "good.so").string()));
}

TEST_F(BadPluginsTest, NoManifest) {
  EXPECT_EQ(refusal_of("no_manifest"), "no Colibri manifest in it (docs/writing-a-plugin.md)");
  EXPECT_THAT(mapped_files(), testing::Not(testing::HasSubstr("no_manifest.so")));
}

TEST_F(BadPluginsTest, DamagedManifest) {
  std::string bytes = read_all(built("good"));
  const size_t at = bytes.find("{\"id\":\"good\"");
  ASSERT_NE(at, std::string::npos);
  bytes[at] = '[';
  write("a.so", bytes);
  EXPECT_EQ(refusal(), "manifest: not JSON");
  bytes.replace(at, 5, "{\"ie\"");
  write("a.so", bytes);
  EXPECT_EQ(refusal(), "manifest: id is missing");
}

TEST_F(BadPluginsTest, NoElfFile) {
  write("a.so", "");
  EXPECT_EQ(refusal(), "not an ELF file: it is too short");
  write("a.so", "/* GNU ld script */ INPUT ( libcolibri_good.so.1 ) with some more text behind it");
  EXPECT_EQ(refusal(), "not an ELF file");
}

TEST_F(BadPluginsTest, EveryTruncatedFileIsRefused) {
  const std::string bytes = read_all(built("good"));
  for (size_t parts = 0; parts < 64; ++parts) {
    write("a.so", bytes.substr(0, bytes.size() * parts / 64));
    EXPECT_THAT(refusal(), testing::AnyOf(testing::StartsWith("not an ELF file"),
                                          testing::StartsWith("damaged ELF file")))
        << parts;
  }
}

TEST_F(BadPluginsTest, WrongArchitecture) {
  std::string bytes = read_all(built("foreign"));
  const bool x86 = profile_.architecture == "x86_64";
  EXPECT_EQ(refusal_of("foreign"),
            x86 ? "the manifest is of a plugin for 'aarch64', the file is for x86_64"
                : "the manifest is of a plugin for 'x86_64', the file is for aarch64");
  fs::remove(folder_ / "foreign.so");
  const Elf64_Half machine = x86 ? EM_AARCH64 : EM_X86_64;
  bytes.replace(offsetof(Elf64_Ehdr, e_machine), sizeof(machine),
                reinterpret_cast<const char*>(&machine), sizeof(machine));
  write("a.so", bytes);
  EXPECT_EQ(refusal(),
            x86 ? "for aarch64, this machine is x86_64" : "for x86_64, this machine is aarch64");
  EXPECT_THAT(mapped_files(), testing::Not(testing::HasSubstr(folder_.string())));
}

TEST_F(BadPluginsTest, MissingCpuFeature) {
  EXPECT_EQ(refusal_of("futuristic"), "needs avx4096, which this machine lacks");
  EXPECT_THAT(mapped_files(), testing::Not(testing::HasSubstr("futuristic.so")));
}

TEST_F(BadPluginsTest, NewerAbiMajor) {
  EXPECT_EQ(refusal_of("newer_abi"), "built for plugin ABI 2.0, this host has 1.0");
  EXPECT_THAT(mapped_files(), testing::Not(testing::HasSubstr("newer_abi.so")));
}

TEST_F(BadPluginsTest, DuplicateId) {
  fs::copy_file(built("good"), folder_ / "a.so");
  fs::copy_file(built("good"), folder_ / "b.so");
  const auto made = registry();
  ASSERT_EQ(made->decisions().size(), 2u);
  EXPECT_TRUE(made->decisions()[0].accepted);
  EXPECT_EQ(made->decisions()[1].reason,
            "has the same id as " + (folder_ / "a.so").string() + ", which was found first");
  EXPECT_THAT(mapped_files(), testing::Not(testing::HasSubstr((folder_ / "b.so").string())));
}

TEST_F(BadPluginsTest, ApproximateInAReproduciblePipeline) {
  EXPECT_EQ(refusal_of("inexact"),
            "its results are approximate, and the pipeline's numerics are reproducible");
  EXPECT_THAT(mapped_files(), testing::Not(testing::HasSubstr("inexact.so")));
}

TEST_F(BadPluginsTest, MissingSymbol) {
  EXPECT_EQ(refusal_of("missing_symbol"), "it exports no function colibri_plugin_v1");
}

TEST_F(BadPluginsTest, UnresolvedSymbol) {
  EXPECT_EQ(refusal_of("unresolved"),
            "the loader refuses it: " + (folder_ / "unresolved.so").string() +
                ": undefined symbol: function_of_another_world");
}

TEST_F(BadPluginsTest, NoTable) {
  EXPECT_EQ(refusal_of("null_table"), "colibri_plugin_v1 returned no table");
}

TEST_F(BadPluginsTest, IdMismatch) {
  EXPECT_EQ(refusal_of("id_mismatch"),
            "the manifest says id id_mismatch, the code says somebody_else");
}

TEST_F(BadPluginsTest, FailingOpen) {
  EXPECT_EQ(refusal_of("failing_open"), "the licence server does not answer");
}

TEST_F(BadPluginsTest, Throwing) {
  EXPECT_EQ(refusal_of("throwing"), "open let an exception escape: out of patience");
}

TEST_F(BadPluginsTest, ThrowingWhatIsNoException) {
  EXPECT_EQ(refusal_of("throwing_number"), "colibri_plugin_v1 let an exception escape");
}

TEST_F(BadPluginsTest, IncompleteTable) {
  EXPECT_EQ(refusal_of("incomplete_table"), "colibri_sampler_1.apply is null");
}

TEST_F(BadPluginsTest, ShortTable) {
  EXPECT_EQ(refusal_of("short_table"), "colibri_sampler_1.struct_size is 32, less than 48");
}

TEST_F(BadPluginsTest, MissingInterface) {
  EXPECT_EQ(refusal_of("missing_interface"),
            "the manifest offers colibri.sampler/1, get_interface does not");
}

TEST_F(BadPluginsTest, KernelsOfAnotherDraft) {
  EXPECT_EQ(refusal_of("other_draft"),
            "built from draft " + std::to_string(COLIBRI_KERNELS_DRAFT + 1) +
                " of kernels.h, this host from draft " + std::to_string(COLIBRI_KERNELS_DRAFT) +
                "; rebuild the plugin");
}

TEST_F(BadPluginsTest, KernelsThatAreLessExactThanPromised) {
  EXPECT_EQ(refusal_of("dishonest"),
            "the manifest promises numerics identical, the table is approximate");
}

TEST_F(BadPluginsTest, AttributeBeyondItsStruct) {
  add("blind");
  const auto chooser = KernelChooser::create(*registry(), {});
  ASSERT_TRUE(chooser.ok()) << chooser.status().text();
  const colibri_norm_attributes attributes = {sizeof(attributes), COLIBRI_NORM_RMS, 0.5f,
                                              COLIBRI_CODEC_F32, 0};
  colibri_op_desc desc = {};
  desc.struct_size = sizeof(desc);
  desc.op = COLIBRI_OP_NORM;
  desc.attributes = &attributes;
  desc.max_rows = 4;
  const auto choice = chooser->choose(desc);
  EXPECT_EQ(choice.status().text(),
            "no plugin computes norm (kind rms, eps 0.5, output_dtype f32; up to 4 rows):\n"
            "  blind: knows 8 bytes of the attributes, and byte 11 behind them is not zero");
}

TEST_F(BadPluginsTest, WorldWritableFolderAndFile) {
  add("good");
  ASSERT_EQ(chmod(folder_.c_str(), 0777), 0);
  EXPECT_EQ(refusal(), "everybody may write to this folder (chmod o-w)");
  ASSERT_EQ(chmod(folder_.c_str(), 0755), 0);
  ASSERT_EQ(chmod((folder_ / "good.so").c_str(), 0666), 0);
  EXPECT_EQ(refusal(), "everybody may write to this file (chmod o-w)");
  EXPECT_THAT(mapped_files(), testing::Not(testing::HasSubstr(folder_.string())));
}

TEST_F(BadPluginsTest, AnFifoIsNotOpened) {
  ASSERT_EQ(mkfifo((folder_ / "a.so").c_str(), 0600), 0);
  EXPECT_EQ(refusal(), "not a regular file");
}

// What `plugins check` finds, by group.
std::string outcome(const std::string& name, const std::string& group) {
  const std::string file = std::string(BAD_PLUGINS) + "/" + name + ".so";
  for (const CheckResult& result : check_plugin(file, *machine::Profile::detect(), {})) {
    if (result.group != group) continue;
    if (result.outcome == CheckResult::Outcome::kPassed) return "passed";
    const bool skipped = result.outcome == CheckResult::Outcome::kSkipped;
    return (skipped ? "skipped: " : "failed: ") + result.text;
  }
  return "no such group";
}

TEST(PluginsCheckTest, TheGoodOnePassesEverything) {
  for (const char* group : {"manifest", "load", "lifecycle", "bad input", "workers"}) {
    EXPECT_EQ(outcome("good", group), "passed") << group;
  }
}

TEST(PluginsCheckTest, ACrashInAnInitialiserIsAResult) {
  EXPECT_EQ(outcome("crashing_initialiser", "load"),
            "failed: crashed with signal 4 (Illegal instruction)");
  EXPECT_EQ(outcome("crashing_initialiser", "bad input"), "skipped: not loaded");
  EXPECT_EQ(outcome("leaving_initialiser", "load"), "failed: ended the process with exit code 0");
}

TEST(PluginsCheckTest, FaultsAreFoundInTheirGroup) {
  EXPECT_EQ(outcome("no_manifest", "manifest"),
            "failed: no Colibri manifest in it (docs/writing-a-plugin.md)");
  EXPECT_EQ(outcome("no_manifest", "load"), "skipped: not loaded");
  EXPECT_EQ(outcome("failing_open", "load"), "failed: the licence server does not answer");
  EXPECT_EQ(outcome("greedy_policy", "load"), "passed");
  EXPECT_EQ(
      outcome("greedy_policy", "bad input"),
      "failed: colibri.cache_policy/1: victims chooses a key that is not evictable, or one twice");
}

TEST_F(BadPluginsTest, TheProgramReportsACrashAndLives) {
  int code = 0;
  const std::string output =
      run("plugins check '" + built("crashing_initialiser").string() + "'", &code);
  EXPECT_EQ(code, 1);
  EXPECT_EQ(output,
            "passed   manifest\n"
            "FAILED   load: crashed with signal 4 (Illegal instruction)\n"
            "skipped  lifecycle: not loaded\n"
            "skipped  bad input: not loaded\n"
            "skipped  workers: not loaded\n"
            "skipped  numerics: not loaded\n");
}

TEST_F(BadPluginsTest, TheProgramPrintsJson) {
  add("good");
  add("no_manifest");
  ASSERT_EQ(setenv("COLIBRI_PLUGIN_PATH", folder_.c_str(), 1), 0);
  int code = 0;
  const auto listed = nlohmann::json::parse(run("plugins list --json", &code));
  ASSERT_EQ(unsetenv("COLIBRI_PLUGIN_PATH"), 0);
  EXPECT_EQ(code, 0);
  EXPECT_EQ(listed["machine"]["architecture"], profile_.architecture);
  std::map<std::string, nlohmann::json> by_file;
  for (const auto& plugin : listed["plugins"]) by_file[plugin["file"]] = plugin;
  const nlohmann::json good = by_file[folder_ / "good.so"];
  EXPECT_EQ(good["id"], "good");
  EXPECT_EQ(good["accepted"], true);
  EXPECT_EQ(good["interfaces"], nlohmann::json::array({"colibri.sampler/1"}));
  EXPECT_EQ(by_file[folder_ / "no_manifest.so"]["reason"],
            "no Colibri manifest in it (docs/writing-a-plugin.md)");

  const std::string file = "'" + built("good").string() + "'";
  const auto inspected = nlohmann::json::parse(run("plugins inspect --json " + file, &code));
  EXPECT_EQ(inspected["id"], "good");
  EXPECT_EQ(inspected["suits_this_machine"], true);
  const auto checked = nlohmann::json::parse(run("plugins check --json " + file, &code));
  EXPECT_EQ(code, 0);
  ASSERT_EQ(checked.size(), 6u);
  EXPECT_EQ(checked[1]["group"], "load");
  EXPECT_EQ(checked[1]["outcome"], "passed");
}

TEST_F(BadPluginsTest, TheProgramRefusesByName) {
  int code = 0;
  EXPECT_EQ(run("plugins inspect '" + built("no_manifest").string() + "'", &code),
            "colibri: " + built("no_manifest").string() +
                ": no Colibri manifest in it (docs/writing-a-plugin.md)\n");
  EXPECT_EQ(code, 2);
  EXPECT_EQ(run("plugins inspect /nowhere.so", &code).find("colibri: /nowhere.so: "), 0u);
  EXPECT_EQ(code, 2);
}

#ifdef HAVE_CPU_AVX512
// cpu_avx512 on a machine without AVX-512; tests/refusal does the same on emulated processors.
class Avx512Test : public BadPluginsTest {
 protected:
  void SetUp() override {
    ASSERT_EQ(setenv("COLIBRI_MAX_ISA", "avx2", 1), 0);
    request_.search = {PLUGINS};
    profile_ = *machine::Profile::detect();
  }
};

TEST_F(Avx512Test, IsRefusedWithTheMissingFeaturesAndNotLoaded) {
  const auto made = registry();
  const auto found = made->find("colibri.kernels/0", "cpu_avx512");
  EXPECT_EQ(found.status().code(), COLIBRI_UNSUPPORTED);
  EXPECT_THAT(
      found.status().text(),
      testing::AllOf(testing::HasSubstr("plugin cpu_avx512 cannot be used: needs "),
                     testing::HasSubstr("avx512f"),
                     testing::HasSubstr("which this machine lacks under COLIBRI_MAX_ISA=avx2")));
  EXPECT_THAT(mapped_files(), testing::Not(testing::HasSubstr("cpu_avx512")));
  EXPECT_THAT(mapped_files(), testing::HasSubstr("colibri_cpu_generic.so"));
}

TEST_F(Avx512Test, PreferringItIsOneLineOfExplanation) {
  write("prefer.yaml",
        "apiVersion: colibri/v1\nkind: Pipeline\nmodel: { path: /nowhere }\n"
        "plugins: { prefer: [cpu_avx512] }\n");
  int code = 0;
  const std::string output =
      run("plugins list '" + (folder_ / "prefer.yaml").string() + "'", &code);
  EXPECT_EQ(code, 0);
  EXPECT_THAT(output,
              testing::HasSubstr("plugins.prefer: running without plugin cpu_avx512: needs "));
}

#endif

}  // namespace
}  // namespace colibri::plugin
