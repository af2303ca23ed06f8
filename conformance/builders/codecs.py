"""Small encoders of every codec of docs/formats/codecs.md: short, not good.

All encoders start from one greedy LZ77 parse. Their output depends on this file alone, so cases do
not change with the version of a library.
"""

import zlib

# Name: codec id, format code (codecs.md, chapter 2).
CODECS = {
    "blosclz": (0, 0), "lz4": (1, 1), "lz4hc": (2, 1), "snappy": (3, 2), "zlib": (4, 3),
    "zstd": (5, 4),
}


def parse(data, before=b"", farthest=8191):
    """Sequences (literals, length of a match, distance); the last one has literals only.

    A match starts at least 12 bytes before the end and ends at least 5 before it, as LZ4 wants.
    """
    whole = before + data
    seen = {whole[i:i + 4]: i for i in range(len(before) - 3)}
    start = at = len(before)
    sequences = []
    while at + 12 <= len(whole):
        key = whole[at:at + 4]
        found = seen.get(key)
        seen[key] = at
        if found is None or at - found > farthest:
            at += 1
            continue
        length = 4
        while at + length < len(whole) - 5 and whole[found + length] == whole[at + length]:
            length += 1
        sequences.append((whole[start:at], length, at - found))
        at += length
        start = at
    sequences.append((whole[start:], 0, 0))
    return sequences


def extension(value):
    """Bytes that are added, up to and with the first that is not 255."""
    return b"\xff" * (value // 255) + bytes([value % 255])


def lz4(data, before=b""):
    """codecs.md, chapter 4; `before` is a dictionary."""
    out = b""
    for literals, length, distance in parse(data, before, 65535):
        match = length - 4 if length else 0
        out += bytes([min(len(literals), 15) << 4 | min(match, 15)])
        out += extension(len(literals) - 15) if len(literals) >= 15 else b""
        out += literals
        if length:
            out += distance.to_bytes(2, "little")
            out += extension(match - 15) if match >= 15 else b""
    return out


def blosclz(data):
    """codecs.md, chapter 3."""
    out = b""
    for literals, length, distance in parse(data):
        for i in range(0, len(literals), 32):
            part = literals[i:i + 32]
            out += bytes([len(part) - 1 | (0 if out else 0x20)]) + part
        if length:
            high, low = divmod(distance - 1, 256)
            if length <= 8:
                out += bytes([length - 2 << 5 | high])
            else:
                out += bytes([7 << 5 | high]) + extension(length - 9)
            out += bytes([low])
    return out


def snappy(data):
    """codecs.md, chapter 5: literals, and copies with two bytes of offset."""
    out, n = b"", len(data)
    while n >= 128:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    out += bytes([n])
    for literals, length, distance in parse(data):
        if literals:
            n = len(literals) - 1
            out += bytes([n << 2]) if n < 60 else bytes([61 << 2]) + n.to_bytes(2, "little")
            out += literals
        while length:
            part = min(length, 64)
            out += bytes([part - 1 << 2 | 2]) + distance.to_bytes(2, "little")
            length -= part
    return out


def zlib_fixed(data):
    """codecs.md, chapter 6: one deflate block with the fixed codes of RFC 1951."""
    bits, nbits, out = 1 | 1 << 1, 3, bytearray()

    def put(value, n):
        nonlocal bits, nbits
        bits, nbits = bits | value << nbits, nbits + n

    def code(value, n):
        put(int(f"{value:0{n}b}"[::-1], 2), n)

    def symbol(value):
        if value < 144:
            code(0x30 + value, 8)
        elif value < 256:
            code(0x190 + value - 144, 9)
        elif value < 280:
            code(value - 256, 7)
        else:
            code(0xC0 + value - 280, 8)

    def ranged(value, groups, first):
        """Symbol and extra bits of a length or a distance: `groups` symbols share a width."""
        base, extra, number = first, 0, 0
        while value >= base + (1 << extra):
            base += 1 << extra
            number += 1
            if number >= 2 * groups and number % groups == 0:
                extra += 1
        return number, value - base, extra

    for literals, length, distance in parse(data):
        for byte in literals:
            symbol(byte)
        while length:
            part = min(length, 257)
            if 0 < length - part < 3:
                part -= 3
            number, rest, extra = ranged(part, 4, 3)
            symbol(257 + number)
            put(rest, extra)
            number, rest, extra = ranged(distance, 2, 1)
            code(number, 5)
            put(rest, extra)
            length -= part
    symbol(256)
    while nbits > 0:
        out.append(bits & 255)
        bits, nbits = bits >> 8, nbits - 8
    return b"\x78\x01" + bytes(out) + zlib.adler32(data).to_bytes(4, "big")


def zstd(data):
    """codecs.md, chapter 7: blocks of one repeated byte, and raw ones."""
    n = len(data)
    out = b"\x28\xb5\x2f\xfd" + (bytes([0x20, n]) if n < 256 else b"\x60" + (n - 256).to_bytes(2, "little"))
    blocks, at, start = [], 0, 0
    while at < n:
        run = 1
        while at + run < n and data[at + run] == data[at]:
            run += 1
        if run >= 8:
            if start < at:
                blocks.append((0, at - start, data[start:at]))
            blocks.append((1, run, data[at:at + 1]))
            start = at + run
        at += run
    if start < n or not blocks:
        blocks.append((0, n - start, data[start:]))
    for i, (kind, size, payload) in enumerate(blocks):
        last = i == len(blocks) - 1
        out += (last | kind << 1 | size << 3).to_bytes(3, "little") + payload
    return out


ENCODERS = {"blosclz": blosclz, "lz4": lz4, "lz4hc": lz4, "snappy": snappy, "zlib": zlib_fixed, "zstd": zstd}
