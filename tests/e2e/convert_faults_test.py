#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""colibri convert when the disk is full, when it is killed, and when there is no memory: it says so, and the same command
goes on to the same file, to the byte.

    convert_faults_test.py COLIBRI SOURCE
"""

import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

COLIBRI, SOURCE = sys.argv[1], Path(sys.argv[2])
MODEL = SOURCE / "models/demo"
DONE, FAILED, REFUSED = 0, 1, 2
MIB = 1 << 20


class ConvertFaults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.top = Path(tempfile.mkdtemp(prefix="colibri 转 "))
        cls.addClassCleanup(shutil.rmtree, cls.top)
        done = cls.convert(cls.top / "whole.colibri")
        assert done.returncode == DONE, done.stderr.decode()
        cls.whole = (cls.top / "whole.colibri").read_bytes()

    @staticmethod
    def convert(file, preparing=None):
        return subprocess.run([COLIBRI, "convert", str(MODEL), "-o", str(file)], capture_output=True, check=False,
                              preexec_fn=preparing)

    def goes_on(self, file):
        done = self.convert(file)
        self.assertEqual(done.returncode, DONE, done.stderr.decode())
        self.assertEqual(file.read_bytes(), self.whole)
        self.assertEqual([each.name for each in file.parent.glob(file.name + ".*")], [])

    def test_a_file_that_may_not_grow(self):
        for part in (0.02, 0.5, 0.98):
            file = self.top / f"{part}.colibri"

            def limit():
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (int(part * len(self.whole)), resource.RLIM_INFINITY))

            done = self.convert(file, limit)
            self.assertEqual(done.returncode, FAILED, done.stderr.decode())
            self.assertIn(f"{file}.partial: writing failed: File too large", done.stderr.decode())
            self.assertFalse(file.exists())
            self.goes_on(file)

    def test_a_full_disk(self):
        """In a filesystem of a megabyte, which then becomes larger."""
        disk, copy = self.top / "disk", self.top / "copy.colibri"
        disk.mkdir()
        convert = f"'{COLIBRI}' convert '{MODEL}' -o '{disk}/a.colibri'"
        done = subprocess.run(
            ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
             f"mount -t tmpfs -o size=1m none '{disk}' || exit\necho mounted\n{convert}; code=$?\n"
             f"mount -o remount,size=64m '{disk}' && {convert} && cp '{disk}/a.colibri' '{copy}'\nexit $code"],
            capture_output=True, check=False)
        if not done.stdout.startswith(b"mounted"):
            self.skipTest("this system lets no one mount: " + done.stderr.decode())
        self.assertEqual(done.returncode, FAILED, done.stderr.decode())
        self.assertIn("a.colibri.partial: writing failed: No space left on device", done.stderr.decode())
        self.assertEqual(copy.read_bytes(), self.whole)

    def test_killed_at_a_byte(self):
        file = self.top / "signal.colibri"
        for part in (0.1, 0.4, 0.7):  # each goes on where the last one was killed
            def limit():
                resource.setrlimit(resource.RLIMIT_FSIZE, (int(part * len(self.whole)), resource.RLIM_INFINITY))

            self.assertEqual(self.convert(file, limit).returncode, -signal.SIGXFSZ)
            self.assertFalse(file.exists())
        self.goes_on(file)

    def test_killed_at_any_moment(self):
        file = self.top / "killed.colibri"
        journal = Path(f"{file}.journal")
        interrupted = 0
        for lines in range(1, 12):
            process = subprocess.Popen([COLIBRI, "convert", str(MODEL), "-o", str(file)], stderr=subprocess.DEVNULL)
            while process.poll() is None and not (journal.exists() and journal.stat().st_size > 17 * lines):
                time.sleep(0.0005)
            process.kill()
            process.wait()
            interrupted += not file.exists()
            if file.exists():
                self.assertEqual(file.read_bytes(), self.whole)
                file.unlink()
        self.assertGreater(interrupted, 0)
        self.goes_on(file)

    def test_no_memory(self):
        """With less and less address space, down to where the program does not even start."""
        file, refused = self.top / "memory.colibri", 0
        for size in range(40, 400, 12):
            def limit():
                resource.setrlimit(resource.RLIMIT_AS, (size * MIB, size * MIB))

            done = self.convert(file, limit)
            message = done.stderr.decode()
            if done.returncode == DONE:
                break
            self.assertFalse(file.exists())
            if "error while loading shared libraries" in message:
                continue
            self.assertIn(done.returncode, (FAILED, REFUSED), f"{size} MiB: {message}")
            self.assertTrue(message.strip(), f"{size} MiB")
            refused += "memory" in message
        self.assertGreater(refused, 0)
        if not file.exists():
            self.goes_on(file)
        self.assertEqual(file.read_bytes(), self.whole)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
