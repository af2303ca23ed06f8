#!/usr/bin/env python3
"""Packs the corpus for libFuzzer and OSS-Fuzz.

    python3 conformance/corpus.py --out DIR [--name chunk=decompress_chunk_fuzzer ...]

For each format whose data are one file: NAME_seed_corpus.zip with the cases of the manifest and the inputs of corpus/, the smallest
first. For every format: NAME.dict. The name is that of the format unless --name gives the one of a fuzz target. The same files always make the same bytes.
"""

import argparse
import hashlib
import json
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent
# Folders of corpus/ whose inputs are files of the format and nothing else.
PLAIN = {
    "chunk": ["chunk/chunk_decode", "chunk/chunk_peer"], "frame": ["frame/frame_open_decode", "frame/frame_edit", "frame/frame_legacy", "frame/frame_rescue"],
    "b2nd": ["b2nd/array_read"], "store": ["store/store_open"], "blp": ["blp/bloscpack_read", "blp/bloscpack_append"],
}
MAX_NBYTES = 16 << 10
# Tokens of dictionaries: what a format's headers compare.
TOKENS = {
    "chunk": {
        "header_extended": b"\5\1\x35", "header_blosc1": b"\2\1\x31", "special_zeros": b"\0\x10", "special_nan": b"\0\x20", "special_value": b"\0\x30",
        "csize_zero_run": bytes(4), "csize_run": b"\xf9\xff\xff\xff\1", "start_first": b"\x20\0\0\0", "nbytes_max": b"\xff\xff\xff\x7f", "nbytes_negative": b"\xff\xff\xff\xff",
        "zlib": b"\x78\1", "zstd": b"\x28\xb5\x2f\xfd", "zstd_dictionary": b"\x37\xa4\x30\xec", "vl_blocks": b"\1\0\0\0\0",
    },
    "frame": {
        "start": b"\x9e\xa8b2frame\0\xd2", "flags_2": b"\xa4\x12", "flags_3": b"\xa4\x53", "flags_vl": b"\xa4\xd3", "frame_len": b"\xcf\0\0\0\0\0\0", "nbytes": b"\xd3\0\0\0\0",
        "metalayers": b"\x93\xcd", "map": b"\xde\0\1", "values": b"\xdc\0\1", "content": b"\xc6\0\0", "trailer": b"\x94\1\x93\xcd", "trailer_len": b"\xce\0\0",
        "fingerprint": b"\xd8\0", "run_zeros": b"\0\0\0\x81", "run_nan": b"\0\0\0\x82", "run_uninit": b"\0\0\0\x84", "beta1": b"\x9b\xa8b2frame\0", "beta2": b"\x9d\xa8b2frame\0",
    },
    "b2nd": {"layer": b"\xa4b2nd\xd2", "meta": b"\x97\0\2\x92\xd3", "lengths": b"\x92\xd2", "dtype": b"\0\xdb\0\0\0\3<i4", "caterva": b"\xa7caterva\xd2"},
    "store": {
        "local": b"PK\3\4", "directory": b"PK\1\2", "end": b"PK\5\6", "zip64": b"PK\6\6", "embed": b"embed.b2e", "marker": b"b2tree", "map": b"\xa9embed_map",
        "table": b"\xa6ctable", "schema": b"\xa6schema", "rows": b"_valid_rows.b2nd", "columns": b"_cols/", "batches": b"\xaabatcharray", "tuple": b"\xa9__tuple__",
    },
    "blp": {"magic_3": b"blpk\3\1\1", "magic_2": b"blpk\2", "magic_1": b"blpk\1\0\0\0", "json": b"JSON\0\0\0\0", "unset": b"\xff" * 8, "numpy": b'"container":"numpy"', "undo": b"blpkundo"},
    "bcolz": {"dtype": b'"dtype": "', "shape": b'"shape": [', "chunklen": b'"chunklen": ', "cparams": b'"cparams": {', "dflt": b'"dflt": ', "names": b'"names": ["', "chunk": b"blpk\1\0\0\0\1\0\0\0\0\0\0\0"},
}
TOKENS["sframe"] = {**TOKENS["frame"], "sparse": b"\xa4\x12\1"}
TOKENS["table"] = TOKENS["store"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--name", action="append", default=[], metavar="FORMAT=TARGET")
    args = parser.parse_args()
    names = dict(named.split("=", 1) for named in args.name)
    cases = json.loads((ROOT / "manifest.json").read_text())["cases"]
    args.out.mkdir(parents=True, exist_ok=True)
    for format in PLAIN:
        name = names.get(format, format)
        inputs = seeds(format, cases)
        with zipfile.ZipFile(args.out / f"{name}_seed_corpus.zip", "w", zipfile.ZIP_STORED) as archive:
            for content in inputs:
                archive.writestr(zipfile.ZipInfo(hashlib.sha1(content).hexdigest()), content)
        (args.out / f"{name}.dict").write_text(dictionary(format))
        print(f"{name:<28} {len(inputs):>4} inputs, {sum(map(len, inputs)):>7} bytes, {len(TOKENS[format])} tokens")
    for format in set(TOKENS) - set(PLAIN):
        (args.out / f"{names.get(format, format)}.dict").write_text(dictionary(format))


def seeds(format, cases):
    files = [ROOT / case["file"] for case in cases if case["format"] == format]
    files += [path for folder in PLAIN[format] for path in sorted((ROOT / "corpus" / folder).iterdir())]
    found = {path.read_bytes() for path in files if path.is_file()}
    return sorted((content for content in found if len(content) <= MAX_NBYTES), key=lambda content: (len(content), content))


def dictionary(format):
    def quoted(token):
        return "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\x{byte:02X}" for byte in token)
    return f"# Tokens of the format {format}.\n" + "".join(f'{name}="{quoted(token)}"\n' for name, token in TOKENS[format].items())


if __name__ == "__main__":
    sys.exit(main())
