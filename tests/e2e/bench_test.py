#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""colibri bench: what it reports holds together, and its flags do what they say. No time is judged.

    bench_test.py COLIBRI SOURCE
"""

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

COLIBRI, SOURCE = sys.argv[1], Path(sys.argv[2])
DEMO = SOURCE / "models/demo"
OTHER_MODEL = SOURCE / "tests/golden/models/gqa2_f32"
DONE, FAILED, REFUSED = 0, 1, 2


def colibri(*args):
    return subprocess.run([COLIBRI, *map(str, args)], capture_output=True, check=False)


def bench(*args):
    done = colibri("bench", *args, "--json")
    assert done.returncode == DONE, done.stderr.decode()
    return json.loads(done.stdout)


class Bench(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="colibri 测 "))
        self.addCleanup(shutil.rmtree, self.folder)

    def check_spread(self, of):
        self.assertGreater(of["least"], 0)
        self.assertLessEqual(of["least"], of["median"])
        self.assertLessEqual(of["median"], of["most"])

    def check_breakdown(self, of, threads, used):
        self.assertEqual(of["threads"], threads)
        parts = [part["thread_seconds"] for part in of["operators"]]
        self.assertEqual(parts, sorted(parts, reverse=True))
        rest = [of[key] for key in ("waiting_thread_seconds", "host_thread_seconds", "experts_thread_seconds")]
        self.assertTrue(all(part >= 0 for part in parts + rest), of)
        all_seconds = threads * of["seconds"]
        self.assertAlmostEqual(sum(parts) + sum(rest), all_seconds, delta=0.001 * all_seconds)
        uses = [use for part in of["operators"] for use in part["uses"]]
        self.assertEqual(len(uses), len(set(uses)))
        for use in used:
            self.assertIn(use, uses)
        for part in of["operators"]:
            self.assertTrue(part["operator"] and part["plugin"])

    def test_a_report_holds_together(self):
        made = bench(DEMO, "-p", "24,8", "-n", "6,0", "-r", 3, "--warmup", 0, "-t", 2, "--breakdown")
        self.assertEqual((made["architecture"], made["threads"], made["kv"]), ("mixtral", 2, "f16"))
        self.assertEqual((made["repeats"], made["warmup"]), (3, 0))
        self.assertGreater(made["load_seconds"], 0)
        self.assertGreater(made["peak_memory_bytes"], 4 << 20)
        self.assertEqual(set(made["limits"]), {"read_bytes_per_second", "int8_operations_per_second",
                                               "f32_operations_per_second"})
        self.assertTrue(all(limit > 0 for limit in made["limits"].values()))
        lengths = [(test["prompt_tokens"], test["generated_tokens"]) for test in made["tests"]]
        self.assertEqual(lengths, [(24, 6), (24, 0), (8, 6), (8, 0)])
        for test in made["tests"]:
            tokens = test["generated_tokens"]
            self.assertEqual(len(test["chosen"]), tokens + 1)
            prefill = test["prefill"]
            self.check_spread(prefill["tokens_per_second"])
            self.check_spread(test["first_token_seconds"])
            # The first token comes behind the prompt.
            self.assertGreaterEqual(test["first_token_seconds"]["median"],
                                    test["prompt_tokens"] / prefill["tokens_per_second"]["most"])
            self.assertEqual(prefill["int8_fraction"], 0)  # its weights are bf16
            self.assertGreater(prefill["f32_fraction"], 0)
            self.check_breakdown(prefill["breakdown"], 2, ["experts.gate_up", "attention", "router", "head"])
            self.assertEqual("decode" in test, tokens > 0)
            if tokens == 0:
                continue
            decode = test["decode"]
            self.check_spread(decode["tokens_per_second"])
            for times in (decode["token_seconds"], decode["token_cpu_seconds"]):
                order = [times[key] for key in ("p50", "p95", "p99", "most")]
                self.assertEqual(order, sorted(order))
                self.assertGreater(order[0], 0)
            self.assertLessEqual(1 / decode["tokens_per_second"]["most"], decode["token_seconds"]["most"])
            self.assertGreater(decode["read_fraction"], 0)
            self.check_breakdown(decode["breakdown"], 2, ["experts.gate_up", "attention", "router", "head"])

    def test_experts_are_counted_and_recorded(self):
        trace = self.folder / "路 trace"
        made = bench(DEMO, "-p", 9, "-n", 6, "-r", 2, "--warmup", 0, "--set", "experts.budget=40%", "--route-trace", trace)
        test = made["tests"][0]
        replayed = json.loads(colibri("cache", "replay", trace, "--policies", "arc", "--budgets", "40%", "--json").stdout)
        counted = replayed["points"][0]["policies"]["arc"]
        for key in ("hits", "misses"):
            self.assertEqual(test["prefill"]["experts"][key] + test["decode"]["experts"][key], counted[key])
        self.assertGreater(test["decode"]["experts"]["misses"], 0)
        self.assertEqual(test["decode"]["experts"]["missed_bytes"],
                         test["decode"]["experts"]["misses"] * replayed["trace"]["bundle_bytes"])
        all_in_memory = bench(DEMO, "-p", 9, "-n", 6, "-r", 1)["tests"][0]["decode"]["experts"]
        self.assertEqual((all_in_memory["misses"], all_in_memory["missed_bytes"]), (0, 0))

    def test_integer_products_are_compared_with_the_int8_rate(self):
        test = bench(DEMO, "--set", "model.quantize=q8_0", "-p", 32, "-n", 2, "-r", 1)["tests"][0]
        self.assertGreater(test["prefill"]["int8_fraction"], test["prefill"]["f32_fraction"])
        self.assertGreater(test["decode"]["int8_fraction"], 0)
        self.assertNotIn("breakdown", test["prefill"])
        self.assertNotIn("breakdown", test["decode"])

    def test_several_requests_at_once(self):
        made = bench(DEMO, "-p", 24, "-n", 5, "-r", 2, "--requests", 3, "--set", "context.prefill_chunk=40")
        test = made["tests"][0]
        # 40 and 32 rows of the prompts, the tokens of the first beside the latter, then all the other tokens.
        self.assertEqual((test["requests"], test["passes"]), (3, 7))
        for rate in ("tokens_per_second", "generated_tokens_per_second"):
            self.check_spread(test[rate])
        for times in ("first_token_seconds", "request_seconds", "token_seconds"):
            order = [test[times][key] for key in ("p50", "p95", "p99", "most")]
            self.assertEqual(order, sorted(order))
            self.assertGreater(order[0], 0)
        self.assertGreater(test["request_seconds"]["p50"], test["first_token_seconds"]["p50"])
        self.assertGreater(test["f32_fraction"], 0)
        text = colibri("bench", DEMO, "-p", 8, "-n", 2, "-r", 1, "--requests", 2).stdout.decode()
        self.assertIn("2 requests at once", text)
        refused = colibri("bench", DEMO, "-p", 8, "-n", 2, "--requests", 2, "--breakdown")
        self.assertEqual(refused.returncode, 2)
        self.assertIn(b"leave out --requests", refused.stderr)

    def test_steady_tokens_all_stand_behind_the_prompt(self):
        given = [17 * i % 1000 for i in range(16)]
        ids = self.folder / "ids"

        def chosen_with(what, *args):
            ids.write_text(" ".join(map(str, what)), encoding="utf-8")
            return bench(DEMO, "-p", 12, "-r", 1, "--warmup", 0, "--ids", ids, *args)["tests"][0]["chosen"]

        trace = self.folder / "trace"
        chosen = chosen_with(given, "-n", 4, "--steady", "--trace", trace)
        alone = [chosen_with(given[:12] + [token], "-n", 1) for token in given[12:]]
        self.assertEqual(chosen, [alone[0][0]] + [each[1] for each in alone])
        self.assertNotEqual(chosen, chosen_with(given, "-n", 4))
        events = json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
        self.assertEqual([event["name"] for event in events if event.get("cat") == "call"], ["prompt of 12"] + 4 * ["token 12"])

    def test_a_fixed_loop_runs_beside_steady_tokens(self):
        few = (DEMO, "-p", 8, "-n", 3, "-r", 2, "--warmup", 0)
        decode = bench(*few, "--steady")["tests"][0]["decode"]
        for times in (decode["loop_seconds"], decode["loop_cpu_seconds"]):
            order = [times[key] for key in ("p50", "p95", "p99", "most")]
            self.assertEqual(order, sorted(order))
            self.assertGreater(order[0], 0)
        self.assertLessEqual(1 / decode["tokens_per_second"]["most"], decode["token_seconds"]["most"])
        self.assertNotIn("loop_seconds", bench(*few)["tests"][0]["decode"])
        text = colibri("bench", *few, "--steady").stdout.decode()
        self.assertRegex(text, r"fixed loop +P50 [\d.]+ ms, P95 [\d.]+ ms, P99 [\d.]+ ms")
        refused = colibri("bench", *few, "--steady", "--requests", 2)
        self.assertEqual(refused.returncode, REFUSED)
        self.assertIn(b"leave out --requests", refused.stderr)

    def test_the_tokens_are_given_beforehand(self):
        few = ("-p", 12, "-n", 4, "-r", 1, "--warmup", 0)
        chosen = bench(DEMO, *few)["tests"][0]["chosen"]
        self.assertEqual(chosen, bench(DEMO, *few, "-t", 1)["tests"][0]["chosen"])
        self.assertEqual(chosen, bench("-m", DEMO, *few)["tests"][0]["chosen"])
        self.assertNotEqual(chosen, bench(DEMO, *few, "--seed", 7)["tests"][0]["chosen"])
        self.assertNotEqual(chosen, bench(OTHER_MODEL, *few)["tests"][0]["chosen"])
        ids = self.folder / "编号"
        ids.write_text(", ".join(str(17 * i % 1000) for i in range(20)) + "\n", encoding="utf-8")
        first = bench(DEMO, *few, "--ids", ids)["tests"][0]["chosen"]
        self.assertNotEqual(chosen, first)
        longer = bench(DEMO, "-p", "12", "-n", "8", "-r", 1, "--warmup", 0, "--ids", ids)["tests"][0]["chosen"]
        self.assertEqual(longer[:5], first)

    def test_a_run_would_choose_what_bench_chooses(self):
        prompt = "<|en|>\n2024-01-01 PLC01 pump on\n"
        made = json.loads(colibri("run", DEMO, "-p", prompt, "-n", 6, "--json").stdout)
        tokens = json.loads(colibri("tokenize", DEMO, "-p", prompt, "--json").stdout)["ids"]
        ids = self.folder / "ids"
        ids.write_text(" ".join(map(str, tokens + made["ids"])), encoding="utf-8")
        n = len(made["ids"]) - 1
        chosen = bench(DEMO, "-p", len(tokens), "-n", n, "-r", 1, "--ids", ids)["tests"][0]["chosen"]
        self.assertEqual(chosen, made["ids"])

    def test_a_trace_is_one_that_viewers_read(self):
        file = self.folder / "踪迹.json"
        bench(DEMO, "-p", 8, "-n", 3, "-r", 1, "-t", 2, "--trace", file)
        events = json.loads(file.read_text(encoding="utf-8"))["traceEvents"]
        calls = [event["name"] for event in events if event.get("cat") == "call"]
        self.assertEqual(calls, ["prompt of 8", "token 8", "token 9", "token 10"])
        spans = [event for event in events if event["ph"] == "X"]
        self.assertTrue(all(span["ts"] >= 0 and span["dur"] >= 0 for span in spans))
        self.assertLessEqual({span["tid"] for span in spans}, {0, 1})
        named = {event["tid"] for event in events if event["name"] == "thread_name"}
        self.assertEqual(named, {0, 1})
        operators = [span for span in spans if span["cat"] == "operator"]
        self.assertIn("experts.down", {span["name"] for span in operators})
        for span in operators:  # each lies in a call
            self.assertTrue(any(call["ts"] <= span["ts"] and span["ts"] + span["dur"] <= call["ts"] + call["dur"] + 0.01
                                for call in spans if call["cat"] == "call"), span)

    def test_text_is_for_people(self):
        text = colibri("bench", DEMO, "-p", 8, "-n", 2, "-r", 1, "--breakdown").stdout.decode()
        self.assertRegex(text, r"limits of the machine now: read [\d.]+ GB/s, int8 \d+ GOP/s")
        self.assertRegex(text, r"a token +P50 [\d.]+ ms, P95 [\d.]+ ms, P99 [\d.]+ ms")
        self.assertRegex(text, r"[\d.]+ %  experts.gate_up \(cpu_")

    def test_kernels_are_compared_on_the_operators_of_the_model(self):
        # Two plugins with all operators are enough to compare: each more takes its time with every one of them.
        spare = "cpu_avx512, cpu_avx512_vnni"
        made = bench("kernels", DEMO, "-r", 2, "-t", 2, "--set", "context.prefill_chunk=16", "--set",
                     "model.quantize={experts: q8_0}", "--set", f"plugins.deny=[{spare}]")
        plan = json.loads(colibri("plan", DEMO, "--set", "model.quantize={experts: q8_0}", "--json").stdout)
        uses = {use for op in plan["operators"] for use in op["uses"]}
        self.assertEqual({use for case in made["cases"] for use in case["uses"].split(", ")}, uses)
        self.assertEqual(len({(case["operator"], case["rows"]) for case in made["cases"]}), len(made["cases"]))
        for case in made["cases"]:
            self.assertIn("cpu_generic", [plugin["plugin"] for plugin in case["plugins"]])
            name = case["operator"].split()[0]
            product = name == "grouped_matmul"
            experts = product and case["uses"].startswith("experts")
            self.assertIn((case["groups"], case["rows"]), [(2, 1), (8, 4)] if experts else [(1, 1), (1, 16)])
            for plugin in case["plugins"]:
                self.check_spread(plugin["seconds"])
                if not product and name != "attention":
                    self.assertEqual((case["bytes"], case["operations"]), (0, 0), case)
                    continue
                self.assertGreater(plugin["read_fraction"], 0)
                rates = plugin["int8_fraction"], plugin["f32_fraction"]
                self.assertTrue(rates[experts] == 0 and rates[not experts] > 0, case)
        text = colibri("bench", "kernels", DEMO, "-r", 1, "--set",
                       f"plugins.deny=[cpu_generic, {spare}]").stdout.decode()
        self.assertRegex(text, r"experts.gate_up: grouped_matmul .*\n  2 x 1 rows\n")
        self.assertNotIn("cpu_generic", text)

    def refused(self, *args, says):
        done = colibri("bench", *args)
        self.assertEqual(done.returncode, REFUSED, done.stderr.decode())
        self.assertEqual(done.stdout, b"")
        self.assertIn(says, done.stderr.decode())

    def test_what_cannot_be_measured_is_refused(self):
        self.refused(says="nothing to run")
        self.refused("kernels", says="nothing to run")
        self.refused(DEMO, "-p", 1000, "-n", 100, says="-p and -n: context.max_tokens: 1100 tokens")
        self.refused(DEMO, "-p", 10, "-n", 5, "--set", "context.max_tokens=12", says="the longest test takes 15")
        self.refused(DEMO, "-p", 0, says="--prompt-tokens")
        self.refused(DEMO, "-r", 0, says="--repeats")
        ids = self.folder / "ids"
        for text, says in (("1 2 3", "3 ids, and the longest test takes 5"), ("1 2 x", "byte 4 begins no id"),
                           ("1 2 3 4 5000", "id 5000 at index 4"), (" \n", "holds no ids"), ("1 2 3.5", "byte 4"),
                           ("99999999999999", "byte 0 begins no id"), ("1 -2 3 4 5", "id -2 at index 1")):
            ids.write_text(text, encoding="utf-8")
            self.refused(DEMO, "-p", 3, "-n", 2, "--ids", ids, says=says)
        self.refused(DEMO, "--ids", self.folder / "none", says="none")

    def test_a_trace_that_cannot_be_written_is_a_failure(self):
        done = colibri("bench", DEMO, "-p", 4, "-n", 0, "-r", 1, "--trace", self.folder / "none" / "file")
        self.assertEqual(done.returncode, FAILED)
        self.assertIn(b"No such file", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
