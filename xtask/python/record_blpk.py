"""Records what blpk of bloscpack 0.16.0 prints, for the tests of ours: conformance/samples/bloscpack/blpk.json.

Run it with the Python of `cargo xtask interop`: target/oracles/bin/python xtask/python/record_blpk.py
Files are not compressed (-l 0) where their sizes are printed, since codecs of different versions differ in them.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SAMPLES = os.path.join(ROOT, "conformance", "samples", "bloscpack")
BLPK = (
    "import collections, collections.abc, sys; collections.MutableMapping = collections.abc.MutableMapping; "
    "sys.argv[0] = 'blpk'; from bloscpack.cli import main; main()"
)

# Metadata with everything that JSON has, too long for a line.
META = {
    "container": "a 'thing' of ours",
    "list": [1, 2.5, -3e20, True, None, "ä"],
    "text": "words and words and words " * 6,
    "nested": {"b": {}, "a": [[], "x" * 70, {"k": "y" * 40}]},
}
FILES = {
    "ten.dat": bytes(i * 7919 // 8 % 256 for i in range(10000)),
    "seven.dat": bytes(i * 31 % 256 for i in range(7000)),
    "small.dat": b"hello world",
    "empty.dat": b"",
    "meta.json": json.dumps(META).encode(),
    "short.json": b'{"b": [1, 2], "a": "x"}',
    "null.json": b"null",
    "list.json": b"[]",
    "bad.json": b"{",
}

C = "-v -n 1 c -l 0"
CASES = [
    # Nothing, and wrong use.
    [""],
    ["c"],
    ["d"],
    ["a x.blp"],
    ["i"],
    ["c --nope ten.dat"],
    ["c ten.dat out.blp more"],
    ["c ten.dat -z"],
    ["c ten.dat -k"],
    ["-v -d c ten.dat"],
    ["-n 0 c ten.dat"],
    ["--nthreads 257 c ten.dat"],
    ["-n x c ten.dat"],
    ["c -t x ten.dat"],
    ["c -l 10 ten.dat"],
    ["c -l -1 ten.dat"],
    ["compress -l x ten.dat"],
    ["c -k none ten.dat"],
    ["a -l 10 x.blp ten.dat"],
    # Chunk sizes.
    *[[f"c -z {size} ten.dat"] for size in "0 -1 2G 1T 2147483632 8m 1e3 0.5 8MB 0.0001B".split()],
    *[[f"{C} -z {size} ten.dat"] for size in "64K 65536 0.5G 1e3K max 1.5K 100 5000".split()],
    ["c --chunk-size 8m ten.dat"],
    # Files that are there or not.
    ["c missing"],
    ["d missing.blp"],
    ["i missing"],
    ["a missing.blp ten.dat"],
    ["c -l 0 ten.dat", "a ten.dat.blp missing"],
    ["c ten.dat", "c ten.dat", "-f c ten.dat", "-f -v -n 1 c -l 0 ten.dat"],
    ["c ten.dat t.blp", "d t.blp ten.dat", "-f d t.blp ten.dat"],
    ["d ten.dat"],
    ["c ten.dat other", "d other", "d -e other", "d -e other back", "d --no-check other back2"],
    ["c -l 0 ten.dat other", "a other seven.dat", "-v -n 1 a -l 0 -e other seven.dat", "i other"],
    # Compression.
    ["-n 2 -v c -l 0 ten.dat"],
    [f"{C} -z 4K ten.dat t.blp", "i t.blp", "-n 1 -v d t.blp t.out"],
    [f"{C} empty.dat", "i empty.dat.blp", "-v -n 1 d empty.dat.blp back"],
    [f"{C} small.dat", "-v -n 3 i small.dat.blp"],
    *[[f"{C} -k {name} -z 3K ten.dat t.blp", "i t.blp", "d t.blp"]
      for name in "None adler32 crc32 md5 sha1 sha224 sha256 sha384 sha512".split()],
    *[[f"{C} {option} ten.dat t.blp", "i t.blp"] for option in ["-t 4", "-s", "-o", "-c lz4", "-c lz4hc", "-c zlib",
      "-c zstd", "--typesize 255", "--no-shuffle", "--codec zstd", "--no-offsets", "-t 1 -s -o"]],
    # Metadata.
    [f"{C} -m meta.json -o -z 2K ten.dat t.blp", "d t.blp", "i t.blp"],
    [f"{C} -m short.json ten.dat t.blp", "-v -n 1 d t.blp back", "i t.blp"],
    [f"{C} -m null.json ten.dat t.blp", "d t.blp", "i t.blp"],
    [f"{C} -m list.json ten.dat t.blp", "d t.blp", "i t.blp"],
    ["c -m missing.json ten.dat"],
    ["c -m bad.json ten.dat"],
    # Append.
    [f"{C} -z 4K ten.dat t.blp", "-n 1 -v a -l 0 t.blp seven.dat", "i t.blp", "-v -n 1 a -l 0 t.blp small.dat",
     "-v -n 1 a -l 0 t.blp small.dat", "-v -n 1 d t.blp"],
    [f"{C} small.dat", "a -l 0 small.dat.blp ten.dat", "-v -n 1 a -l 0 small.dat.blp small.dat", "i small.dat.blp"],
    [f"{C} -m short.json ten.dat t.blp", "a -l 0 -m meta.json t.blp small.dat", "a -l 0 -m list.json t.blp small.dat",
     "i t.blp"],
    [f"{C} ten.dat t.blp", "a -l 0 -m short.json t.blp small.dat"],
    # Samples.
    *[[f"i {name}.blp", f"d {name}.blp"] for name in """real_default real_no_offsets real_no_offsets_no_checksum
      real_meta_zlib real_meta_raw real_meta_list real_meta_emptyobj real_np_struct real_np_struct_nested real_np_U3
      real_append_mixed_codec real_codec_zstd_bitshuffle real_codec_lz4hc_t4 real_max_app_3 real_typesize_255
      real_multichunk synth_v3_nonuniform""".split()],
    *[[f"i {name}.blp"] for name in """malformed/version_4 malformed/short_header malformed/bad_magic malformed/empty_file
      malformed/chunk_size_minus_2 malformed/last_chunk_larger malformed/nchunks_plus_app_overflow
      malformed/nchunks_minus_2 malformed/option_bit_2""".split()],
]


def run(folder, line):
    done = subprocess.run(
        [sys.executable, "-c", BLPK, *line.split()],
        cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, env={**os.environ, "COLUMNS": "80"},
    )
    result = {"args": line, "exit": done.returncode, "stdout": done.stdout}
    errors = done.stderr.strip().splitlines()
    if errors:
        result["stderr_last"] = errors[-1]
        result["trace"] = errors[0].startswith("Traceback")
    return result


def main():
    cases = []
    for lines in CASES:
        with tempfile.TemporaryDirectory() as folder:
            for name, content in FILES.items():
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(content)
            samples = [word for line in lines for word in line.split() if os.path.exists(os.path.join(SAMPLES, word))]
            for sample in samples:
                os.makedirs(os.path.join(folder, os.path.dirname(sample)), exist_ok=True)
                shutil.copy(os.path.join(SAMPLES, sample), os.path.join(folder, sample))
            cases.append([run(folder, line) for line in lines])
    files = {name: content.hex() for name, content in FILES.items() if len(content) < 1000}
    out = {"program": "bloscpack 0.16.0", "files": files, "cases": cases}
    with open(os.path.join(SAMPLES, "blpk.json"), "w") as file:
        json.dump(out, file, indent=1)
        file.write("\n")


main()
