#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""command_line_test.py COLIBRI SOURCE PLUGINS: what commands do with a model on the made-up device in PLUGINS."""
import json
import subprocess
import sys
import tempfile

COLIBRI, SOURCE, PLUGINS = sys.argv[1:4]
PIPELINE = f"{SOURCE}/configs/pipelines/plc_summary.yaml"
SEARCH = ("--set", f"plugins.search=['{PLUGINS}']")
THERE = (*SEARCH, "--set", "placement=made_up_device")


def run(*arguments):
    with open(f"{SOURCE}/models/demo/sample_log.txt", "rb") as log:
        return subprocess.run([COLIBRI, *arguments], stdin=log, capture_output=True, text=True)


def expect(what, condition, shown):
    if not condition:
        sys.exit(f"FAILED: {what}\n{shown}")


def expect_refused(what, text, *arguments):
    done = run(*arguments)
    expect(what, done.returncode == 2 and text in done.stderr and done.stdout == "", done)


few = ("-n", "12")
plain = run("run", PIPELINE, *few, *SEARCH)
expect("the CPU answers", plain.returncode == 0 and plain.stdout, plain.stderr)
there = run("run", PIPELINE, *few, *THERE)
expect("the device answers", there.returncode == 0, there.stderr)
expect("the same answer", there.stdout == plain.stdout, (there.stdout, plain.stdout))

done = run("plan", PIPELINE, "--json", *THERE)
expect("a plan", done.returncode == 0, done.stderr)
plan = json.loads(done.stdout)
device = plan["placement"]["device"]
expect("its device", device["name"] == "made_up_device:0" and device["description"] == "Made-up device", device)
memory = device["memory"]
parts = ("weights", "experts", "rope", "kv", "workspace", "scratch")
expect("a sum of parts", memory["total"] == sum(memory[part] for part in parts) <= memory["granted"], memory)
expect("nothing of the model on the host", plan["memory"]["weights"] + plan["memory"]["experts"] == 0, plan["memory"])
expect("its plugin", {each["plugin"] for each in plan["operators"]} == {"made_up_device"}, plan["operators"])
text = run("plan", PIPELINE, *THERE).stdout
expect("a line for people", "placement    made_up_device:0 (Made-up device, cpu) (--set)\n" in text, text)
expect("its memory for people", "memory of made_up_device:0\n  weights " in text, text)
more = json.loads(run("plan", PIPELINE, "--json", *THERE, "--set", "devices.memory=1").stdout)
expect("devices.memory counts", more["placement"]["device"]["memory"]["granted"] > memory["granted"], more["placement"])

apart = ("--set", "placement={dense: made_up_device, experts: cpu}")
split = run("run", PIPELINE, *few, *SEARCH, *apart, "--set", "experts.budget=40%")
expect("the same answer of both together", split.returncode == 0 and split.stdout == plain.stdout, split)
text = run("plan", PIPELINE, *SEARCH, *apart).stdout
expect("experts apart", "made_up_device:0 (Made-up device, cpu), experts on the cpu (--set)\n" in text, text)

free = memory["granted"] / 0.85
without = json.loads(run("plan", PIPELINE, "--json", *SEARCH, *apart).stdout)["placement"]["device"]["memory"]["total"]
some = (*SEARCH, "--set", "placement={dense: made_up_device}",
        "--set", f"devices.memory={(without + memory['experts'] * 0.4) / free:.9f}")
plan = json.loads(run("plan", PIPELINE, "--json", *some).stdout)
device, experts = plan["placement"]["device"], plan["experts"]["of"]
expect("as many experts as fit", 0.3 * experts < device["experts"] <= 0.4 * experts, plan)
expect("a reason for not all", plan["placement"]["refused"].startswith("all experts on made_up_device:0: "), plan)
text = run("plan", PIPELINE, *some).stdout
expect("some there", f", with {device['experts']} of {experts} experts, the others on the cpu" in text, text)
for budget in ("all", "50%"):
    done = run("run", PIPELINE, *few, *some, "--set", f"experts.budget={budget}")
    expect("the same answer of some there", done.returncode == 0 and done.stdout == plain.stdout, done)
    expect("a line of what was there", " of those not on made_up_device:0, which had " in done.stderr, done.stderr)
done = run("run", PIPELINE, *few, *some, "--json")
counts = json.loads(done.stdout)
expect("copies and hits", counts["device_experts_copied"] > 0 and counts["device_expert_hits"] > 0, counts)
with tempfile.TemporaryDirectory() as folder:
    for place, name in ((SEARCH, "cpu"), (some, "some")):
        done = run("run", PIPELINE, *few, *place, "--expert-usage", f"{folder}/{name}")
        expect("usage", done.returncode == 0, done.stderr)
    with open(f"{folder}/cpu") as cpu, open(f"{folder}/some") as there:
        expect("the use of all experts is counted", cpu.read() == there.read(), done)
of_bench = (*SEARCH, *apart, "--set", "context.max_tokens=12")
without = json.loads(run("plan", PIPELINE, "--json", *of_bench).stdout)["placement"]["device"]["memory"]["total"]
some = (*some, "--set", f"devices.memory={(without + memory['experts'] * 0.4) / free:.9f}")
bench = run("bench", PIPELINE, *some, "-p", "8", "-n", "4", "-r", "1", "--json")
expect("bench counts both", bench.returncode == 0 and '"device_hits": 0' not in bench.stdout and "device_hits" in bench.stdout, bench)

small = ("--set", "plugins.options={made_up_device: {room_kib: 64}}")
preferred = run("run", PIPELINE, *few, *SEARCH, *small, "--set", "plugins.prefer=[made_up_device]")
lines = [line for line in preferred.stderr.splitlines() if "made_up_device" in line]
expect("the CPU in its place", preferred.returncode == 0 and preferred.stdout == plain.stdout, preferred.stderr)
expect("one line that says why", len(lines) == 1 and "running on the CPU: made_up_device:0: the model needs" in lines[0], lines)
expect_refused("no room", "placement: the model needs", "run", PIPELINE, *few, *THERE, *small)
expect_refused("no such device", "placement: no plugin 'made_up_devise'", "run", PIPELINE, *SEARCH, "--set", "placement=made_up_devise")
expect_refused("no such place", "expected auto, cpu, or a device", "run", PIPELINE, "--set", "placement=Made up")
expect_refused("no usage", "--expert-usage: all experts lie on made_up_device:0", "run", PIPELINE, *THERE, "--expert-usage", "/dev/null")
expect_refused("no routes", "all experts lie on made_up_device:0: there are no routes to record",
               "run", PIPELINE, *THERE, "--route-trace", "/dev/null")
for command in (("bench", "kernels"), ("tune", "-o", f"{PLUGINS}/never_written.yaml")):
    refused = run(*command, PIPELINE, *THERE)
    expect(f"{command} is of the CPU", refused.returncode != 0 and "placed on made_up_device:0" in refused.stderr, refused)
bench = run("bench", PIPELINE, *THERE, "-p", "8", "-n", "4", "-r", "1", "--breakdown", "--json")
expect("bench runs there", bench.returncode == 0, bench.stderr)

checked = run("plugins", "check", f"{PLUGINS}/colibri_made_up_device.so")
expect("its numerics are not asked in the host's memory",
       checked.returncode == 0 and "skipped  numerics: computes in the memory of its device" in checked.stdout, checked)
tuned = run("tune", PIPELINE, *SEARCH, "-p", "8", "-n", "2", "-r", "1", "-o", f"{PLUGINS}/tuned.yaml")
expect("tune tries plugins of the CPU", tuned.returncode == 0 and "made_up_device" not in tuned.stdout + tuned.stderr, tuned)
