// SPDX-License-Identifier: Apache-2.0
#include "runtime/experts/route_trace.h"
#include "runtime/base/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "runtime/base/file.h"

namespace colibri::experts {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kHead =
    "colibri-route-trace 1\nlayers 3\nexperts 8\ntop_k 2\nbundle_bytes 4096\n";

class RouteTraceTest : public testing::Test {
 protected:
  const TemporaryFolder temporary_{"colibri route trace 踪迹"};
  const std::filesystem::path& folder_ = temporary_.path();
};

TEST_F(RouteTraceTest, WhatIsWrittenIsRead) {
  const auto path = folder_ / "trace";
  auto writer = RouteTraceWriter::create(path, {3, 8, 2}, 4096);
  ASSERT_TRUE(writer.ok()) << writer.status().text();
  const int32_t prompt[] = {5, 1, 1, 0, 7, 5}, token[] = {2, 3};
  EXPECT_TRUE((*writer)->record(0, 2, 3, prompt).ok());
  EXPECT_TRUE((*writer)->record(UINT64_MAX, 0, 1, token).ok());
  ASSERT_TRUE((*writer)->finish().ok());
  EXPECT_EQ(*read_file(path, 1000), kHead + "0 2 5,1 1,0 7,5\n18446744073709551615 0 2,3\n");
  const auto trace = read_route_trace(path);
  ASSERT_TRUE(trace.ok()) << trace.status().text();
  EXPECT_EQ(trace->shape.layers, 3u);
  EXPECT_EQ(trace->shape.experts, 8u);
  EXPECT_EQ(trace->shape.top_k, 2u);
  EXPECT_EQ(trace->bundle_bytes, 4096u);
  ASSERT_EQ(trace->visits.size(), 2u);
  EXPECT_EQ(trace->visits[0].layer, 2u);
  EXPECT_EQ(trace->visits[0].tokens, 3u);
  EXPECT_THAT(trace->experts_of(trace->visits[0]), ElementsAre(0, 1, 5, 7));
  EXPECT_EQ(trace->visits[1].step, UINT64_MAX);
  EXPECT_THAT(trace->experts_of(trace->visits[1]), ElementsAre(2, 3));
}

TEST_F(RouteTraceTest, AFileThatCannotBeWrittenIsSaid) {
  const auto absent = RouteTraceWriter::create(folder_ / "none" / "trace", {3, 8, 2}, 4096);
  EXPECT_THAT(absent.status().text(), HasSubstr("trace: No such file or directory"));
  auto full = RouteTraceWriter::create("/dev/full", {3, 8, 2}, 4096);
  ASSERT_TRUE(full.ok()) << full.status().text();
  const int32_t token[] = {2, 3};
  EXPECT_TRUE((*full)->record(0, 0, 1, token).ok()) << "is held back";
  EXPECT_EQ((*full)->finish().text(),
            "cannot write the route trace /dev/full: No space left on device");
  full = RouteTraceWriter::create("/dev/full", {3, 8, 2}, 4096);
  const std::vector<int32_t> many(200'000, 7);
  EXPECT_EQ((*full)->record(0, 0, 100'000, many.data()).text(),
            "cannot write the route trace /dev/full: No space left on device");
}

TEST_F(RouteTraceTest, WhatIsNoWholeTraceIsRefused) {
  const std::vector<std::pair<std::string, std::string>> refusals = {
      {"",
       "t:1: is not 'colibri-route-trace 1': this is no route trace, or one of another version"},
      {"colibri-route-trace 2\n",
       "t:1: is not 'colibri-route-trace 1': this is no route trace, or one of another version"},
      {"colibri-route-trace 1\nexperts 8\n", "t:2: is not 'layers N'"},
      {"colibri-route-trace 1\nlayers 0\n", "t:2: layers is not a number from 1 to 4096"},
      {"colibri-route-trace 1\nlayers 4097\n", "t:2: layers is not a number from 1 to 4096"},
      {"colibri-route-trace 1\nlayers 99999999999999\n",
       "t:2: layers is not a number from 1 to 4096"},
      {"colibri-route-trace 1\nlayers 3 \n", "t:2: more than a number stands behind 'layers'"},
      {"colibri-route-trace 1\nlayers 3\nexperts 4\ntop_k 5\n",
       "t:4: top_k is not a number from 1 to 4"},
      {kHead, "t:6: there is no visit: nothing was recorded"},
      {kHead + "0 0 1,2",
       "t:6: the last line has no end: the run that wrote the trace did not finish it"},
      {kHead + "\n", "t:6: the step is not a number from 0 to 18446744073709551615"},
      {kHead + "-1 0 1,2\n", "t:6: the step is not a number from 0 to 18446744073709551615"},
      {kHead + "0\n", "t:6: no space follows the step"},
      {kHead + "0 3 1,2\n", "t:6: the layer is not a number from 0 to 2"},
      {kHead + "0 0\n", "t:6: no space precedes a token's experts"},
      {kHead + "0 0 1,2\n0 1 1,8\n", "t:7: an expert is not a number from 0 to 7"},
      {kHead + "0 0 1\n", "t:6: a token has 1 experts, not 2"},
      {kHead + "0 0 1,2,3\n", "t:6: no space precedes a token's experts"},
      {kHead + "0 0 1,2  3,4\n", "t:6: an expert is not a number from 0 to 7"},
      {kHead + "0 0 1,2\r\n", "t:6: no space precedes a token's experts"},
  };
  for (const auto& [text, refusal] : refusals) {
    EXPECT_EQ(parse_route_trace(text, "t").status().text(), refusal) << text;
  }
}

}  // namespace
}  // namespace colibri::experts
