"""Directories of bcolz (docs/formats/bcolz.md)."""

import json
import struct
from math import prod

from .chunk import chunk, memcpyed
from .store import member
from .suite import edit, i64, ramp, text

RELEASE = "bcolz 1.1.0"


def line(value):
    return (json.dumps(value) + "\n").encode()


def blp1(content):
    """Chapter 2: a chunk file."""
    return b"blpk\1\0\0\0" + i64(1) + content


def carray(data, dtype, itemsize, shape, chunklen, *, codec="lz4", filter="shuffle", dflt=0, attrs=None, typesize=None, level=5, storage=None,
           sizes=None, cparams=None):
    """Chapters 1 to 7: the files of an array."""
    rowsize = itemsize * prod(shape[1:])
    typesize = typesize or (itemsize if itemsize < 256 else 1)
    files, size = {"__attrs__": line(attrs or {})}, chunklen * rowsize
    for n in range(0, len(data), size) if size else ():
        part = data[n:n + size]
        pipeline = (filter,) if filter else ()
        made = memcpyed(part, version=2) if level == 0 else chunk(part, codec, pipeline, typesize, max(8 * typesize, 512), version=2)
        files[f"data/__{n // size}.blp"] = blp1(made)
    cparams = cparams or {"clevel": level, "shuffle": {None: 0, "shuffle": 1, "bitshuffle": 2}[filter], "cname": codec, "quantize": 0}
    files["meta/storage"] = line({"dtype": dtype, "cparams": cparams, "chunklen": chunklen, "expectedlen": shape[0], "dflt": dflt, **(storage or {})})
    files["meta/sizes"] = line({"shape": list(shape), "nbytes": len(data), "cbytes": sum(map(len, files.values())), **(sizes or {})})
    return files


def below(name, files):
    return {f"{name}/{path}": content for path, content in files.items()}


def ctable(columns, attrs=None, names=None, **more):
    """Chapter 8."""
    files = {"__rootdirs__": line({"names": list(columns) if names is None else names, **more}), "__attrs__": line(attrs or {})}
    for name, column in columns.items():
        files.update(below(name, column))
    return files


def cases(suite):
    def add(name, about, content, data, section, dtype, shape, release=RELEASE, **fields):
        suite.valid(f"bcolz/{name}", content, data, about=about, section=f"bcolz.md {section}", since=release, dtype=dtype, shape=shape, **fields)

    dtypes = [
        ("int8", "|i1", 1, 0), ("int16", "<i2", 2, 0), ("int32", "<i4", 4, 0), ("int64", "<i8", 8, 0), ("uint8", "|u1", 1, 0), ("uint16", "<u2", 2, 0),
        ("uint32", "<u4", 4, 0), ("uint64", "<u8", 8, 0), ("float16", "<f2", 2, 0.0), ("float32", "<f4", 4, 0.0), ("float64", "<f8", 8, 0.0),
        ("bool", "|b1", 1, False), (">i4", ">i4", 4, 0), (">f8", ">f8", 8, 0.0), ("|S5", "|S5", 5, ""), ("<U4", "<U4", 16, ""), ("|V7", "|V7", 7, "\0" * 7),
        ("datetime64[ns]", "<M8[ns]", 8, 0), ("timedelta64[s]", "<m8[s]", 8, 0),
    ]
    for dtype, code, itemsize, dflt in dtypes:
        data = bytes(i % 2 for i in range(25)) if dtype == "bool" else ramp(25, itemsize, 7)
        if dtype == "<U4":
            data = "".join(f"{'abcd'[:i % 4 + 1]:\0<4}" for i in range(25)).encode("utf-32-le")
        name = dtype.strip("<>|").replace("[", "-").replace("]", "") + ("-big" if dtype[0] == ">" else "")
        typesize = 1 if dtype[1] == "S" else 4 if dtype[1] == "U" else itemsize
        add(f"dtype-{name}", f"items of {dtype}", carray(data, dtype, itemsize, [25], 10, dflt=dflt, typesize=typesize), data, 5, code, [25])
    data = ramp(25, 4, 7)
    for codec in ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"):
        for filter in (None, "shuffle", "bitshuffle"):
            add(f"{codec}-{filter or 'none'}", f"{codec} with {filter}", carray(data, "int32", 4, [25], 8, codec=codec, filter=filter), data, 4, "<i4", [25],
                until="bcolz 1.2.1" if codec == "snappy" else None)
    add("level-0", "chunks stored as they are", carray(data, "int32", 4, [25], 10, level=0), data, 4, "<i4", [25])
    for rows in (1, 9, 10, 11, 20):
        part = ramp(rows, 8, 3)
        add(f"rows-{rows}", f"{rows} rows in chunks of 10", carray(part, "int64", 8, [rows], 10), part, 6, "<i8", [rows])
    add("empty", "no rows", carray(b"", "int64", 8, [0], 10), b"", 6, "<i8", [0])
    for shape in ([5, 3], [4, 2, 3], [3, 1], [2, 2, 2, 2]):
        part = ramp(prod(shape), 4, 5)
        add(f"shape-{'x'.join(map(str, shape))}", f"shape {shape}", carray(part, "int32", 4, shape, 2), part, 6, "<i4", shape)
    add("attributes", "attributes", carray(data, "int32", 4, [25], 10, attrs={"unit": "m", "list": [1, 2.5, None], "deep": {"k": True}}), data, 7, "<i4", [25],
        metadata={"json": {"unit": "m", "list": [1, 2.5, None], "deep": {"k": True}}})
    old = carray(data, "int32", 4, [25], 10, codec="blosclz", cparams={"clevel": 5, "shuffle": True})
    add("before-1.0", "cparams of releases before 1.0", old, data, 12, "<i4", [25], "bcolz 0.7.0", checks="bcolz.md 13 (7)")
    torn = carray(data, "int32", 4, [25], 10, sizes={"shape": [23]})
    add("partial-chunk-long", "a partial chunk with more rows than count", torn, data[:92], 6, "<i4", [23], checks="bcolz.md 13 (5)")
    add("chunk-files-after", "chunk files after the last row", {**carray(data, "int32", 4, [25], 10), "data/__7.blp": b"anything"}, data, 6, "<i4", [25],
        checks="bcolz.md 13 (8)")
    add("cbytes-negative", "cbytes that trimming made wrong", carray(data, "int32", 4, [25], 10, sizes={"cbytes": -500}), data, 3, "<i4", [25],
        checks="bcolz.md 13 (7)")
    add("expectedlen-huge", "expectedlen is not used", carray(data, "int32", 4, [25], 10, storage={"expectedlen": 2**60}), data, 4, "<i4", [25],
        checks="bcolz.md 13 (6)")
    for name, value, dtype, size in (("nan", float("nan"), "float64", 8), ("inf", float("inf"), "float64", 8)):
        part = struct.pack("<5d", *range(5))
        add(f"fill-{name}", f"a fill value of {name}", carray(part, dtype, size, [5], 10, dflt=value), part, 5, "<f8", [5])
    struct_data = b"".join(struct.pack("<id", i, i / 2) for i in range(12))
    add("struct", "structured items, which bcolz writes and cannot open", carray(struct_data, "[('a', '<i4'), ('b', '<f8')]", 12, [12], 5, dflt=[0, 0.0]), struct_data,
        5, "[('a', '<i4'), ('b', '<f8')]", [12], checks="bcolz.md 13 (3)")
    no_attrs = carray(data, "int32", 4, [25], 10)
    suite.undefined("bcolz/no-attributes", {k: v for k, v in no_attrs.items() if k != "__attrs__"}, "bcolz refuses; the data are sound", data,
                    about="no __attrs__", section="bcolz.md 7")
    suite.undefined("bcolz/attributes-empty", {**no_attrs, "__attrs__": b""}, "bcolz refuses; the data are sound", data, about="__attrs__ without bytes",
                    section="bcolz.md 7")

    ints, floats, words = ramp(12, 8, 3), struct.pack("<12d", *range(12)), text(60)
    columns = {"i": carray(ints, "int64", 8, [12], 5), "f": carray(floats, "float64", 8, [12], 12), "s": carray(words, "|S5", 5, [12], 4, dflt="", typesize=1)}
    members = {"i": member(ints, "<i8", [12]), "f": member(floats, "<f8", [12]), "s": member(words, "|S5", [12])}

    def add_table(name, about, content, members, release=RELEASE, **fields):
        suite.valid(f"bcolz/{name}", content, about=about, section="bcolz.md 8", since=release, members=members, **fields)

    add_table("table", "three columns", ctable(columns), members)
    add_table("table-order", "the order of the names counts", ctable(columns, names=["s", "i", "f"]), members)
    add_table("table-attributes", "attributes", ctable(columns, {"title": "a table"}), members, metadata={"json": {"title": "a table"}})
    add_table("table-old-dirs", "__rootdirs__ with paths on another machine", ctable(columns, dirs={"i": "/home/someone/i"}), members, "bcolz 0.7.0")
    add_table("table-names", "columns called data and meta", ctable({"data": columns["i"], "meta": columns["f"]}), {"data": members["i"], "meta": members["f"]},
              checks="bcolz.md 13 (4)")
    add_table("table-empty", "no rows", ctable({"a": carray(b"", "int64", 8, [0], 5)}), {"a": member(b"", "<i8", [0])})
    add_table("table-unlisted", "a directory that is not listed", ctable({**columns, "x": columns["i"]}, names=["i", "f", "s"]), members)
    two = ramp(24, 4, 3)
    add_table("table-2d", "a column of two dimensions", ctable({"m": carray(two, "int32", 4, [12, 2], 5)}), {"m": member(two, "<i4", [12, 2])})
    short = carray(ints[:80], "int64", 8, [10], 5)
    suite.undefined("bcolz/table-torn", ctable({"a": columns["i"], "b": short}), "an append was interrupted: the shortest column counts, or the first",
                    about="columns of 12 and 10 rows", section="bcolz.md 8")
    refusals(suite, columns)


def refusals(suite, columns):
    data = ramp(25, 4, 7)
    base = carray(data, "int32", 4, [25], 10)

    def refused(name, change, error, why, entry, files=base, also=()):
        changed = {k: v for k, v in {**files, **change}.items() if v is not None}
        suite.invalid(f"bcolz/{name}", changed, error, why, about=why, section="bcolz.md 13", checks=[f"bcolz.md 13 ({entry})", *also])

    def storage(**more):
        return {"meta/storage": line({**json.loads(base["meta/storage"]), **more})}

    def sizes(**more):
        return {"meta/sizes": line({**json.loads(base["meta/sizes"]), **more})}

    refused("storage-missing", {"meta/storage": None}, "truncated", "no meta/storage", 1)
    refused("storage-empty", {"meta/storage": b""}, "contradiction", "meta/storage without bytes", 1)
    refused("storage-no-json", {"meta/storage": b"{dtype"}, "contradiction", "meta/storage is no JSON", 1)
    refused("storage-list", {"meta/storage": b"[1, 2]\n"}, "contradiction", "meta/storage is a list", 1)
    refused("storage-deep", {"meta/storage": b"[" * 3000 + b"]" * 3000}, "contradiction", "meta/storage nested 3,000 deep", 1)
    refused("sizes-no-json", {"meta/sizes": b"no json"}, "contradiction", "meta/sizes is no JSON", 1)
    refused("no-dtype", {"meta/storage": line({k: v for k, v in json.loads(base["meta/storage"]).items() if k != "dtype"})}, "contradiction", "no dtype", 2)
    refused("no-chunklen", {"meta/storage": line({k: v for k, v in json.loads(base["meta/storage"]).items() if k != "chunklen"})}, "contradiction",
            "no chunklen", 2)
    for name, value in (("0", 0), ("negative", -10), ("float", 10.5), ("text", "10"), ("huge", 2**40)):
        refused(f"chunklen-{name}", storage(chunklen=value), "contradiction", f"chunklen {value!r}", 2)
    for name, value in (("negative", [-25]), ("empty", []), ("number", 25), ("text", ["25"]), ("overflows", [2**40, 2**40]), ("inner-0", [25, 0]), ("longer", [35])):
        refused(f"shape-{name}", sizes(shape=value), "contradiction", f"shape {value!r}", 2)
    dicts = "{'names': ['a', %s], 'formats': ['<i2', '<i2'], 'offsets': [0, %s], 'itemsize': 4}"
    for name, value, entry in (
        ("code", "__import__('os').getcwd()", 2), ("text-after", "int32 x", 2), ("unknown", "int33", 3), ("unit-of-integers", "<i4[ns]", 3), ("number", 4, 0),
        ("no-bytes", "|S0", 0), ("deep", "[" * 100 + "]" * 100, 1), ("wider", "int64", 0), ("names-and-formats", dicts.replace("'<i2', ", "", 1) % ("'b'", 2), 4),
        ("name-twice", dicts % ("'a'", 2), 5), ("field-outside", dicts % ("'b'", 3), 6), ("item-of-2-31", "|V2147483648", 7),
    ):
        refused(f"dtype-{name}", storage(dtype=value), "contradiction", f"dtype {str(value)[:30]!r}", 3, also=[f"dtype.md Validation ({entry})"] * (entry > 0))
    good = base["data/__1.blp"]
    for name, content, error, why in (
        ("chunk-missing", None, "truncated", "no file for chunk 1"), ("chunk-no-bytes", b"", "truncated", "a chunk file without bytes"),
        ("chunk-cut", good[:-1], "truncated", "a chunk file cut by a byte"), ("chunk-magic", b"BLPK" + good[4:], "contradiction", "another magic"),
        ("chunk-version-2", edit(good, (4, b"\2")), "unknown", "version 2 of Bloscpack"), ("chunk-reserved", edit(good, (6, b"\1")), "contradiction", "a reserved byte"),
        ("chunk-two", edit(good, (8, i64(2))), "contradiction", "two chunks promised"), ("chunk-bytes-after", good + b"x", "contradiction", "a byte after the chunk"),
        ("chunk-short", blp1(chunk(ramp(9, 4), version=2)), "contradiction", "9 of 10 rows"), ("chunk-long", blp1(chunk(ramp(11, 4), version=2)), "contradiction", "11 rows for 10"),
        ("chunk-bomb", edit(good, (20, b"\xef\xff\xff\x7f")), "contradiction", "a chunk of 2 GiB of data"),
        ("chunk-header-only", good[:32], "truncated", "the header of a chunk"),
    ):
        refused(name, {"data/__1.blp": content}, error, why, 5)
    refused("leftover-missing", {"data/__2.blp": None}, "truncated", "no file for the last rows", 5)
    refused("leftover-short", {"data/__2.blp": blp1(chunk(ramp(4, 4), version=2))}, "contradiction", "4 of the last 5 rows", 5)
    refused("leftover-ragged", {"data/__2.blp": blp1(chunk(ramp(6, 4) + b"x", version=2))}, "contradiction", "a cut row at the end", 5)
    refused("rows-promised", sizes(shape=[10**12]), "truncated", "10^12 rows promised, 25 there", 6)
    table = ctable(columns)
    for name, names in (("slash", ["a/b"]), ("parent", [".."]), ("absolute", ["/etc"]), ("empty", [""]), ("dot", ["."]), ("nul", ["a\0b"]), ("twice", ["i", "i"]),
                        ("number", [5]), ("no-list", "i"), ("missing", ["i", "gone"])):
        refused(f"table-name-{name}", {"__rootdirs__": line({"names": names})}, "contradiction", f"columns {names!r}", 4, table)
    refused("table-no-names", {"__rootdirs__": line({})}, "contradiction", "no names of columns", 4, table)
    refused("table-rootdirs-empty", {"__rootdirs__": b""}, "contradiction", "__rootdirs__ without bytes", 1, table)
    refused("table-column-damaged", {"f/data/__0.blp": b"damage"}, "truncated", "a damaged chunk of a column", 5, table)
