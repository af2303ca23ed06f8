"""Sequences of calls of two libraries with the same arguments, wrong ones included.

    capi_random.py ORIGINAL OURS --seed N --cases N [--case N]

Each library is called in a process of its own, so that a crash is a result. Codes, decoded bytes,
header fields and the state must be equal. Meant differences are the rows of DIFFERENCES, which
docs/capi.md explains.
"""

import argparse
import collections
import json
import os
import random
import subprocess
import sys
import tempfile
import zlib

import capi_blosc
from capi_blosc import Blosc

NAMES = [b"blosclz", b"lz4", b"lz4hc", b"snappy", b"zlib", b"zstd"]
WRONG = [b"", b"LZ4", b"nope", b"lizard"]

# Differences that are meant, by the names of their rows in docs/capi.md. Each is told of a call: the name of the
# function, its arguments, the result of the original and of ours.
DIFFERENCES = {
    "crash": lambda f, a, theirs, ours: theirs == "crash" and ours != "crash",
    "null": lambda f, a, theirs, ours: a.get("data", b"") is None and ours[0] == -1,
    "payload": lambda f, a, theirs, ours: f in ("compress", "compress_ctx")
    and is_payload(a, theirs, ours),
    "cut bitshuffle": lambda f, a, theirs, ours: f in ("compress", "compress_ctx")
    and is_cut_bitshuffle(a, theirs, ours),
    "unreadable split": lambda f, a, theirs, ours: f in ("compress", "compress_ctx")
    and is_unreadable_split(a, theirs, ours),
    "damage": lambda f, a, theirs, ours: f in ("decompress", "decompress_ctx", "getitem")
    and a["damaged"]
    and ours[0] in (-1, -5, -9),
    "damage not seen": lambda f, a, theirs, ours: f in ("decompress", "decompress_ctx", "getitem")
    and (a["damaged"] == "body" or a["damaged"] and (a.get("nitems", 1) < 1 or f == "getitem" and theirs[0] == -2))
    and theirs[0] in (-1, -2, ours[0]),
    "outside": lambda f, a, theirs, ours: f == "getitem" and ours[0] == -1 and a["outside"],
    "large destsize": lambda f, a, theirs, ours: a.get("destsize", 0) >= 1 << 31
    and theirs[0] <= 0,
}


def is_payload(a, theirs, ours):
    """One of the two stored a copy, or had not enough room for it."""
    (code1, head1, back1), (code2, head2, back2) = theirs, ours
    if not (back1 and back2):
        return False
    if code1 == 0 or code2 == 0:
        return a["destsize"] < a["nbytes"] + 16 and min(code1, code2) == 0
    return code1 == code2 and without_copy(head1) == without_copy(head2)


def without_copy(head):
    return head[:2] + [head[2] & ~2] + head[3:] if head else head


def is_cut_bitshuffle(a, theirs, ours):
    """Ours stores what old readers would damage."""
    code, head, back = ours
    if code <= 0 or not back or head[2] & 6 != 6:
        return False
    return int.from_bytes(bytes(head[4:8]), "little") % head[3] != 0


def is_unreadable_split(a, theirs, ours):
    """C-Blosc says that it split, also where no reader knows that; ours says so where it did."""
    (_, head1, back1), (code2, head2, back) = theirs, ours
    if not back1 and code2 == 0:
        return a["destsize"] < a["nbytes"] + 16
    if not (back and head1 and head2) or head1[2] & 16 or not head2[2] & 16:
        return False
    plain = lambda head: head[:2] + [head[2] & ~18] + head[3:]
    return plain(head1) == plain(head2)


def make_data(r):
    nbytes = r.choice([0, 1, 3, 15, 127, 128, 129, 500, 4096, 5000, 16384, 40000, 131072, 200001])
    kind = r.randrange(4)
    if kind == 0:
        return bytes(nbytes)
    if kind == 1:
        return r.randbytes(nbytes)
    if kind == 2:
        return b"".join((i * 7).to_bytes(4, "little") for i in range(nbytes // 4 + 1))[:nbytes]
    word = r.randbytes(r.choice([1, 4, 8, 100, 1000]))
    return (word * (nbytes // len(word) + 1))[:nbytes]


def make_chunk(r, pool):
    """A chunk, whether it is damaged, and where."""
    chunk = pool[r.randrange(len(pool))]
    kind = r.randrange(6)
    if kind > 1:
        return chunk, ""
    changed = bytearray(chunk)
    if kind == 0:
        at = r.randrange(16)
        changed[at] = r.choice([0, 1, 2, 3, 4, 5, 16, 127, 128, 255, r.randrange(256)])
        return bytes(changed), "header" if bytes(changed) != chunk else ""
    if len(chunk) > 16:
        changed[r.randrange(16, len(chunk))] = r.randrange(256)
    return bytes(changed), "body" if bytes(changed) != chunk else ""


def field(chunk, at):
    return int.from_bytes(chunk[at : at + 4], "little", signed=True)


def make_calls(r, pool):
    """The calls of a sequence: a name and arguments each."""
    capi_blosc.set_variables({})
    for _ in range(r.randrange(1, 12)):
        name = r.choice(CALLS)
        yield name, getattr(Arguments, name, lambda r, pool: {})(r, pool)


class Arguments:
    """Arguments of the functions of these names."""

    @staticmethod
    def compress(r, pool):
        data = make_data(r)
        nbytes = len(data) if r.randrange(12) else r.choice([2**31 - 16, 2**31, 2**33, 2**64 - 1])
        destsize = r.choice([nbytes + 16] * 5 + [r.randrange(40), nbytes + 15, nbytes // 2 + 16])
        if destsize > len(data) + 64 and nbytes == len(data):
            destsize = nbytes + 16
        a = {
            "clevel": r.choice([0, 1, 3, 5, 5, 5, 6, 7, 8, 9, -1, 10]),
            "shuffle": r.choice([0, 1, 1, 1, 2, 2, 3, -1]),
            "typesize": r.choice([1, 2, 4, 4, 8, 8, 3, 7, 16, 17, 31, 255, 256, 1000]),
            "data": data,
            "nbytes": nbytes,
            "destsize": min(destsize, 2**64 - 1),
        }
        if r.randrange(60) == 0:
            a["typesize"] = 0
        if r.randrange(60) == 0:
            a["data"] = None
        return a

    @staticmethod
    def compress_ctx(r, pool):
        a = Arguments.compress(r, pool)
        a["name"] = r.choice(NAMES * 3 + WRONG)
        a["blocksize"] = r.choice([0, 0, 0, 1, 100, 4096, 65536, 99999, 2**31, 2**32 + 4096])
        a["nthreads"] = r.choice([1, 1, 2, 3, 0, -1, 300])
        return a

    @staticmethod
    def decompress(r, pool):
        chunk, damaged = make_chunk(r, pool)
        nbytes = max(field(chunk, 4), 0)
        room = min(nbytes, 1 << 20)
        destsize = r.choice([room] * 6 + [room + 1, max(room - 1, 0), 0])
        return {"chunk": chunk, "damaged": damaged, "room": room + 1, "destsize": destsize}

    @staticmethod
    def decompress_ctx(r, pool):
        return Arguments.decompress(r, pool) | {"nthreads": r.choice([1, 1, 2, 4, 0, -1, 300])}

    @staticmethod
    def getitem(r, pool):
        chunk, damaged = make_chunk(r, pool)
        typesize = max(chunk[3], 1)
        total = max(field(chunk, 4), 0) // typesize
        start = r.choice([0, total, total - 1, total + 1, -1, r.randrange(total + 1)])
        nitems = r.choice([0, 1, 2, -1, 10, r.randrange(min(total, 9999) + 1)])
        outside = start < 0 or start + nitems > total or nitems < 0
        room = (max(nitems, 0) + 1) * 256
        return {
            "chunk": chunk,
            "damaged": damaged,
            "start": start,
            "nitems": nitems,
            "room": room,
            "outside": outside,
        }

    @staticmethod
    def sizes(r, pool):
        return {"chunk": make_chunk(r, pool)[0]}

    metainfo = versions = complib = sizes

    @staticmethod
    def validate(r, pool):
        chunk, _ = make_chunk(r, pool)
        return {"chunk": chunk, "cbytes": r.choice([len(chunk)] * 3 + [0, 15, 16, len(chunk) + 1])}

    @staticmethod
    def name_of(r, pool):
        return {"code": r.randrange(-2, 9)}

    @staticmethod
    def code_of(r, pool):
        return {"name": r.choice(NAMES + WRONG)}

    complib_info = code_of

    @staticmethod
    def set_compressor(r, pool):
        return {"name": r.choice(NAMES * 4 + WRONG)}

    @staticmethod
    def set_nthreads(r, pool):
        return {"n": r.choice([1, 1, 2, 3, 4, 0, -1, 256, 257])}

    @staticmethod
    def set_blocksize(r, pool):
        return {"n": r.choice([0, 0, 0, 1, 128, 4096, 70000, 2**31, 2**32, 2**63])}

    @staticmethod
    def set_splitmode(r, pool):
        return {"n": r.choice([1, 2, 3, 4, 4, 4, 0, 5, -1])}

    @staticmethod
    def variables(r, pool):
        values = {}
        for name, texts in TEXTS.items():
            if r.randrange(8) == 0:
                values[name] = r.choice(texts)
        return {"values": values}


TEXTS = {
    "CLEVEL": ["0", "3", "9", "10", "-1", "x", "", "5x"],
    "SHUFFLE": ["NOSHUFFLE", "SHUFFLE", "BITSHUFFLE", "2", "x"],
    "TYPESIZE": ["1", "8", "0", "-1", "x", "300"],
    "COMPRESSOR": ["lz4", "zstd", "zlib", "nope", ""],
    "BLOCKSIZE": ["4096", "65536", "0", "-1", "x"],
    "NTHREADS": ["1", "2", "0", "-1", "x"],
    "SPLITMODE": ["ALWAYS", "NEVER", "AUTO", "FORWARD_COMPAT", "1", "x"],
    "NOLOCK": ["1", ""],
    "WARN": ["1"],
}
CALLS = (
    ["compress", "compress_ctx", "decompress", "decompress_ctx", "getitem"] * 4
    + "sizes metainfo versions complib validate name_of code_of complib_info".split()
    + "set_compressor set_nthreads set_blocksize set_splitmode variables variables".split()
    + "init destroy free_resources".split()
)


def result_of(blosc, name, a):
    """What a call gives, as far as two libraries have to agree."""
    if name == "variables":
        return capi_blosc.set_variables(a["values"])
    if name in ("compress", "compress_ctx"):
        data = a["data"] or b""
        code, chunk = getattr(blosc, name)(**a)
        if code <= 0:
            return [code, [], True]
        same = len(chunk) == code == field(chunk, 12)
        back = blosc.decompress_ctx(chunk, len(data), len(data), 1)[1]
        return [1 if code > 0 else code, list(chunk[:12]), same and back == data]
    plain = {key: value for key, value in a.items() if key not in ("damaged", "outside")}
    result = getattr(blosc, name)(**plain)
    if name in ("decompress", "decompress_ctx", "getitem"):
        code, data = result
        return [code, zlib.crc32(data)]
    return result


def worker(path, pool):
    """Answers each seed with the results of its sequence, one line for each call."""
    blosc = Blosc(path)
    for line in sys.stdin:
        blosc.set_nthreads(1)
        blosc.set_compressor(b"blosclz")
        blosc.set_blocksize(0)
        blosc.set_splitmode(4)
        for name, a in make_calls(random.Random(int(line)), pool):
            result = [result_of(blosc, name, a), blosc.state()]
            print(json.dumps(result, default=lambda x: x.decode()), flush=True)
        print("end", flush=True)


class Library:
    """A process that calls one library, started again after a crash."""

    def __init__(self, path, pool):
        self.path, self.pool = path, pool
        self.process = None

    def ask(self, seed):
        if self.process is None:
            arguments = [sys.executable, "-B", __file__, "--worker", self.path, self.pool]
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            self.process = subprocess.Popen(
                arguments, text=True, stderr=subprocess.DEVNULL, **pipes
            )
        print(seed, file=self.process.stdin, flush=True)

    def results(self):
        """What was asked, once the other library works on it as well."""
        results = []
        for line in self.process.stdout:
            if line == "end\n":
                return results
            results.append(json.loads(line))
        self.process.wait()
        self.process = None
        return results + [["crash", None]]


def make_pool(paths):
    """Chunks of both libraries, in any way that they can be made."""
    r = random.Random(1)
    pool = []
    for n in range(400):
        blosc = Blosc(paths[n % 2])
        data = make_data(r)
        level, shuffle, typesize = r.choice([0, 1, 5, 9]), r.randrange(3), r.choice([1, 2, 4, 8, 3])
        blocksize = r.choice([0, 0, 4096])
        numbers = level, shuffle, typesize, data, len(data), len(data) + 16
        code, chunk = blosc.compress_ctx(*numbers, r.choice(NAMES), blocksize, 1)
        if code > 0:
            pool.append(chunk)
    return pool


def compare(case, calls, theirs, ours, counts):
    """Whether the results are equal or differ as they are meant to."""
    for n, (name, a) in enumerate(calls):
        if n >= len(theirs) or n >= len(ours):
            return True
        counts["calls"] += 1
        if theirs[n] == ours[n]:
            continue
        pair = theirs[n][0], ours[n][0]
        row = next((row for row, test in DIFFERENCES.items() if test(name, a, *pair)), None)
        same_state = theirs[n][1] == ours[n][1] or theirs[n][0] == "crash"
        if row and same_state:
            counts["meant: " + row] += 1
            if row == "crash":
                return True
            continue
        shown = {key: (value[:32] if isinstance(value, bytes) else value) for key, value in a.items()}
        before = ", ".join(name for name, _ in calls[:n])
        print(f"--case {case}, call {n}: {name}({shown}), after {before}\n  original {theirs[n]}\n  ours     {ours[n]}")
        return False
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--worker", nargs=2)
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--case", type=int)
    parser.add_argument("--most", type=int, default=5)
    options = parser.parse_args()
    if options.worker:
        path, pool = options.worker
        with open(pool) as file:
            return worker(path, [bytes.fromhex(text) for text in json.load(file)])
    pool = make_pool(options.paths)
    # Of this run alone: a process that starts again reads the same chunks.
    file = tempfile.NamedTemporaryFile("w", suffix=".json")
    json.dump([chunk.hex() for chunk in pool], file)
    file.flush()
    libraries = [Library(path, file.name) for path in options.paths]
    counts = collections.Counter()
    first = options.seed * 1_000_000_000
    cases = [options.case] if options.case is not None else range(options.cases)
    nwrong = 0
    for case in cases:
        for library in libraries:
            library.ask(first + case)
        theirs, ours = (library.results() for library in libraries)
        if ["crash", None] in ours:
            print(f"--case {case}: ours ended the process")
            nwrong += 1
        calls = list(make_calls(random.Random(first + case), pool))
        nwrong += not compare(case, calls, theirs, ours, counts)
        if nwrong >= options.most:
            break
    for name, count in sorted(counts.items()):
        print(f"{name}: {count}")
    if nwrong:
        print(f"{nwrong} sequences differ; again with --seed {options.seed} --case N")
    file.close()
    os._exit(bool(nwrong))


if __name__ == "__main__":
    main()
