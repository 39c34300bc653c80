#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A balloon: a process that locks memory, so that the machine has little left.

It is gone when its parent is, in whatever way; it is the first that the kernel ends when memory runs out; and it lets go by
itself before that. It never takes the last memory."""

import ctypes
import mmap
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

LEAST_LEFT = 3_000_000_000  # bytes for the system and all other programs
STEP = 64 << 20             # bytes locked at a time
BURST = 160 << 20           # bytes available: with less it lets go
PR_SET_PDEATHSIG = 1


def available() -> int:
    """Bytes that the system can give now."""
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("/proc/meminfo has no MemAvailable")


class Balloon:
    """Blown up as long as it is entered."""

    def __init__(self, left: int):
        """left: bytes that stay available."""
        if left < LEAST_LEFT:
            raise ValueError(f"a balloon would leave {left / 1e9:.1f} GB, less than the {LEAST_LEFT / 1e9:.0f} GB that the "
                             "system keeps; take a larger model or a higher percentage")
        if left > available():
            raise ValueError(f"{left / 1e9:.1f} GB are to be left, but only {available() / 1e9:.1f} GB are available")
        self.left = left

    def __enter__(self):
        self.process = subprocess.Popen([sys.executable, __file__, str(os.getpid()), str(self.left)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if not self.process.stdout.readline():
            raise RuntimeError(f"the balloon failed with exit {self.process.wait()}")
        return self

    def check(self) -> None:
        if self.process.poll() is not None:
            raise RuntimeError("the balloon let go: something else on this machine needed the memory; run again")

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def hold(parent: int, left: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit("the parent is gone already")
    Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    libc.mlock.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    held = []
    while available() > left + STEP:
        memory = mmap.mmap(-1, STEP)
        if libc.mlock(ctypes.addressof(ctypes.c_char.from_buffer(memory)), STEP) != 0:
            sys.exit(f"cannot lock memory: {os.strerror(ctypes.get_errno())}; run as root or raise ulimit -l")
        held.append(memory)
    print("held", flush=True)
    while available() > BURST:
        if select.select([sys.stdin], [], [], 0.05)[0]:  # the parent closed it
            return


if __name__ == "__main__":
    hold(int(sys.argv[1]), int(sys.argv[2]))
