"""Stores and tables (docs/formats/store.md)."""

import hashlib
import json
import struct
import zlib

from .b2nd import array
from .chunk import vl_chunk
from .frame import frame, split
from .suite import digest, edit, ramp, text

RELEASE, TABLES = "python-blosc2 3.7.0", "python-blosc2 4.2.0"


def pack(value):
    """MessagePack; a tuple has the form of section 2."""
    if value is None:
        return b"\xc0"
    if value is True or value is False:
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        return bytes([value]) if 0 <= value < 128 else b"\xd3" + struct.pack(">q", value)
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if isinstance(value, str):
        raw = value.encode()
        return (bytes([0xA0 + len(raw)]) if len(raw) < 32 else b"\xdb" + struct.pack(">I", len(raw))) + raw
    if isinstance(value, bytes):
        return b"\xc6" + struct.pack(">I", len(value)) + value
    if isinstance(value, tuple):
        value = ["__tuple__", *value]
    if isinstance(value, list):
        head = bytes([0x90 + len(value)]) if len(value) < 16 else b"\xdc" + struct.pack(">H", len(value))
        return head + b"".join(map(pack, value))
    assert isinstance(value, dict) and len(value) < 16
    return bytes([0x80 + len(value)]) + b"".join(pack(k) + pack(v) for k, v in value.items())


def zip_file(members, before=b"", after=b"", **edits):
    """Section 5: stored members; `edits` change fields of one member: {"name": {"crc": 0}}."""
    out, directory = bytearray(before), b""
    for name, content in members.items():
        raw = name.encode()
        fields = {"method": 0, "flags": 0 if raw.isascii() else 0x800, "crc": zlib.crc32(content), "csize": len(content), "size": len(content),
                  **edits.get(name, {})}
        common = struct.pack("<HHHHHIII", 20, fields["flags"], fields["method"], 0, 0x21, fields["crc"], fields["csize"], fields["size"])
        directory += b"PK\1\2" + struct.pack("<H", 20) + common + struct.pack("<HHHHHII", len(raw), 0, 0, 0, 0, 0, len(out)) + raw
        out += b"PK\3\4" + common + struct.pack("<HH", len(raw), 0) + raw + content
    start = len(out)
    out += directory
    return bytes(out) + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(directory), start, 0) + after


def embed(kind="b2tree", values=None, registry=None):
    """Sections 1 and 3: embed.b2e, with frames embedded in it."""
    entries, content = {}, b""
    for key, value in (values or {}).items():
        entries[key] = {"offset": len(content), "length": len(value)}
        content += value
    vlmeta = {"estore_metadata": pack({"embed_map": entries, "current_offset": len(content)})}
    if registry:
        vlmeta["_object_registry"] = pack(registry)
    return frame(split(content, 8192, typesize=1, blocksize=4096), len(content), 8192, layers={kind: pack({"version": 1})}, vlmeta=vlmeta,
                 typesize=1)


def attributes(**values):
    """Section 4: the attributes of a group."""
    return frame([], 0, 8192, vlmeta={name: pack(value) for name, value in values.items()}, typesize=1)


def bytes_frame(data):
    return frame(split(data, 64, typesize=1), len(data), 64, typesize=1)


def batches(rows, per_block=2, layers=None):
    """Section 7: batcharray; each item of `rows` is a batch."""
    blocks = [[pack(batch[i:i + per_block]) for i in range(0, len(batch), per_block)] for batch in rows]
    nbytes = sum(map(len, sum(blocks, [])))
    meta = {"version": 1, "serializer": "msgpack", "items_per_block": per_block, "arrow_schema": None}
    layers = {**(layers or {}), "batcharray": pack(meta)}
    return frame([vl_chunk(part) for part in blocks], nbytes, 0, flags=0xD3, layers=layers, typesize=1,
                 vlmeta={"_batch_array_metadata": pack({"batch_lengths": [len(batch) for batch in rows]})})


def values(rows):
    """The entry of a manifest for values without a fixed width: one line of JSON for each."""
    lines = "".join(json.dumps(row, sort_keys=True, separators=(",", ":")) + "\n" for row in rows)
    return {"values": {"count": len(rows), "sha256": hashlib.sha256(lines.encode()).hexdigest()}}


def member(data, dtype=None, shape=None):
    out = digest(data)
    return {**out, **({"dtype": dtype} if dtype else {}), **({"shape": list(shape)} if shape is not None else {})}


def one(data, dtype, typesize, shape=None):
    """A small array in one chunk, and its entry in the manifest."""
    shape = (len(data) // typesize,) if shape is None else shape
    lengths = tuple(max(n, 1) for n in shape)
    return array(data, shape, lengths, lengths, dtype, typesize), member(data, dtype, shape)


def column(name, kind, **more):
    return {"name": name, "kind": kind, **more}


def table(columns, alive, files, **manifest):
    """Section 8: the files of a table below its key."""
    schema = {"version": 1, "columns": columns, "n_rows": sum(alive)}
    schema.update(manifest.pop("schema", {}))
    meta = {"kind": "ctable", "version": 1, "schema": json.dumps(schema), **manifest}
    return {"_meta.b2f": frame([], 0, 8192, vlmeta={name: pack(value) for name, value in meta.items()}, typesize=1),
            "_valid_rows.b2nd": one(bytes(alive), "|b1", 1)[0], **files}


def cases(suite):
    stores(suite)
    tables(suite)


def stores(suite):
    ints, of_ints = one(ramp(5, 4), "<i4", 4)
    doubles, of_doubles = one(struct.pack("<6d", *range(6)), "<f8", 8, (2, 3))
    raw, of_raw = bytes_frame(text(150)), member(text(150))
    files = {"embed.b2e": embed(), "a.b2nd": ints, "g/b.b2nd": doubles, "g/h/raw.b2f": raw}
    members = {"/a": of_ints, "/g/b": of_doubles, "/g/h/raw": of_raw}

    def add(name, about, content, members=members, section="store.md 5", release=RELEASE, **fields):
        suite.valid(f"store/{name}", content, about=about, section=section, since=release, members=members, **fields)

    add("archive", "an archive with two arrays and a frame", zip_file(files))
    add("directory", "the same as a directory", files, section="store.md 4", extension=".b2d/")
    add("archive-dict", "marker b2dict", zip_file({**files, "embed.b2e": embed("b2dict")}), section="store.md 1", checks="store.md 10 (6)")
    add("archive-embed-last", "embed.b2e as the last member", zip_file(dict(reversed(files.items()))))
    add("archive-prefix", "bytes before the archive", zip_file(files, before=b"#!/bin/sh\n"), section="store.md 5", checks="store.md 10 (4)")
    inside = {"/n": ints, "/g/m": doubles}
    add("archive-embedded", "values in embed.b2e", zip_file({"embed.b2e": embed(values=inside)}), {"/n": of_ints, "/g/m": of_doubles},
        "store.md 3", checks="store.md 10 (9)")
    add("both-places", "a key with a file and an embedded value: the file hides it",
        zip_file({"embed.b2e": embed(values={"/a": one(ramp(2, 8), "<i8", 8)[0]}), "a.b2nd": ints}), {"/a": of_ints}, "store.md 6",
        checks="store.md 10 (7)")
    add("attributes", "attributes of groups", zip_file({**files, "__vlmeta__.b2f": attributes(title="a store"), "g/__vlmeta__.b2f": attributes(
        unit="m", number=1.5, flag=True, many=[1, 2, 3], pair=(1, 2))}), section="store.md 4")
    add("empty", "no keys", zip_file({"embed.b2e": embed()}), {}, "store.md 1")
    add("empty-directory", "no keys, as a directory", {"embed.b2e": embed()}, {}, "store.md 1", extension=".b2d/")
    add("other-files", "a text file", zip_file({**files, "notes.txt": b"hello"}),
        section="store.md 4", checks="store.md 10 (20)")
    for name, dtype, typesize in (("bool", "|b1", 1), ("i2", "<i2", 2), ("u8", "<u8", 8), ("f4", "<f4", 4), ("c16", "<c16", 16), ("S3", "|S3", 3)):
        data = bytes(i % 2 for i in range(8)) if name == "bool" else ramp(8, typesize, 5)
        content, entry = one(data, dtype, typesize)
        add(f"value-{name}", f"a value of {dtype}", zip_file({"embed.b2e": embed(), "v.b2nd": content}), {"/v": entry}, "store.md 7")
    rows = [[1, "two", None], [[3, 4]], ["x", 1.5, True]]
    add("batches", "batches of values", zip_file({"embed.b2e": embed(), "b.b2b": batches(rows)}), {"/b": values(sum(rows, []))}, "store.md 7",
        "python-blosc2 4.2.0", checks="store.md 10 (12)")
    lone = embed("b2embed", inside)
    add("embed-file", "a store inside of one frame", lone, {"/n": of_ints, "/g/m": of_doubles}, "store.md 3", extension=".b2e")
    add("embed-file-empty", "a store inside of one frame, without keys", embed("b2embed"), {}, "store.md 3", extension=".b2e")

    def refused(name, content, error, why, entry, **fields):
        suite.invalid(f"store/{name}", content, error, why, about=why, section="store.md 10", checks=f"store.md 10 ({entry})", **fields)

    whole = zip_file(files)
    refused("archive-cut", whole[:-30], "truncated", "the end record is cut", 1)
    refused("archive-half", whole[:len(whole) // 2], "truncated", "half of an archive", 1)
    end = whole.rindex(b"PK\5\6")
    refused("members-miscounted", edit(whole, (end + 8, b"\5\0\5\0")), "contradiction", "the end record counts 5 of 4 members", 1)
    first = whole.index(b"PK\1\2")
    refused("member-outside", edit(whole, (first + 42, b"\xff\xff\xff\x7f")), "contradiction", "a member at 2^31 - 1", 4)
    for name, path, why in (
        ("name-parent", "../a.b2nd", "a name with .."), ("name-absolute", "/a.b2nd", "an absolute name"), ("name-dot", "./a.b2nd", "a name with ."),
        ("name-empty-part", "g//a.b2nd", "an empty part"), ("name-control", "a\nb.b2nd", "a control character"),
    ):
        refused(name, zip_file({"embed.b2e": embed(), path: ints}), "contradiction", why, 5)
    refused("no-marker", zip_file({"a.b2nd": ints}), "unknown", "no embed.b2e", 6)
    refused("embed-version-9", zip_file({**files, "embed.b2e": embed().replace(pack({"version": 1}), pack({"version": 9}), 1)}), "unknown",
            "version 9 of the marker", 6)
    refused("embed-no-frame", zip_file({**files, "embed.b2e": b"no frame"}), "contradiction", "embed.b2e is no frame", 6)
    refused("two-files-one-key", zip_file({**files, "a.b2f": raw}), "contradiction", "a.b2nd and a.b2f", 7)
    refused("member-no-frame", zip_file({**files, "a.b2nd": b"not a frame, but 40 bytes of ordinary text"}), "contradiction", "a.b2nd is no frame", 8)
    refused("member-frame-cut", zip_file({**files, "a.b2nd": ints[:-5]}), "truncated", "the frame ends after its member", 8)
    bad = pack({"embed_map": {"/n": {"offset": 9999, "length": 100}}, "current_offset": 100})
    vl = frame([], 0, 8192, layers={"b2tree": pack({"version": 1})}, vlmeta={"estore_metadata": bad}, typesize=1)
    refused("embedded-outside", zip_file({"embed.b2e": vl}), "contradiction", "an embedded value after the data", 9)
    deep = frame([vl_chunk([b"\x91" * 3000 + b"\xc0"])], 3001, 0, flags=0xD3, typesize=1,
                 layers={"batcharray": pack({"version": 1, "serializer": "msgpack", "items_per_block": 1, "arrow_schema": None})})
    refused("msgpack-3000-deep", zip_file({"embed.b2e": embed(), "b.b2b": deep}), "contradiction", "arrays nested 3,000 deep", 11)
    suite.undefined("store/crc-wrong", zip_file(files, **{"a.b2nd": {"crc": 1}}), "readers in place need not compute it", None,
                    about="another CRC-32 in the directory and the header", section="store.md 5", checks="store.md 10 (2)")
    suite.undefined("store/remote", frame([], 0, 8192, layers={"b2embed": pack({"version": 1})}, typesize=1, vlmeta={"estore_metadata": pack(
        {"embed_map": {"/r": {"urlbase": "http://localhost:1/", "path": "x.b2nd"}}, "current_offset": 0})}), "listed, and never fetched",
        about="a value that is somewhere else", section="store.md 3", checks="store.md 10 (19)", extension=".b2e")


def tables(suite):
    def archive(columns, alive, files, prefix="", **manifest):
        made = table(columns, alive, files, **manifest)
        return zip_file({"embed.b2e": embed(), **{prefix + name: content for name, content in made.items()}})

    def add(name, about, content, members, release=TABLES, **fields):
        suite.valid(f"table/{name}", content, about=about, section="store.md 8", since=release, members=members, **fields)

    ids = struct.pack("<4q", 10, 20, 30, 40)
    id_column, id_values = {"_cols/id.b2nd": one(ids, "<i8", 8)[0]}, values([10, 20, 30, 40])
    base = ([column("id", "int64")], [1, 1, 1, 1], id_column)
    add("one-column", "a column of integers", archive(*base), {"id": id_values})
    directory = table(*base)
    add("directory", "the same as a directory", {"embed.b2e": embed(), **directory}, {"id": id_values}, extension=".b2d/")
    add("deleted-rows", "two of four rows are deleted", archive(base[0], [1, 0, 0, 1], id_column), {"id": values([10, 40])}, checks="store.md 10 (13)")
    add("all-deleted", "no row is alive", archive(base[0], [0, 0, 0, 0], id_column), {"id": values([])})
    suite.undefined("table/column-shorter", archive(base[0], [1, 1, 0, 0], {"_cols/id.b2nd": one(ids[:16], "<i8", 8)[0]}),
                    "a reader that wants columns of one length may refuse", about="a column shorter than _valid_rows, with all rows that are alive",
                    section="store.md 8", checks="store.md 10 (14)", members={"id": values([10, 20])})
    numbers = [("int8", "|i1", "b"), ("int16", "<i2", "h"), ("int32", "<i4", "i"), ("int64", "<i8", "q"), ("uint8", "|u1", "B"),
               ("uint16", "<u2", "H"), ("uint32", "<u4", "I"), ("uint64", "<u8", "Q"), ("float32", "<f4", "f"), ("float64", "<f8", "d"),
               ("bool", "|b1", "?")]
    for kind, dtype, code in numbers:
        rows = [True, False, True] if kind == "bool" else [1, 100, 7] if "int" in kind else [0.5, -1.25, 3.0]
        data = struct.pack(f"<3{code}", *rows)
        content = archive([column("c", kind)], [1, 1, 1], {"_cols/c.b2nd": one(data, dtype, struct.calcsize(code))[0]})
        add(f"kind-{kind}", f"a column of {kind}", content, {"c": values(rows)})
    words = ["one", "", "drei"]
    fixed = b"".join(word.ljust(5, "\0").encode("utf-32-le") for word in words)
    add("kind-string", "a column of fixed text", archive([column("c", "string", max_length=5)], [1, 1, 1], {"_cols/c.b2nd": one(fixed, "<U5", 20)[0]}),
        {"c": values(words)})
    offsets, joined = struct.pack("<4q", 0, 3, 3, 7), one(b"onedrei", "|u1", 1)[0]
    utf8 = {"_cols/c.b2nd": one(offsets, "<i8", 8)[0], "_cols/c.utf8.b2nd": joined}
    add("kind-utf8", "a column of text by offsets", archive([column("c", "utf8")], [1, 1, 1], utf8), {"c": values(words)}, "python-blosc2 4.14.0",
        checks="store.md 10 (15)")
    scalars = {"ctable_varlen_scalar": pack({"version": 1, "py_type": "str", "nullable": True, "batch_rows": 2048})}
    vlstring = column("c", "vlstring", nullable=True, serializer="msgpack", batch_rows=2048)
    add("kind-vlstring", "a column of text in batches, with a null", archive([vlstring], [1, 1, 1], {"_cols/c.b2b": batches([["one", None, "drei"]], 256,
        scalars)}), {"c": values(["one", None, "drei"])}, checks="store.md 10 (18)")
    masked = column("id", "int64", nullable=True, null_storage="mask")
    mask = {"_cols/id.notnull.b2nd": one(bytes([1, 0, 1, 1]), "|b1", 1)[0]}
    add("null-mask", "nulls by a mask", archive([masked], [1, 1, 1, 1], {**id_column, **mask}, schema={"version": 3}), {"id": values([10, None, 30, 40])},
        "python-blosc2 4.14.0", checks="store.md 10 (17)")
    sentinel = column("id", "int64", nullable=True, null_value=20)
    add("null-sentinel", "nulls by a value", archive([sentinel], [1, 1, 1, 1], id_column), {"id": values([10, None, 30, 40])})
    add("n_rows-wrong", "n_rows is a hint", archive(*base, schema={"n_rows": 99}), {"id": id_values}, checks="store.md 10 (13)")
    names = [("plain", "plain"), ("a%b", "a%25b"), ("slash/es", "slash%2Fes"), ("ünï", "ünï")]
    files = {f"_cols/{path}.b2nd": one(ids, "<i8", 8)[0] for _, path in names}
    add("names", "names that are escaped in paths", archive([column(name, "int64") for name, _ in names], [1] * 4, files),
        {name: id_values for name, _ in names})
    two = archive([column("id", "int64"), column("x", "float64")], [1] * 4, {**id_column, "_cols/x.b2nd": one(struct.pack("<4d", 1, 2, 3, 4), "<f8", 8)[0]})
    add("two-columns", "two columns", two, {"id": id_values, "x": values([1.0, 2.0, 3.0, 4.0])})

    def refused(name, content, error, why, entry):
        suite.invalid(f"table/{name}", content, error, why, about=why, section="store.md 10", checks=f"store.md 10 ({entry})")

    refused("schema-version-9", archive(*base, schema={"version": 9}), "unknown", "version 9 of the schema", 13)
    no_json = table(*base)
    no_json["_meta.b2f"] = frame([], 0, 8192, vlmeta={"kind": pack("ctable"), "version": pack(1), "schema": pack("{no json")}, typesize=1)
    refused("schema-no-json", zip_file({"embed.b2e": embed(), **no_json}), "contradiction", "a schema that is no JSON", 13)
    lost = table(*base)
    del lost["_valid_rows.b2nd"]
    refused("no-valid-rows", zip_file({"embed.b2e": embed(), **lost}), "truncated", "no _valid_rows", 13)
    refused("column-twice", archive(base[0] * 2, base[1], id_column), "contradiction", "a column named twice", 13)
    refused("column-missing", archive(base[0], base[1], {}), "truncated", "the file of a column is not there", 14)
    refused("column-short", archive(base[0], [1] * 5, id_column), "contradiction", "a row that is alive, and a column without it", 14)
    refused("column-kind", archive([column("id", "quaternion")], base[1], id_column), "unknown", "an unknown kind of column", 14)
    falling = {**utf8, "_cols/c.b2nd": one(struct.pack("<4q", 0, 5, 3, 7), "<i8", 8)[0]}
    refused("utf8-offsets-fall", archive([column("c", "utf8")], [1] * 3, falling), "contradiction", "offsets of text decrease", 15)
    outside = {**utf8, "_cols/c.b2nd": one(struct.pack("<4q", 0, 3, 3, 99), "<i8", 8)[0]}
    refused("utf8-offset-outside", archive([column("c", "utf8")], [1] * 3, outside), "contradiction", "an offset after the text", 15)
    broken = {**utf8, "_cols/c.utf8.b2nd": one(b"one\xff\xfe\xfd\xfc", "|u1", 1)[0]}
    refused("utf8-no-utf8", archive([column("c", "utf8")], [1] * 3, broken), "contradiction", "bytes that are no UTF-8", 15)
    words = {"_cols/c.b2nd": one(struct.pack("<3i", 0, 7, 1), "<i4", 4)[0], "_cols/c_dict.b2b": batches([["red", "blue"]], 256)}
    codes = column("c", "dictionary", index_type={"kind": "int32"}, ordered=False, nullable=False, null_code=-1,
                   value_type={"kind": "vlstring", "nullable": False, "serializer": "msgpack", "batch_rows": 2048})
    refused("dictionary-code-7", archive([codes], [1] * 3, words), "contradiction", "the code 7 for two words", 16)
    sound = {**words, "_cols/c.b2nd": one(struct.pack("<3i", 1, 0, 1), "<i4", 4)[0]}
    add("kind-dictionary", "a column of codes", archive([codes], [1] * 3, sound), {"c": values(["blue", "red", "blue"])}, "python-blosc2 4.14.0",
        checks="store.md 10 (16)")
    short = {"_cols/id.notnull.b2nd": one(bytes([1, 0]), "|b1", 1)[0]}
    refused("mask-short", archive([masked], [1] * 4, {**id_column, **short}, schema={"version": 3}), "contradiction", "a mask of 2 of 4 rows", 17)
    cells = {"_cols/c.b2b": batches([["one", 2, "drei"]], 256, scalars)}
    refused("number-in-text", archive([vlstring], [1] * 3, cells), "contradiction", "a number in a column of text", 18)
