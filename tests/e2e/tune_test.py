#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""colibri tune: what it writes is a pipeline that gives the same answer, and plan says where settings come from.
No time is judged.

    tune_test.py COLIBRI SOURCE
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

COLIBRI, SOURCE = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
PIPELINE = SOURCE / "configs/pipelines/plc_summary.yaml"
DEMO = SOURCE / "models/demo"
SHORT = ("-p", 70, "-n", 3, "-r", 1)
REFUSED = 2


class Tune(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="colibri $ 调 "))
        self.addCleanup(shutil.rmtree, self.folder)

    def colibri(self, *args, code=0):
        done = subprocess.run([COLIBRI, *map(str, args)], capture_output=True, check=False, cwd=self.folder)
        self.assertEqual(done.returncode, code, done.stderr.decode())
        return (done.stderr if code else done.stdout).decode()

    def test_the_file_extends_the_pipeline_and_keeps_the_answer(self):
        said = self.colibri("tune", PIPELINE, *SHORT, "--set", "threads.count=2")
        file = self.folder / "plc_summary.tuned.yaml"
        self.assertTrue(said.endswith("wrote plc_summary.tuned.yaml\n"), said)
        decided = re.findall(r"^([\w.]+): .* ms; (?:now|stays) (\S+)$", said, re.MULTILINE)
        for key in ("threads.count", "threads.decode", "context.prefill_chunk", "plugins.operators.grouped_matmul"):
            self.assertIn(key, dict(decided))
        text = file.read_text(encoding="utf-8")
        for line in said.splitlines()[:-1]:
            self.assertIn(f"#   {line}\n", text)
        self.colibri("config", "validate", file)
        log = ("-f", DEMO / "sample_log.txt")
        tuned = json.loads(self.colibri("run", file, *log, "--json"))
        self.assertEqual(tuned["ids"], json.loads(self.colibri("run", PIPELINE, *log, "--json"))["ids"])
        # What it made before it may make again.
        self.colibri("tune", PIPELINE, *SHORT)

    def test_plan_names_the_file_of_each_setting(self):
        file = self.folder / "mine.yaml"
        file.write_text("apiVersion: colibri/v1\nkind: Pipeline\n"
                        f"model: {{ path: {json.dumps(str(DEMO))} }}\n"
                        "threads: { count: 2, decode: 1 }\ncontext: { prefill_chunk: 64 }\n"
                        "plugins:\n  operators: { norm: cpu_generic }\n", encoding="utf-8")
        text = self.colibri("plan", file)
        for place in ("mine.yaml:4:19), 1 for a single token", "mine.yaml:4:30)", "in chunks of 64 (", "mine.yaml:5:27)",
                      "mine.yaml:7:22): norm"):
            self.assertIn(place, text)
        self.assertEqual(json.loads(self.colibri("plan", file, "--json"))["decode_threads"], 1)
        self.assertIn("threads.decode: 3 threads are more than threads.count, 2",
                      self.colibri("plan", file, "--set", "threads.decode=3", code=REFUSED))

    def test_a_model_is_tuned_into_the_file_that_is_named(self):
        self.colibri("tune", "-m", DEMO, *SHORT, "-o", "out.yaml", "--set", "plugins.operators={grouped_matmul: cpu_generic}")
        text = (self.folder / "out.yaml").read_text(encoding="utf-8")
        self.assertNotIn("grouped_matmul", text)  # it was pinned
        self.assertIn("plugins.operators.attention", text)
        plan = json.loads(self.colibri("plan", "out.yaml", "--json"))
        self.assertTrue((self.folder / plan["model"]["path"]).samefile(DEMO))

    def test_what_it_did_not_make_is_not_overwritten(self):
        (self.folder / "out.yaml").write_text("apiVersion: colibri/v1\n", encoding="utf-8")
        self.assertIn("not made by tune", self.colibri("tune", DEMO, *SHORT, "-o", "out.yaml", code=REFUSED))
        self.assertIn("nothing to run", self.colibri("tune", code=REFUSED))
        self.assertIn("--repeats", self.colibri("tune", DEMO, "-r", 0, code=REFUSED))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
