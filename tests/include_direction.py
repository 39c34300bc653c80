#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when the source breaks a rule of the house that no compiler checks.

1. Rooms depend in one direction: base <- io, machine, config <- plugin <- model <- experts <- engine <- bench, chat <- api, server, cli;
   plugins see the public headers, their own folder, plugins/common, plugins/cpu_common and runtime/base.
2. yaml-cpp, Boost.DLL and the like are included by one source file each, so that they can be replaced there.
3. Numeric code calls no transcendental function of libm: they differ between systems (docs/numerics.md).

include_direction.py [ROOT]: prints file:line: message for each breach; exit 1 when there is one.
include_direction.py --self-test: checks that each rule finds its breach.
"""
import pathlib
import re
import sys
import tempfile

# room -> rooms it may include besides itself
ROOMS = {
    "base": [],
    "io": ["base"],
    "machine": ["base"],
    "config": ["base"],
    "plugin": ["base", "machine", "config"],
    "model": ["base", "machine", "config", "plugin"],
    "experts": ["base", "io", "machine", "config", "plugin", "model"],
    "engine": ["base", "io", "machine", "config", "plugin", "model", "experts"],
    "bench": ["base", "io", "machine", "config", "plugin", "model", "experts", "engine"],
    "convert": ["base", "io", "machine", "config", "plugin", "model", "experts", "engine"],
    "chat": ["base", "io", "machine", "config", "plugin", "model", "experts", "engine"],
    "api": ["base", "io", "machine", "config", "plugin", "model", "experts", "engine", "chat"],
    "server": ["base", "io", "machine", "config", "plugin", "model", "experts", "engine", "chat"],
    "cli": ["base", "io", "machine", "config", "plugin", "model", "experts", "engine", "bench", "convert", "chat"],
}

# header prefix -> how many source files may include it
SINGLE_USER = {"yaml-cpp/": "runtime/config", "boost/dll": "runtime/plugin", "sodium": "runtime/", "liburing": "runtime/io"}

# exp, log and so on are ordinary words: an unqualified call counts unless it is a member or another namespace's.
LIBM = "|".join(
    name + suffix
    for name in (
        "exp exp2 exp10 expm1 log log2 log10 log1p pow sin cos tan sincos asin acos atan atan2 sinh cosh tanh "
        "asinh acosh atanh cbrt hypot erf erfc tgamma lgamma"
    ).split()
    for suffix in ("", "f", "l")
)
CALL = re.compile(r"(?:\bstd::|(?<![\w.:>]))(%s)\s*\(" % LIBM)
DECLARATION = re.compile(r"(?!\b(?:return|else)\b)\b[\w:]+[>&*]*\s+(?:%s)\s*\($" % LIBM)
# Where libm is the thing itself: our own exp, log, pow and sincos may be compared with it, and are defined there.
LIBM_ALLOWED = re.compile(r"^(runtime/base/portable_math|tests/)|_test\.cc$")

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
LITERAL_OR_COMMENT = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S
)


def without_text(source):
    """The source with comments and literals blanked and its lines kept."""
    return LITERAL_OR_COMMENT.sub(lambda m: "\n" * m.group().count("\n"), source)


def include_breach(path, header):
    """What is wrong with `#include header` in the file, or None. Both relative to the root."""
    parts = path.parts
    target = pathlib.PurePosixPath(header).parts
    if parts[0] == "plugins":
        if target[0] == "runtime" and target[1] != "base":
            return f"a plugin may include colibri/*.h and runtime/base, not {header}"
        shared = target[-2:-1] in (("common",), ("cpu_common",))  # what plugins of one kind have in common
        own = target[:-1] == parts[: len(target) - 1]
        if target[0] == "plugins" and not shared and not own and not path.name.endswith("_test.cc"):
            return f"a plugin may not include another plugin's {header}"
        return None
    if parts[:2] == ("runtime", "include"):
        if target[0] in ("runtime", "plugins"):
            return f"a public header may not include {header}"
        return None
    if parts[0] != "runtime":
        return None
    room = parts[1]
    if room not in ROOMS:
        return f"runtime/{room} is not in the table of rooms of tests/include_direction.py"
    if target[0] == "plugins":
        return f"the runtime may not include {header}: plugins are reached through their interfaces"
    if target[0] == "runtime" and target[1] != room and target[1] not in ROOMS[room]:
        allowed = ", ".join(ROOMS[room]) or "nothing"
        return f"room {room} may not include {header} (it may include {allowed})"
    return None


def check(root):
    breaches = []
    users = {prefix: [] for prefix in SINGLE_USER}
    files = sorted(
        path for top in ("runtime", "plugins") for path in (root / top).rglob("*") if path.suffix in (".h", ".cc", ".c", ".cu", ".cuh")
    )
    for file in files:
        path = file.relative_to(root)
        source = file.read_text(encoding="utf-8")
        for number, line in enumerate(source.splitlines(), 1):
            found = INCLUDE.match(line)
            if not found:
                continue
            breach = include_breach(path, found.group(1))
            if breach:
                breaches.append(f"{path}:{number}: {breach}")
            for prefix in SINGLE_USER:
                if found.group(1).startswith(prefix):
                    users[prefix].append((path, number))
        if not LIBM_ALLOWED.search(str(path)):
            for number, line in enumerate(without_text(source).splitlines(), 1):
                for call in CALL.finditer(line):
                    if not DECLARATION.search(line[: call.end()]):
                        breaches.append(
                            f"{path}:{number}: {call.group(1)}() of libm differs between systems: use colibri_math"
                        )
    for prefix, places in users.items():
        if len({path for path, _ in places}) > 1:
            for path, number in places:
                breaches.append(f"{path}:{number}: {prefix} may be included by one source file only")
        for path, number in places:
            if not str(path).startswith(SINGLE_USER[prefix]) or path.suffix != ".cc":
                breaches.append(f"{path}:{number}: {prefix} belongs in one .cc of {SINGLE_USER[prefix]}")
    return len(files), breaches


SELF_TEST = {  # file, text, part of the message (None = no breach)
    "upward": ("runtime/base/a.cc", '#include "runtime/engine/x.h"\n', "room base may not include"),
    "sideways": ("runtime/config/a.cc", '#include "runtime/machine/x.h"\n', "room config may not include"),
    "downward": ("runtime/engine/a.cc", '#include "runtime/base/x.h"\n', None),
    "unknown room": ("runtime/attic/a.cc", '#include "runtime/base/x.h"\n', "table of rooms"),
    "plugin to runtime": ("plugins/p/a.cc", '#include "runtime/model/x.h"\n', "not runtime/model/x.h"),
    "plugin to plugin": ("plugins/formats/p/a.cc", '#include "plugins/formats/q/x.h"\n', "another plugin's"),
    "plugin to itself": ("plugins/formats/p/a.cc", '#include "plugins/formats/p/x.h"\n', None),
    "plugin to common": ("plugins/cpu_x/a.cc", '#include "plugins/cpu_common/x.h"\n', None),
    "runtime to plugin": ("runtime/engine/a.cc", '#include "plugins/cpu_avx2/x.h"\n', "through their interfaces"),
    "public header": ("runtime/include/colibri/a.h", '#include "runtime/base/x.h"\n', "public header"),
    "yaml-cpp in a header": ("runtime/config/a.h", "#include <yaml-cpp/yaml.h>\n", "belongs in one .cc"),
    "Boost.DLL elsewhere": ("runtime/model/a.cc", "#include <boost/dll.hpp>\n", "belongs in one .cc"),
    "std::exp": ("runtime/engine/a.cc", "float y = std::exp(x);\n", "exp() of libm"),
    "powf": ("plugins/samplers/s/a.cc", "y = powf(x, 2);\n", "powf() of libm"),
    "colibri_math": ("plugins/samplers/s/a.cc", "y = host->math->exp(x) + math.log(x) + simd::exp(x);\n", None),
    "in a comment": ("runtime/engine/a.cc", '// exp(x)\nauto s = "exp(x)";\n', None),
    "returned": ("runtime/engine/a.cc", "return exp(x);\n", "exp() of libm"),
    "in a product": ("runtime/engine/a.cc", "y = x * exp(x);\n", "exp() of libm"),
    "a function of ours": ("plugins/cpu_x/a.h", "inline typename S::F exp(typename S::F x) {\n", None),
    "defined, not called": ("runtime/plugin/a.cc", "void log(int level);\n", None),
}


def self_test():
    failures = 0
    for name, (path, text, message) in SELF_TEST.items():
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, path)
            file.parent.mkdir(parents=True)
            file.write_text(text)
            _, breaches = check(pathlib.Path(folder))
        good = not breaches if message is None else any(message in breach for breach in breaches)
        if not good:
            failures += 1
            print(f"self-test '{name}': expected {message!r}, got {breaches}")
    with tempfile.TemporaryDirectory() as folder:  # a second user of a single-user library
        for name in ("a", "b"):
            file = pathlib.Path(folder, f"runtime/config/{name}.cc")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("#include <yaml-cpp/eventhandler.h>\n")
        if not any("one source file only" in breach for breach in check(pathlib.Path(folder))[1]):
            failures += 1
            print("self-test 'second user': not found")
    return failures


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 1 if self_test() else 0
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    count, breaches = check(root)
    print("\n".join(breaches) if breaches else f"{count} files keep the rules of the house")
    return 1 if breaches or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
