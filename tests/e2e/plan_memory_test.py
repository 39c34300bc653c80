#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What colibri plan says a run will have in memory at most, against what runs with a full context had.

    plan_memory_test.py COLIBRI SOURCE
"""

import json
import resource
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import gguf_zeros

COLIBRI, SOURCE = sys.argv[1], Path(sys.argv[2])


def answer(*args):
    done = subprocess.run([COLIBRI, *map(str, args), "--json"], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


class PlanMemory(unittest.TestCase):
    def check(self, planned, measured):
        margin = max(0.03 * measured, 8 << 20)
        self.assertLessEqual(abs(planned - measured), margin,
                             f"planned {planned / 2**20:.1f} MiB, measured {measured / 2**20:.1f} MiB")

    def check_bench(self, model, prompt, generate, *options):
        planned = answer("plan", model, "-c", prompt + generate, *options)["memory"]["peak"]
        made = answer("bench", model, "-p", prompt, "-n", generate, "-r", 1, "--warmup", 0, *options)
        self.check(planned, made["peak_memory_bytes"])
        self.check(made["planned_peak_memory_bytes"], made["peak_memory_bytes"])

    def test_the_demo(self):
        self.check_bench(SOURCE / "models/demo", 1000, 24)
        self.check_bench(SOURCE / "models/demo", 40, 8, "--set", "context.kv=f32")
        self.check_bench(SOURCE / "models/demo", 400, 24, "--set", "experts.budget=25%")

    def test_the_demo_run_on_text(self):
        pipeline = SOURCE / "configs/pipelines/plc_summary.yaml"
        planned = answer("plan", pipeline)["memory"]["peak"]
        made = answer("run", pipeline, "-f", SOURCE / "models/demo/sample_log.txt")
        self.check(planned, made["peak_memory_bytes"])

    def test_the_demo_on_a_small_machine(self):
        space = 256 << 20
        done = subprocess.run([COLIBRI, "run", str(SOURCE / "configs/pipelines/plc_summary.yaml"), "--json",
                               "-f", str(SOURCE / "models/demo/sample_log.txt")], capture_output=True, check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (space, space)))
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertLessEqual(json.loads(done.stdout)["peak_memory_bytes"], 48 << 20)

    def test_gguf_models(self):
        for name in ("qwen3moe_q8_0", "deepseek2_k"):
            self.check_bench(SOURCE / f"tests/golden/gguf/{name}.gguf", 40, 8)

    def test_a_model_of_hundreds_of_megabytes(self):
        with tempfile.TemporaryDirectory(prefix="colibri ") as folder:
            model = Path(folder) / "zeros.gguf"
            gguf_zeros.write(model, layers=4, hidden=1024, experts=32, inner=512, vocabulary=32000)
            self.assertGreater(model.stat().st_size, 250 << 20)
            self.check_bench(model, 480, 32)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
