#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every key of the pipeline schema and every flag of the command line changes something.

    every_key_test.py COLIBRI SOURCE

Walks the schema that the program prints and the --help of its commands. A key or flag without an
entry below fails the test, and so does one whose entry changes nothing."""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

COLIBRI, SOURCE = sys.argv[1], Path(sys.argv[2])
MODEL = SOURCE / "tests/golden/models/text_bf16"
OTHER_MODEL = SOURCE / "tests/golden/models/gqa2_f32"
PROMPT = "The fan of the line stopped at 7."

PIPELINE = f"""apiVersion: colibri/v1
kind: Pipeline
metadata: {{ name: every-key }}
model: {{ path: "{MODEL}" }}
context: {{ max_tokens: 128 }}
generate: {{ max_tokens: 12 }}
"""


def colibri(*args, stdin=""):
    done = subprocess.run([COLIBRI, *args], input=stdin, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def output(command, *args, stdin=""):
    """Standard output of a command that must succeed, without what differs from run to run."""
    code, out, err = colibri(command, *args, stdin=stdin)
    if code != 0:
        raise AssertionError(f"colibri {command} {args}: exit {code}: {err}")
    return re.sub(r'"(available|[a-z_]*_per_second|first_token_seconds|peak_memory_bytes)": ?[0-9.e+-]+'
                  r"|available .*", "", out)


# How each key shows: a command, the setting, and what both runs have in common.
PLAN, RUN, LIST, PRINT = "plan", "run", "list", "print"
SEEDED = ["--set", "sampling=[{plugin: temperature, options: {value: 2}}]"]
KEYS = {
    "apiVersion": ("refused", "apiVersion=colibri/v9"),
    "kind": ("refused", "kind=Architecture"),
    "metadata.name": (PRINT, "metadata.name=other"),
    "extends": ("extends", None),
    "model.path": (PLAN, f"model.path={OTHER_MODEL}"),
    "model.format": ("refused", "model.format=no_such_format"),
    "model.architecture": ("refused", "model.architecture=no_such_architecture"),
    "model.quantize": (PLAN, "model.quantize=q8_0"),
    "model.quantize.experts": (PLAN, "model.quantize={experts: q8_0}"),
    "model.quantize.attention": (PLAN, "model.quantize={attention: q8_0}"),
    "model.quantize.router": (PLAN, "model.quantize={router: f32}"),
    "model.quantize.embedding": ("untied", "model.quantize={embedding: q8_0}"),
    "model.quantize.head": (PLAN, "model.quantize={head: q8_0}"),
    "tokenizer.plugin": ("refused", "tokenizer.plugin=no_such_tokenizer"),
    "tokenizer.options": ("refused", "tokenizer.options={no_such_option: 1}"),
    "plugins.search": ("refused", "plugins.search=[/no/such/folder]"),
    "plugins.prefer": (LIST, "plugins.prefer=[cpu_generic]"),
    "plugins.deny": (LIST, "plugins.deny=[min_p]"),
    "plugins.operators": (PLAN, "plugins.operators={norm: cpu_generic}"),
    "plugins.options": ("refused", "plugins.options={min_p: {no_such_option: 1}}"),
    "numerics": (PRINT, "numerics=fastest"),
    "placement": ("refused", "placement=no_such_device"),
    "placement.experts": ("refused", "placement={experts: no_such_device}"),
    "placement.dense": ("refused", "placement={dense: no_such_device}"),
    "devices.memory": ("refused", "devices.memory=1.5"),
    "threads.count": (PLAN, "threads.count=3"),
    "threads.decode": (PLAN, "threads.decode=1"),
    "experts.budget": (PLAN, "experts.budget=50%"),
    "experts.policy.plugin": ("refused", "experts.policy.plugin=no_such_policy"),
    "experts.policy.options": ("refused", "experts.policy.options={no_such_option: 1}"),
    "experts.io.engine": ("refused", "experts.io.engine=io_uring"),
    "experts.io.direct": ("refused", "experts.io.direct=on"),
    "experts.io.depth": (PLAN, "experts.io.depth=1"),
    "experts.prefetch": ("prefetch", "experts.prefetch=idle"),
    "context.max_tokens": (PLAN, "context.max_tokens=64"),
    "context.kv": (PLAN, "context.kv=q8_0"),
    "context.prefill_chunk": (PLAN, "context.prefill_chunk=16"),
    "chat.template": ("chat", "chat.template=glm"),
    "prompt.template": (RUN, "prompt.template=A {input} B"),
    "sampling": (RUN, "sampling=[{plugin: temperature, options: {value: 2}}]"),
    "generate.max_tokens": (RUN, "generate.max_tokens=5"),
    "generate.stop": ("stop", None),
    "generate.seed": ("seed", "generate.seed=12345"),
}

# Flags by command: arguments that set them; None = shown by a check of its own below.
FLAGS = {
    "run": {"-m": ["-m", str(SOURCE / "models/demo")], "-n": ["-n", "5"], "-c": None,
            "-t": None, "--seed": None, "--set": ["--set", "generate.max_tokens=5"],
            "-p": ["-p", "Another prompt"], "-f": None, "--json": ["--json"], "--route-trace": None,
            "--expert-usage": None},
    "cache replay": {"-m": None, "--policies": ["--policies", "lru"], "--budgets": ["--budgets", "60%"], "--option": None,
                     "--json": ["--json"]},
    "chat": {"-m": None, "-n": None, "-c": None, "-t": None, "--seed": None, "--set": None},
    "plan": {"-m": ["-m", str(OTHER_MODEL)], "-n": ["-n", "5"], "-c": ["-c", "64"],
             "-t": ["-t", "3"], "--seed": ["--seed", "9"],
             "--set": ["--set", "threads.count=3"], "--json": ["--json"], "--route-trace": None},
    "tokenize": {"-m": ["-m", str(SOURCE / "models/demo")], "--set": None,
                 "-p": ["-p", "Another text"], "-f": None, "--chat": None, "--plain": ["--plain"],
                 "--json": ["--json"]},
    # What it measures is never the same twice: bench_test.py shows its flags.
    "bench": {"-m": None, "--set": None, "-p": None, "-n": None, "--requests": None, "-r": None, "--warmup": None, "--ids": None,
              "--route-trace": None, "-t": None, "--seed": None, "--steady": None, "--breakdown": None, "--json": None,
              "--trace": None},
    "bench kernels": {"-m": None, "--set": None, "-r": None, "-t": None, "--json": None},
    # tune_test.py shows these.
    "tune": {"-m": None, "--set": None, "-p": None, "-n": None, "-r": None, "-o": None},
    "inspect": {"--json": ["--json"]},
    "convert": {"-o": None, "--experts": None, "--attention": None, "--router": None, "--embedding": None, "--head": None},
    "verify": {"--source": None},
    "plugins list": {"--json": ["--json"]},
    "plugins inspect": {"--json": ["--json"]},
    "plugins check": {"--json": ["--json"]},
    "config print": {"-m": ["-m", str(OTHER_MODEL)], "-n": ["-n", "5"], "-c": ["-c", "64"], "-t": ["-t", "3"],
                     "--seed": ["--seed", "9"], "--set": ["--set", "threads.count=3"]},
    "config validate": {"--json": ["--json"]},
    "config explain": {},
    "config schema": {"--markdown": ["--markdown"]},
}


def keys_of(schema, prefix=""):
    for name, value in schema.get("properties", {}).items():
        key = prefix + name
        nested = [value] + value.get("anyOf", []) + value.get("oneOf", [])
        deeper = [k for part in nested for k in keys_of(part, key + ".")]
        if not deeper or name in ("quantize", "placement"):
            yield key
        yield from deeper


def steady(text):
    """Without what `plan` measures, which is never the same twice."""
    return re.sub(r'^(decode .*|  "decode": .*)\Z', "", text, flags=re.M | re.S)


class Test:
    def __init__(self, folder):
        self.failures = []
        self.folder = folder
        self.pipeline = folder / "every key.yaml"
        self.pipeline.write_text(PIPELINE, encoding="utf-8")
        self.passed = 0

    def expect(self, good, what):
        if good:
            self.passed += 1
        else:
            self.failures.append(what)

    def differs(self, key, command, base, changed):
        self.expect(steady(output(*command, *base)) != steady(output(*command, *base, *changed)),
                    f"{key}: changes nothing that {' '.join(command)} shows")

    def check_key(self, key, how, setting):
        pipeline = str(self.pipeline)
        changed = ["--set", setting]
        commands = {PLAN: (["plan", "--json", pipeline], []), PRINT: (["config", "print", pipeline], []),
                    RUN: (["run", pipeline, "-p", PROMPT], [])}
        if how == LIST:
            self.expect(output("plugins", "list", pipeline) != output("plugins", "list", self.as_pipeline(setting)),
                        f"{key}: changes nothing that plugins list shows")
        elif how in commands:
            self.differs(key, *commands[how], changed)
        elif how == "refused":
            code, _, err = colibri("run", pipeline, "-p", PROMPT, *changed)
            wanted = setting.split("=")[1].strip("{}[]").split(":")[0]
            self.expect(code == 2 and (key in err or wanted in err), f"{key}: {setting} gave exit {code}: {err}")
        elif how == "untied":
            self.differs(key, ["plan", "--json", str(OTHER_MODEL)], [], changed)
        elif how == "seed":
            self.differs(key, ["run", pipeline, "-p", PROMPT, *SEEDED], [], changed)
        elif how == "prefetch":
            half = ["--set", "experts.budget=50%"]
            self.differs(key, ["plan", "--json", pipeline, *half], [], changed)
            ran = json.loads(colibri("run", pipeline, "-p", PROMPT, "--json", *half, *changed)[1])
            self.expect(ran["experts_read_ahead"] >= ran["experts_read_ahead_used"] > 0, f"{key}: {ran}")
        elif how == "chat":
            self.expect(self.chat() != self.chat(*changed), f"{key}: changes nothing that chat shows")
        elif how == "stop":
            text = output("run", pipeline, "-p", PROMPT).rstrip("\n")
            stop = json.dumps(text[len(text) // 2:][:2], ensure_ascii=False)
            self.differs(key, ["run", pipeline, "-p", PROMPT], [], ["--set", f"generate.stop=[{stop}]"])
        elif how == "extends":
            child = self.folder / "child.yaml"
            child.write_text("apiVersion: colibri/v1\nkind: Pipeline\nextends: ['every key.yaml']\n"
                             "threads: { count: 3 }\n", encoding="utf-8")
            self.expect('"max_tokens": 128' in output("plan", "--json", str(child)), "extends: no effect")
        else:
            raise AssertionError(how)

    def chat(self, *arguments, said=PROMPT + "\nAnd then?\n"):
        return output("chat", str(self.pipeline), "--set", "chat.template=chatml", "-c", "256", *arguments, stdin=said)

    def as_pipeline(self, setting):
        """`plugins list` takes a pipeline and no --set: the setting as a document."""
        key, value = setting.split("=")
        room, name = key.split(".")
        changed = self.folder / "changed.yaml"
        changed.write_text(PIPELINE + f"{room}: {{ {name}: {value} }}\n", encoding="utf-8")
        return str(changed)

    def check_keys(self):
        schema = json.loads(output("config", "schema", "pipeline"))
        known = set(keys_of(schema))
        self.expect(len(known) > 25, f"the schema has only {sorted(known)}")
        for key in sorted(known | set(KEYS)):
            if key not in KEYS:
                self.failures.append(f"{key}: in the schema, but this test does not know how it shows")
            elif key not in known:
                self.failures.append(f"{key}: known to this test, but not in the schema")
            else:
                self.check_key(key, *KEYS[key])

    def check_flags(self):
        library = Path(COLIBRI).resolve().parent.parent / "lib/colibri/plugins/colibri_lru.so"
        pipeline = str(self.pipeline)
        trace = str(self.folder / "route trace")
        output("run", pipeline, "-p", PROMPT, "--route-trace", trace)
        base = {"run": ["run", pipeline, "-p", PROMPT], "cache replay": ["cache", "replay", trace], "plan": ["plan", pipeline],
                "tokenize": ["tokenize", pipeline, "-p", "<s> some text"], "inspect": ["inspect", str(MODEL)],
                "plugins list": ["plugins", "list"], "plugins inspect": ["plugins", "inspect", str(library)],
                "plugins check": ["plugins", "check", str(library)], "config print": ["config", "print", pipeline],
                "config validate": ["config", "validate", pipeline], "config schema": ["config", "schema", "pipeline"]}
        for command, flags in FLAGS.items():
            text = output(*command.split(), "--help")
            found = {name.split(",")[0] for name in re.findall(r"^  (-[-\w]+)", text, re.M)} - {"-h"}
            self.expect(found == set(flags), f"{command}: flags {sorted(found)}, known here {sorted(flags)}")
            for flag, arguments in flags.items():
                if arguments is None:
                    continue
                before = base[command]
                if flag == "-p":
                    before = before[:-2]
                    self.expect(output(*base[command]) != output(*before, *arguments), f"{command} {flag}")
                else:
                    self.differs(f"{command} {flag}", before, [], arguments)

    def check_convert(self):
        """Each group of weights gets its codec; what is written is sound and answers."""
        model, seen = SOURCE / "tests/golden/models/deepseek_v3_bf16", set()
        for group in ("", "experts", "attention", "router", "embedding", "head"):
            file = self.folder / f"模型 {group}.colibri"
            codec = [f"--{group}", "q8_0"] if group else []
            code, _, error = colibri("convert", str(model), "-o", str(file), *codec)
            self.expect(code == 0, f"convert {codec}: exit {code}: {error}")
            content = file.read_bytes()
            self.expect(content not in seen, f"convert {codec}: no effect")
            seen.add(content)
            code, out, error = colibri("verify", str(file))
            self.expect(code == 0 and "sound" in out, f"verify: exit {code}: {error}")
            at = len(content) // 2
            file.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1:])
            code, out, error = colibri("verify", str(file))
            self.expect(code != 0 and "sound" not in out, "verify: a changed bit is not found")

    def check_records(self):
        """What run records: a trace that replays to the run's own hits, a usage list that pinned takes."""
        def answer(*args):
            code, out, err = colibri(*args)
            if code != 0:
                raise AssertionError(f"colibri {args}: exit {code}: {err}")
            return json.loads(out)

        pipeline, trace, usage = str(self.pipeline), self.folder / "踪迹.trace", self.folder / "usage"
        budget = ["--set", "experts.budget=50%"]
        ran = answer("run", pipeline, "-p", PROMPT, "--json", *budget, "--route-trace", str(trace),
                     "--expert-usage", str(usage))
        replayed = answer("cache", "replay", str(trace), "--json", "--policies", "arc", "--budgets", "50%")
        point = replayed["points"][0]["policies"]["arc"]
        self.expect((point["hits"], point["misses"]) == (ran["expert_hits"], ran["expert_misses"]),
                    f"run --route-trace: the run had {ran['expert_hits']} hits, its replay {point['hits']}")
        uses = [int(line.split()[2]) for line in usage.read_text(encoding="utf-8").splitlines()[3:]]
        self.expect(sum(uses) == ran["expert_hits"] + ran["expert_misses"] and uses == sorted(uses, reverse=True),
                    f"run --expert-usage: {uses} of {ran['expert_hits'] + ran['expert_misses']}")
        pinned = ["--set", f"experts.policy={{plugin: pinned, options: {{usage: '{usage}'}}}}"]
        pinned_run = answer("run", pipeline, "-p", PROMPT, "--json", *budget, *pinned)
        pinned_replay = answer("cache", "replay", str(trace), "--json", "--policies", "pinned", "--budgets",
                               "50%", "--option", f"pinned.usage={usage}")
        hits = pinned_replay["points"][0]["policies"]["pinned"]["hits"]
        self.expect(hits == pinned_run["expert_hits"], f"pinned: {pinned_run['expert_hits']} hits, replayed {hits}")
        for flag in ("--route-trace", "--expert-usage"):
            code, _, err = colibri("run", pipeline, "-p", PROMPT, flag, str(self.folder / "none" / "file"))
            self.expect(code != 0 and "No such file" in err, f"run {flag}: exit {code}: {err}")
        self.check_estimates(answer, trace, pipeline, budget)
        code, _, err = colibri("cache", "replay", str(trace), "--option", "lfu.half_life=ten")
        self.expect(code == 2 and "lfu.half_life" in err, f"cache replay --option: exit {code}: {err}")
        code, _, err = colibri("cache", "replay", str(trace), "--budgets", "1%")
        self.expect(code == 2 and "floor of two experts" in err, f"cache replay --budgets: exit {code}: {err}")

    def check_estimates(self, answer, trace, pipeline, budget):
        """plan and cache replay estimate from the same hits; no time is judged."""
        replayed = answer("cache", "replay", str(trace), "-m", pipeline, "--json", "--budgets", "30%,50%,all")
        in_memory = replayed["machine"]["in_memory_tokens_per_second"]
        self.expect(replayed["machine"]["disk_bytes_per_second"] > 0, "cache replay -m: no disk rate")
        rounded = in_memory * (1 + 1e-9)
        rates = []
        for point in replayed["points"]:
            rates.append(point["policies"]["lru"]["decode_tokens_per_second"])
            # Belady's hits are the most of prompts and tokens together, and may be fewer of tokens alone.
            belady = point["belady"]
            self.expect(belady["hits"] >= point["policies"]["lru"]["hits"], f"cache replay -m: {point}")
            self.expect(0 < belady["decode_tokens_per_second"] <= rounded, f"cache replay -m: {point}")
        # Where computing is slow enough it hides the disk.
        self.expect(0 < rates[0] <= rates[1] * (1 + 1e-9) and rates[-1] == in_memory, f"cache replay -m: {rates}")
        text = output("cache", "replay", str(trace), "-m", pipeline)
        self.expect("tokens per second of decoding" in text, "cache replay -m: the text says no speed")
        known = answer("plan", pipeline, *budget, "--route-trace", str(trace), "--json")["decode"]
        self.expect(0 < known["hit_rate"]["least"] == known["hit_rate"]["most"] < 1, f"plan --route-trace: {known}")
        unknown = answer("plan", pipeline, *budget, "--json")["decode"]
        self.expect(unknown["hit_rate"]["least"] == 0.5 < unknown["hit_rate"]["most"] < 1, f"plan: {unknown}")
        rates = unknown["tokens_per_second"]
        self.expect(0 < rates["least"] <= rates["most"] * (1 + 1e-9) <= rates["in_memory"] * (1 + 2e-9), f"plan: {unknown}")
        resident = answer("plan", pipeline, "--json")["decode"]
        self.expect(resident["hit_rate"] == {"least": 1, "most": 1}, f"plan: {resident}")
        prompt_only = self.folder / "prompt.trace"
        prompt_only.write_text("\n".join(trace.read_text(encoding="ascii").split("\n")[:6]) + "\n", encoding="ascii")
        for command in (["plan", pipeline, "--route-trace"], ["cache", "replay", "-m", pipeline]):
            code, _, err = colibri(*command, str(prompt_only))
            self.expect(code == 2 and "tells nothing of decoding" in err, f"{command}: exit {code}: {err}")
            other = [str(OTHER_MODEL) if part == pipeline else part for part in command]
            code, _, err = colibri(*other, str(trace))
            self.expect(code == 2 and "a trace of another model" in err, f"{command}: exit {code}: {err}")

    def check_other_flags(self):
        pipeline = str(self.pipeline)
        code, _, err = colibri("run", pipeline, "-p", PROMPT * 4, "-c", "8")
        self.expect(code == 2 and "context.max_tokens" in err, f"run -c: exit {code}: {err}")
        code, _, err = colibri("run", pipeline, "-p", PROMPT, "-t", "0")
        self.expect(code == 2 and "threads.count" in err, f"run -t: exit {code}: {err}")
        self.differs("run --seed", ["run", pipeline, "-p", PROMPT, *SEEDED], [], ["--seed", "12345"])
        file = self.folder / "text"
        file.write_text(PROMPT, encoding="utf-8")
        for command in ("run", "tokenize"):
            self.expect(output(command, pipeline, "-f", str(file)) == output(command, pipeline, "-p", PROMPT),
                        f"{command} -f: not the text of the file")
            self.expect(output(command, pipeline, stdin=PROMPT) == output(command, pipeline, "-p", PROMPT),
                        f"{command}: not the text of standard input")
        self.expect(self.chat() != self.chat("-n", "5"), "chat -n: changes nothing")
        self.expect(self.chat(*SEEDED) != self.chat(*SEEDED, "--seed", "12345"), "chat --seed: changes nothing")
        self.expect(self.chat() == self.chat("-t", "1"), "chat -t: changes the answer")
        for arguments, wanted in ((["-t", "0"], "threads.count"), (["-m", "/no/such/model"], "/no/such/model"),
                                  (["--set", "threads.count=x"], "threads.count")):
            code, _, err = colibri("chat", pipeline, "--set", "chat.template=chatml", *arguments, stdin=PROMPT)
            self.expect(code == 2 and wanted in err, f"chat {arguments}: exit {code}: {err}")
        code, _, err = colibri("chat", pipeline, "--set", "chat.template=chatml", "-c", "8", stdin=PROMPT)
        self.expect(code == 1 and "context holds 8" in err, f"chat -c: exit {code}: {err}")
        conversation = self.folder / "conversation.json"
        conversation.write_text(json.dumps([{"role": "user", "content": "x"}]), encoding="utf-8")
        made = json.loads(output("tokenize", pipeline, "--set", "chat.template=chatml", "--json", "--chat", str(conversation)))
        self.expect(made["prompt"] == "<|im_start|>user\nx<|im_end|>\n<|im_start|>assistant\n", f"tokenize --chat: {made}")
        code, _, err = colibri("tokenize", pipeline, "-p", "x", "--set", "tokenizer.plugin=none_such")
        self.expect(code == 2 and "none_such" in err, f"tokenize --set: exit {code}: {err}")


def main():
    with tempfile.TemporaryDirectory(prefix="colibri 键 ") as folder:
        test = Test(Path(folder))
        test.check_keys()
        test.check_flags()
        test.check_convert()
        test.check_records()
        test.check_other_flags()
    for failure in test.failures:
        print("FAILED:", failure)
    print(f"{test.passed} passed, {len(test.failures)} failed")
    return 1 if test.failures or test.passed == 0 else 0


sys.exit(main())
