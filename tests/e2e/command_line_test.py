#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program as a user meets it: exit codes, streams, interrupts, odd folders, bad input.

    command_line_test.py COLIBRI SOURCE
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

COLIBRI, SOURCE = sys.argv[1], Path(sys.argv[2])
TEXT_MODEL = SOURCE / "tests/golden/models/text_bf16"
NO_TOKENIZER = SOURCE / "tests/golden/models/gqa2_f32"
DEMO = SOURCE / "configs/pipelines/plc_summary.yaml"

DONE, FAILED, REFUSED = 0, 1, 2


def colibri(*args, stdin=b"", **kwargs):
    return subprocess.run([COLIBRI, *map(str, args)], input=stdin, capture_output=True, check=False, **kwargs)


class CommandLine(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="colibri 文件夹 "))
        self.addCleanup(shutil.rmtree, self.folder)

    def refused(self, *args, stdin=b"", says):
        done = colibri(*args, stdin=stdin)
        error = done.stderr.decode()
        self.assertEqual(done.returncode, REFUSED, error)
        self.assertEqual(done.stdout, b"")
        self.assertIn(says, error)

    def test_the_demo_answers_the_sample_in_both_languages(self):
        sample = (SOURCE / "models/demo/sample_log.txt").read_bytes()
        for pipeline, language in ((DEMO, "en"), (SOURCE / "configs/pipelines/plc_summary_zh.yaml", "zh")):
            want = (SOURCE / f"models/demo/sample_log.expected.{language}.txt").read_text(encoding="utf-8")
            done = colibri("run", pipeline, stdin=sample)
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertEqual(done.stdout.decode().strip(), want.strip())
            self.assertRegex(done.stderr.decode(), r"\d+ tokens \(end of text\) \| prompt \d+ tokens")

    def test_the_fastest_numerics_may_multiply_by_a_library(self):
        sample = (SOURCE / "models/demo/sample_log.txt").read_bytes()
        want = (SOURCE / "models/demo/sample_log.expected.en.txt").read_text(encoding="utf-8").strip()
        plugins = json.loads(colibri("plugins", "list", "--json").stdout)["plugins"]
        libraries = [plugin["id"] for plugin in plugins if plugin["id"] in ("cpu_blas", "cpu_onednn")]
        if not libraries:
            self.skipTest("built without OpenBLAS and oneDNN")
        for library in libraries:
            pin = ("--set", f"plugins.operators.grouped_matmul={library}")
            self.refused("run", DEMO, *pin, stdin=sample, says="its results are approximate")
            done = colibri("run", DEMO, "--set", "numerics=fastest", *pin, stdin=sample)
            self.assertEqual(done.returncode, DONE, done.stderr)
            self.assertEqual(done.stdout.decode().strip(), want)

    def test_json_holds_what_text_streams(self):
        text = colibri("run", TEXT_MODEL, "-p", "The fan", "-n", 30).stdout.decode()
        made = json.loads(colibri("run", TEXT_MODEL, "-p", "The fan", "-n", 30, "--json").stdout)
        self.assertEqual(made["text"], text[:-1] if text.endswith("\n") and not made["text"].endswith("\n") else text)
        self.assertEqual(len(made["ids"]), made["generated_tokens"])

    def test_the_summary_compares_decoding_with_the_machine(self):
        made = json.loads(colibri("run", TEXT_MODEL, "-p", "The fan", "-n", 30, "--json").stdout)
        self.assertGreater(made["decode_limit_tokens_per_second"], made["decode_tokens_per_second"])
        line = colibri("run", TEXT_MODEL, "-p", "The fan", "-n", 30).stderr.decode()
        self.assertRegex(line, r"\(\d+ % of what reading the weights allows\)")

    def test_inspect_tells_what_plan_says_at_each_budget(self):
        seen = json.loads(colibri("inspect", TEXT_MODEL, "--json").stdout)
        self.assertEqual(seen["problems"], [])
        budgets = seen["memory"]["budgets"]
        self.assertEqual(budgets[0]["experts"], 2)
        self.assertEqual(budgets[-1]["experts"], seen["memory"]["experts"])
        slot = json.loads(colibri("plan", TEXT_MODEL, "--json").stdout)["experts"]["slot_bytes"]
        for budget in budgets:
            planned = json.loads(colibri("plan", TEXT_MODEL, "--set", f"experts.budget={budget['experts'] * slot}",
                                         "--json").stdout)
            self.assertEqual(planned["memory"]["total"], budget["bytes"])

    def test_inspect_knows_every_golden_model(self):
        for config in sorted((SOURCE / "tests/golden/models").glob("*/config.json")):
            model = config.parent
            if (model / "architecture.yaml").exists():
                model = self.folder / f"{config.parent.name}.yaml"
                model.write_text("apiVersion: colibri/v1\nkind: Pipeline\nmodel:\n"
                                 f"  path: {json.dumps(str(config.parent))}\n"
                                 f"  architecture: {json.dumps(str(config.parent / 'architecture.yaml'))}\n")
            seen = json.loads(colibri("inspect", model, "--json").stdout)
            self.assertEqual(seen["problems"], [], config)
            self.assertEqual([t["name"] for t in seen["tensors"] if t["role"] is None], [], config)
            self.assertGreater(seen["memory"]["budgets"][-1]["bytes"], sum(t["bytes"] for t in seen["tensors"]) // 2)

    def test_paths_with_spaces_and_chinese_characters(self):
        model = self.folder / "模型 one"
        shutil.copytree(TEXT_MODEL, model)
        pipeline = self.folder / "管道 a.yaml"
        pipeline.write_text("apiVersion: colibri/v1\nkind: Pipeline\nmodel: { path: 模型 one }\n"
                            "generate: { max_tokens: 4 }\n", encoding="utf-8")
        done = colibri("run", pipeline, "-p", "x", cwd="/")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual(done.stdout, colibri("run", model, "-n", 4, "-p", "x").stdout)

    def test_usage_errors_are_refused(self):
        self.refused(says="subcommand")
        self.refused("fly", says="fly")
        self.refused("run", TEXT_MODEL, "--no-such-flag", says="--no-such-flag")
        self.refused("run", TEXT_MODEL, "-p", "x", "-n", "many", says="--max-tokens")
        self.refused("run", TEXT_MODEL, "-p", "x", "-f", "y", says="excludes")
        self.refused("run", "-p", "x", says="nothing to run")
        self.refused("run", TEXT_MODEL, "-p", "x", "--set", "thread.count=2", says="did you mean")
        self.refused("run", TEXT_MODEL, "-p", "x", "--set", "threads.count", says="key")

    def test_bad_input_is_refused(self):
        self.refused("run", TEXT_MODEL, stdin=b"good \xff bad", says="not UTF-8 at byte 5")
        self.refused("run", TEXT_MODEL, "-f", self.folder / "none", says="cannot be opened")
        self.refused("run", TEXT_MODEL, "-f", self.folder, says="is a folder")
        self.refused("run", NO_TOKENIZER, "-p", "x", says="no tokenizer")
        self.refused("run", self.folder / "none", "-p", "x", says="none")
        self.refused("run", TEXT_MODEL, stdin=b"word " * 5000, says="context.max_tokens")

    def test_an_empty_prompt_of_a_model_without_bos_is_refused_and_with_bos_runs(self):
        self.assertEqual(colibri("run", TEXT_MODEL, "-p", "", "-n", 3).returncode, DONE)
        self.refused("run", SOURCE / "models/demo", "-p", "", says="no token")

    CHATTY = ("chat", TEXT_MODEL, "--set", "chat.template=chatml", "-n", 6)

    def test_a_conversation_of_lines(self):
        done = colibri(*self.CHATTY, stdin="Hello\n\n/reset\nHello\n".encode())
        self.assertEqual(done.returncode, DONE, done.stderr)
        answers = done.stdout.decode().splitlines()
        self.assertEqual(answers[:len(answers) // 2], answers[len(answers) // 2:])  # a new conversation
        self.assertIn("cut after 6 tokens; raise generate.max_tokens (-n)", done.stderr.decode())
        joined = colibri(*self.CHATTY, stdin=b"One\\\ntwo")
        block = colibri(*self.CHATTY, stdin=b'"""One\ntwo"""\n')
        self.assertEqual(joined.stdout, block.stdout)
        self.assertNotEqual(joined.stdout, colibri(*self.CHATTY, stdin=b"One").stdout)
        slash = colibri(*self.CHATTY, stdin=b'"""\n/reset\n"""\n')
        self.assertTrue(slash.stdout)
        self.assertEqual(colibri(*self.CHATTY, stdin=b"/help\n/exit\nHello").stdout, b"")

    def test_a_message_that_fails_leaves_the_conversation(self):
        said = b"Hello\n" + b"word " * 500 + b"\n/sistem x\nbad \xff\nGo on\n"
        done = colibri(*self.CHATTY, stdin=said)
        self.assertEqual(done.returncode, FAILED)
        error = done.stderr.decode()
        self.assertIn("begin anew with /reset, or raise context.max_tokens", error)
        self.assertIn("unknown command '/sistem' (did you mean 'system'", error)
        self.assertIn("not UTF-8 at byte 4", error)
        self.assertEqual(done.stdout, colibri(*self.CHATTY, stdin=b"Hello\nGo on\n").stdout)

    def test_chat_without_a_template_is_refused(self):
        self.refused("chat", TEXT_MODEL, says="--set chat.template=NAME, where NAME is chatml, glm, llama2, mistral")
        self.refused("chat", TEXT_MODEL, "--set", "chat.template=none.jinja", says="none.jinja")
        self.refused("chat", NO_TOKENIZER, says="no tokenizer")
        broken = self.folder / "broken.jinja"
        broken.write_text("{{ messages | nosuch }}")
        self.refused("chat", TEXT_MODEL, "--set", f"chat.template={broken}", says="broken.jinja:1:15: unknown filter 'nosuch'")

    def test_tokenize_chat_shows_the_prompt(self):
        file = self.folder / "chat.json"
        file.write_text(json.dumps({"messages": [{"role": "user", "content": "Hi <eos>"}], "add_generation_prompt": False}))
        done = colibri("tokenize", TEXT_MODEL, "--set", "chat.template=mistral", "--chat", file)
        self.assertEqual(done.returncode, DONE, done.stderr)
        prompt, *ids = done.stdout.decode().splitlines()
        self.assertEqual(json.loads(prompt), "<bos>[INST] Hi <eos> [/INST]")
        self.assertEqual([int(line.split("\t")[0]) for line in ids].count(0), 1)
        self.assertEqual([int(line.split("\t")[0]) for line in ids].count(1), 0)
        for text, says in (("{", "is no JSON"), ("{}", "no object with 'messages'"), ('["x"]', "message 0")):
            file.write_text(text)
            self.refused("tokenize", TEXT_MODEL, "--set", "chat.template=mistral", "--chat", file, says=says)

    def test_an_interrupt_stops_an_answer_and_not_the_conversation(self):
        process = subprocess.Popen(
            [COLIBRI, "chat", str(SOURCE / "models/demo"), "--set", "chat.template=chatml", "-n", "100000",
             "--set", "experts.budget=13%", "--set", "threads.count=1"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdin.write(b"<|en|>\n")
        process.stdin.flush()
        self.assertTrue(process.stdout.read(1))  # it is answering
        process.send_signal(signal.SIGINT)
        output, error = process.communicate(b"/help\n")
        self.assertEqual(process.returncode, DONE, error)
        self.assertIn(b"begin a new conversation", error)  # it went on
        if b"the answer was stopped" not in error:
            self.skipTest("the answer ended before the signal came")

    def test_a_closed_output_is_an_error_and_not_a_crash(self):
        read, write = os.pipe()
        os.close(read)
        with os.fdopen(write, "wb") as closed:
            done = subprocess.run([COLIBRI, "run", str(TEXT_MODEL), "-p", "x", "-n", "50"], stdout=closed,
                                  stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, FAILED)
        self.assertIn(b"cannot write to standard output", done.stderr)

    def test_an_interrupt_stops_between_tokens_and_prints_the_summary(self):
        # With a budget of two experts every token reads from the file: there is time to interrupt.
        process = subprocess.Popen(
            [COLIBRI, "run", str(SOURCE / "models/demo"), "-p", "<|en|>", "-n", "100000", "--set", "experts.budget=13%",
             "--set", "context.max_tokens=1024", "--set", "threads.count=1"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertTrue(process.stdout.read(1))  # it is generating
        process.send_signal(signal.SIGINT)
        _, error = process.communicate()
        if process.returncode == DONE:  # it was quicker than the signal
            self.skipTest("the text ended before the signal came")
        self.assertEqual(process.returncode, FAILED)
        self.assertIn(b"tokens (cancelled)", error)
        self.assertIn(b"cancelled by the caller", error)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
