# SPDX-License-Identifier: Apache-2.0
"""The .qp file of docs/payloads.md (QPF1), of one payload: writer and reader."""
import struct


def qp_file(capability, digest, payload):
    """`digest` is the set's SHA-256 in hexadecimal."""
    name = capability.encode("ascii")
    return (b"QPF1" + struct.pack("<B3xB", 1, len(name)) + name + bytes.fromhex(digest)
            + struct.pack("<I", len(payload)) + payload)


def qp_payload(data):
    if data[:5] != b"QPF1\x01":
        raise ValueError("not a QPF1 file of version 1")
    at = 9 + data[8] + 32
    size, = struct.unpack_from("<I", data, at)
    if at + 4 + size != len(data):
        raise ValueError("not one payload")
    return data[at + 4:]
