# SPDX-License-Identifier: Apache-2.0
"""The rANS stream of WIH1: encoder and decoder (t4097, lenient, canonical), and the payload."""
import struct
from bisect import bisect_right

LOW = 1 << 31
WORD = (1 << 32) - 1


def _escape_groups(raw):
    groups = []
    while raw:
        groups.append(raw & 15)
        raw >>= 4
    return groups


def _steps(symbol, table):
    """What the decoder reads for one symbol, in its order: (start, size, bits of precision)."""
    cdf, offset = table
    value, last = symbol - offset, len(cdf) - 2
    if 0 <= value < last:
        return [(cdf[value], cdf[value + 1] - cdf[value], 16)]
    raw = 2 * (value - last) if value >= last else 2 * (-value - 1) + 1
    groups = _escape_groups(raw)
    return ([(cdf[last], 65536 - cdf[last], 16), (len(groups), 1, 4)]
            + [(group, 1, 4) for group in groups])


def encode(symbols, tables):
    """The stream's bytes; `tables` holds one (cdf, offset) for each symbol."""
    x, words = LOW, []
    for symbol, table in zip(reversed(symbols), reversed(tables)):
        for start, size, bits in reversed(_steps(symbol, table)):
            if x >= (size << (63 - bits)):
                words.append(x & WORD)
                x >>= 32
            x = ((x // size) << bits) + x % size + start
    words += [x >> 32, x & WORD]
    return struct.pack(f"<{len(words)}I", *reversed(words))


class Decoder:
    def __init__(self, stream):
        self.words = struct.unpack(f"<{len(stream) // 4}I", stream)
        self.x, self.at = self.words[0] + (self.words[1] << 32), 2

    def renormalise(self):
        if self.x < LOW:
            if self.at == len(self.words):
                raise ValueError("stream_exhausted")
            self.x = (self.x << 32) + self.words[self.at]
            self.at += 1

    def bits(self, k):
        value = self.x & ((1 << k) - 1)
        self.x >>= k
        self.renormalise()
        return value

    def symbol(self, table):
        cdf, offset = table
        c = self.x & 65535
        s = bisect_right(cdf, c) - 1
        self.x = (cdf[s + 1] - cdf[s]) * (self.x >> 16) + c - cdf[s]
        self.renormalise()
        return (self.escape(len(cdf) - 2) if s == len(cdf) - 2 else s) + offset

    def escape(self, last):
        count = group = self.bits(4)
        read = 0
        while group == 15 and read < 8:
            group = self.bits(4)
            count, read = count + group, read + 1
        raw = sum(self.bits(4) << (4 * j) for j in range(min(count, 8)))
        return -(raw >> 1) - 1 if raw & 1 else (raw >> 1) + last

    def finish(self):
        if self.at != len(self.words) or self.x != LOW:
            raise ValueError("stream_noncanonical")


def wih1(size, z_shape, y_shape, z_stream, y_stream):
    """The WIH1 payload of a picture of `size` (H, W)."""
    return (b"WIH1" + struct.pack("<B3x2I6H2I", 1, *size, *z_shape, *y_shape, len(z_stream),
                                  len(y_stream)) + z_stream + y_stream)


def read_wih1(data):
    head = struct.unpack_from("<4sB3x2I6H2I", data)
    if head[0] != b"WIH1" or head[1] != 1:
        raise ValueError("not a WIH1 payload of version 1")
    at = struct.calcsize("<4sB3x2I6H2I")
    z_stream, y_stream = data[at:at + head[10]], data[at + head[10]:]
    if len(y_stream) != head[11]:
        raise ValueError("payload_malformed")
    return head[2:4], head[4:7], head[7:10], z_stream, y_stream
