# SPDX-License-Identifier: Apache-2.0
"""The hashes of tests/golden/README.md."""

import struct


def fnv1a64(data: bytes) -> str:
    value = 0xcbf29ce484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return f"{value:016x}"


def hash_ids(ids: list[int]) -> str:
    return fnv1a64(struct.pack(f"<{len(ids)}i", *ids))
