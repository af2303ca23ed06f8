"""Cases from the files of samples/, which programs wrote: each has what its writer decodes in a list beside it."""

import json
import re
import struct
from pathlib import Path

from . import blp
from .frame import RELEASE
from .store import values
from .suite import Sample, edit

ROOT = Path(__file__).parent.parent / "samples"


def load(name):
    return json.loads((ROOT / name).read_text())


def cases(suite):
    chunks(suite)
    frames(suite)
    changed_frames(suite)
    legacy(suite)
    stores(suite)
    changed_stores(suite)
    bloscpack(suite)
    bcolz(suite)


def slug(text):
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-")[:48]


def oldest(chunk):
    """The oldest release that reads a chunk of a known program, by its header."""
    if chunk[0] > 2:
        return "C-Blosc2 2.0.0" if chunk[0] < 5 else "C-Blosc2 2.0.3"
    code = 0 if chunk[2] & 2 else chunk[2] >> 5
    return "C-Blosc 1.11" if code == 4 else "C-Blosc 1.7" if chunk[2] & 4 else "C-Blosc 1.3" if code else "C-Blosc 1.0"


def chunks(suite):
    """Chunks and frames of pinned releases."""
    for entry in load("manifest.json")["fixtures"]:
        name = Path(entry["file"]).stem
        data = {"nbytes": entry["nbytes"], "sha256": entry["sha256"]}
        writer = f"{entry['program']} {entry['version']}"
        if "uninit" in name:
            suite.undefined(f"frame/release-{name}", Sample(entry["file"]), "the writer set no data; our reader gives zeros", about=entry["about"],
                            section="cframe.md 6", written_by=writer)
        elif entry["format"] == "cframe" and not name.startswith("array-"):
            variable = (ROOT / entry["file"]).read_bytes()[0x19] & 15 == 3
            suite.valid(f"frame/release-{name}", Sample(entry["file"]), data, about=entry["about"], section="cframe.md", written_by=writer,
                        since="C-Blosc2 3.0" if variable or name.startswith("dict-lz4") else RELEASE)
        elif entry["format"] != "cframe":
            suite.valid(f"chunk/release-{name}", Sample(entry["file"]), data, about=entry["about"], section="chunk.md", written_by=writer,
                        since=oldest((ROOT / entry["file"]).read_bytes()))


    for line in (ROOT / "chunks/odd.txt").read_text().splitlines():
        if not line.startswith("#"):
            name, content, data = line.split(" ")
            content = bytes.fromhex(content)
            if name[:3] == "L12":  # chunk/memcpyed-dict-bit
                continue
            suite.valid(f"chunk/odd-{name}", content, bytes.fromhex(data), about=name[4:].replace("-", " "), section="chunk.md 6", since=oldest(content),
                        written_by=" ".join(name[4:].split("-")[:3]), until="no C-Blosc" if name[:3] == "L03" else None)


def frames(suite):
    for path in sorted((ROOT / "frames").glob("*.json")):
        entry = json.loads(path.read_text())
        if "file" not in entry:
            continue
        nd, name = entry.get("b2nd") or ("c_order_sha256" in entry and entry), path.stem
        fields = dict(about=entry.get("note") or name, written_by=entry["written_by"])
        sparse = (ROOT / "frames" / entry["file"]).is_dir()
        flags = int(entry["header"]["general_flags"], 16) if "header" in entry else 0x12
        fields["since"] = "no C-Blosc2" if entry.get("expect") == "recoverable" else "C-Blosc2 3.0" if flags & 15 == 3 else "C-Blosc2 2.7.0" if nd else RELEASE
        fields["until"] = "no C-Blosc2" if entry.get("expect") == "recoverable" else None
        sample = Sample(f"frames/{entry['file']}")
        if "uninit" in name:
            suite.undefined(f"frame/written-{name}", sample, "the writer set no data; our reader gives zeros", about=fields["about"],
                            section="cframe.md 6", written_by=entry["written_by"])
        elif nd:
            data = {"nbytes": nd["c_order_nbytes"], "sha256": nd["c_order_sha256"]}
            suite.valid(f"b2nd/written-{name}", sample, data, section="b2nd.md", shape=nd["shape"], dtype=nd.get("dtype"), **fields)
        elif "raw_sha256" not in entry:
            del fields["since"], fields["written_by"], fields["until"]
            suite.invalid(f"frame/written-{name}", sample, "contradiction", "the sizes of two runs are lost", section="cframe.md 11",
                          checks="cframe.md 9.1 (26)", written_by=entry["written_by"], **fields)
        else:
            data = {"nbytes": entry["raw_nbytes"], "sha256": entry["raw_sha256"]}
            suite.valid(f"{'sframe' if sparse else 'frame'}/written-{name}", sample, data, section="cframe.md", **fields)


# Entry of the document's list for each case of frames/malformed.json.
ENTRIES = {
    "H01 H02 H33": "cframe.md 9.1 (1)", "H03 H04 H37": "cframe.md 9.1 (2)", "H36 H38": "cframe.md 9.1 (3)",
    "H05 H06 H07 H08": "cframe.md 9.1 (4)", "H09 H10 H11 H34 H35": "cframe.md 9.1 (5)", "H12 H13": "cframe.md 9.1 (6)",
    "H14 H17": "cframe.md 9.1 (7)", "H15 H16 H26 H27 I11": "cframe.md 9.1 (21)", "H18 H19 H20": "cframe.md 9.1 (9)",
    "H21 H22 H23 H24": "cframe.md 9.1 (8)", "H25": "cframe.md 9.1 (26)", "H28": "cframe.md 9.1 (10)", "H29": "cframe.md 9.1 (11)",
    "H30 H31 H32 M15 M16 T16 T17": "cframe.md 9.1 (16)", "M01 M02 M03 M04 M05 M06": "cframe.md 9.1 (14)",
    "M07 M08 M09 M10 M11 M12 M13 M14": "cframe.md 9.1 (15)", "I01 I02 I03": "cframe.md 9.1 (22)", "I04 C02 C03 C05": "cframe.md 9.1 (24)",
    "I05 I06 I07 I08 I09 I10": "cframe.md 9.1 (25)", "I12 I13 I14": "cframe.md 9.1 (20)", "C01": "cframe.md 9.1 (23)",
    "C04 C06": "cframe.md 9.1 (27)", "C07": "cframe.md 9.1 (28)", "T01 T02 T03 T04 T05 T06 T15": "cframe.md 9.1 (12)",
    "T14 T18": "cframe.md 9.1 (13)", "T07 T08 T09 T10 T11 T19": "cframe.md 9.1 (17)", "T12 T13": "cframe.md 9.1 (18)",
    "S01": "sframe.md checks (4)", "S02": "sframe.md checks (2)", "S03": "sframe.md checks (1)", "S04 S05": "sframe.md checks (3)",
    "B01 B02 B03 B05 B06 B07 B08 B24 B25 B26 B27 B04": "b2nd.md 10 (1)", "B09 B12 B13 B14 B15 B19 B22": "b2nd.md 10 (2)",
    "B10 B16 B20": "b2nd.md 10 (3)", "B11 B17 B18 B21": "b2nd.md 10 (4)", "B23 B28 B29 B30": "b2nd.md 10 (5)",
}
ENTRY = {id: entry for ids, entry in ENTRIES.items() for id in ids.split()}
UNKNOWN = {"H01", "H02", "H03", "H04", "H29", "H37", "B02", "T14", "I05", "I06", "I07", "I10", "I13"}
TRUNCATED = {"H33", "H34", "S02", "S04", "S05"}
NAN_BETWEEN = bytes.fromhex("0000c07f") * 16


def changed_frames(suite):
    """frames/malformed.json: named edits of three samples."""
    raw = {name: load(f"frames/{name}.json") for name in ("tiny", "tiny-sparse", "tiny-nd")}
    for case in load("frames/malformed.json")["cases"]:
        base, _, part = case["base"].partition("/")
        name = base.split(".")[0]
        folder = ROOT / "frames" / base
        before = (folder / part if part else folder).read_bytes()
        more = case.get("append_bytes")
        content = edit(before, *((e["at"], bytes.fromhex(e["hex"])) for e in case["edits"]), cut=case.get("truncate_to"),
                       append=bytes.fromhex(more["value"]) * more["count"] if more else b"")
        if part:
            content = {**{file.name: file.read_bytes() for file in sorted(folder.iterdir())}, part: content}
        format = {"tiny": "frame", "tiny-sparse": "sframe", "tiny-nd": "b2nd"}[name]
        id, entry = f"{format}/{case['id'].lower()}-{slug(case['what'])}", ENTRY[case["id"]]
        entry_of = raw[name].get("b2nd")
        data = {"nbytes": entry_of["c_order_nbytes"], "sha256": entry_of["c_order_sha256"]} if entry_of else {
            "nbytes": raw[name]["raw_nbytes"], "sha256": raw[name]["raw_sha256"]}
        fields = dict(about=case["what"], section=entry.split(" (")[0], checks=entry)
        required = case["required"]
        if required.startswith("reject"):
            error = "unknown" if case["id"] in UNKNOWN else "truncated" if case["id"] in TRUNCATED else "contradiction"
            suite.invalid(id, content, error, case["why"], **fields)
        elif case["id"] in ("H25", "I09", "B17", "B12", "H17"):
            # The edit changes what is read.
            suite.undefined(id, content, case["why"], **fields)
        elif required == "accept" and case["id"] not in ("B23", "B28", "B29", "B30"):
            suite.valid(id, content, data, since=RELEASE, **fields)
        else:
            suite.undefined(id, content, case["why"], data, **fields)


def legacy(suite):
    document = "legacy-frame.md"
    for path in sorted((ROOT / "frames/legacy").glob("*.json")):
        entry = json.loads(path.read_text())
        if not (ROOT / "frames/legacy" / entry["file"]).is_file():
            continue
        old = entry.get("first_byte") != "0x9e"
        sample, data = Sample(f"frames/legacy/{entry['file']}"), {"nbytes": entry["raw_nbytes"], "sha256": entry["raw_sha256"]}
        about = entry.get("note") or f"a frame of {entry['written_by']}"
        if "lizard" in path.stem:
            suite.undefined(f"frame/legacy-{path.stem}", sample, "no library in use has the codec Lizard", data, about=about, section="codecs.md 11",
                            written_by=entry["written_by"])
            continue
        suite.valid(f"frame/legacy-{path.stem}", sample, data, about=about, section=document, written_by=entry["written_by"],
                    since="C-Blosc2 2.0.0-beta.1" if old else RELEASE, until="C-Blosc2 2.23" if old else None)
    full = (ROOT / "frames/legacy/beta2-lz4-shuffle-i8-meta-usermeta.b2frame").read_bytes()
    beta1 = (ROOT / "frames/legacy/beta1-zstd-bitshuffle-i4.b2frame").read_bytes()
    end = len(full)
    for name, content, error, why, number in (
        ("pair-9d-24", edit(full, (0x19, b"\x24")), "unknown", "byte 0 and flags are of two layouts", 1),
        ("pair-9b-12", edit(beta1, (0x19, b"\x12")), "unknown", "byte 0 and flags are of two layouts", 1),
        ("header_len-91", edit(full, (0x0B, struct.pack(">i", 91))), "contradiction", "header_len is less than the fixed part", 2),
        ("frame_len-over", edit(full, (0x10, struct.pack(">Q", 10**6))), "truncated", "frame_len is beyond the file", 2),
        ("cut", full[:end // 2], "truncated", "half of the frame", 2),
        ("filters-7", edit(full, (0x41, b"\7")), "contradiction", "7 filters", 3),
        ("trailer_len-29", edit(full, (end - 22, struct.pack(">I", 29))), "contradiction", "trailer_len is less than a trailer", 4),
        ("trailer-marker", edit(full, (end - 23, b"\xcd")), "contradiction", "another marker before trailer_len", 4),
        ("nbytes-more", edit(full, (0x1E, struct.pack(">q", 10**9))), "contradiction", "more chunks than the index has", 6),
    ):
        suite.invalid(f"frame/legacy-{name}", content, error, why, about=f"2.0.0 beta: {why}", section=document, checks=f"{document} 7 ({number})")
    length = struct.unpack(">I", full[end - 22:end - 18])[0]
    at = end - length + 3
    usermeta = struct.unpack(">I", full[at:at + 4])[0]
    suite.invalid("frame/legacy-usermeta-length", edit(full, (at, struct.pack(">I", usermeta + 1))), "contradiction", "the length of the usermeta is not that of the trailer",
                  about="2.0.0 beta: the length of the usermeta", section=document, checks=f"{document} 7 (5)")


SIMPLE = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "bool", "string", "utf8", "vlstring", "dictionary", "list"}


def plain(value):
    """Whether JSON alone holds the value."""
    if isinstance(value, dict):
        return not any(key.startswith("$") for key in value) and all(map(plain, value.values()))
    return all(map(plain, value)) if isinstance(value, list) else True


def member(value):
    """The entry of the manifest for a value of a sidecar, or None if it has no form of bytes or plain JSON."""
    kind = value["kind"]
    if kind == "array":
        return {"nbytes": value["c_order_nbytes"], "sha256": value["c_order_sha256"], "dtype": value["dtype"], "shape": value["shape"]}
    if kind == "frame":
        return {"nbytes": value["nbytes"], "sha256": value["sha256"]}
    rows = sum(value["batches"], []) if kind == "batches" and "batches" in value else value.get("values")
    return values(rows) if kind in ("batches", "lists", "objects") and rows is not None and plain(rows) else None


def columns(table):
    found = {}
    for name, column in table["columns"].items():
        nulls = column.get("is_null") or [False] * len(column.get("values", []))
        rows = [None if null else value for value, null in zip(column.get("values", []), nulls)]
        # Truth values with a sentinel are stored as numbers, and programs differ in what they give.
        is_mixed = column.get("kind") == "bool" and any(nulls)
        if column.get("kind") in SIMPLE and "values" in column and plain(rows) and not is_mixed:
            found[name] = values(rows)
    return found


def stores(suite):
    for path in sorted((ROOT / "stores").glob("*.json")):
        entry = json.loads(path.read_text())
        if "file" not in entry or path.stem == "lazy":
            continue
        sample, name = Sample(f"stores/{entry['file']}"), path.name[:-5].replace(".b2z", "").replace(".b2d", "-directory")
        fields = dict(about=entry.get("note") or name, written_by=entry["written_by"], since=entry["written_by"])
        if "table" in entry:
            suite.valid(f"table/written-{name}", sample, section="store.md 8", members=columns(entry["table"]), **fields)
        elif "keys" in entry or "groups" in entry:
            members = {key: member(value) for key, value in (entry.get("keys") or {}).items() if value["kind"] not in ("table", "lazy")}
            members = {key: value for key, value in members.items() if value}
            suite.valid(f"store/written-{name}", sample, section="store.md", members=members, **fields)
        elif member(entry["value"]):
            suite.valid(f"store/written-{name}", sample, section="store.md 7", members={"": member(entry["value"])}, **fields)


# Entries of store.md 10 for the cases of stores/malformed.json.
STORE_ENTRIES = {
    1: "Z10 Z15", 2: "Z11", 3: "Z13", 4: "Z14 Z18", 5: "Z04 Z05 Z06 Z07 Z08 Z22", 6: "Z01 Z03 Z19 Z23 Z24 Z25", 7: "Z16 E08", 8: "Z02 Z09 Z20",
    9: "E01 E02 E03 E04 E05 E06 E07 E10 E12 E13", 10: "Z26", 11: "B04 B05 B06", 12: "B01 B02 B03", 13: "T00 T01 T03 T11 T14 T15 T17 T18",
    14: "T02 T04 T12 T13", 15: "T05 T06 T07", 16: "T08", 17: "T09 T10", 18: "T16", 19: "B07 E09 T19", 20: "E11 Z12 Z17 Z21",
}


def changed_stores(suite):
    """stores/malformed.json: samples with one fault each."""
    entry_of = {id: number for number, ids in STORE_ENTRIES.items() for id in ids.split()}
    for case in load("stores/malformed.json")["cases"]:
        format = "table" if case["id"][0] == "T" else "store"
        id, number = f"{format}/{case['id'].lower()}-{slug(case['what'])}", entry_of[case["id"]]
        fields = dict(about=case["what"], section="store.md 10", checks=f"store.md 10 ({number})", written_by="python-blosc2 4.14.1, edited")
        sample = Sample(f"stores/{case['file']}")
        if case["required"].startswith("reject"):
            suite.invalid(id, sample, "contradiction", case["why"] or case["what"], **fields)
        else:
            suite.undefined(id, sample, case["why"] or "nothing is demanded but that the rest can be read", **fields)


def bloscpack(suite):
    for entry in load("bloscpack/expected.json"):
        if "raw" not in entry:
            continue
        version = entry["format_version"]
        nd = entry.get("ndarray")
        suite.valid(f"blp/written-{slug(entry['file'][:-4])}", Sample(f"bloscpack/{entry['file']}"), entry["raw"], about=entry.get("note") or entry["file"],
                    section="bloscpack.md", written_by=entry["writer"], since=blp.RELEASES[version], until=blp.UNTIL.get(version), dtype=nd and str(nd["descr"]), shape=nd and nd["shape"],
                    c_order=nd["c_order_sha256"] if nd and nd["order"] == "F" else None, metadata={"json": entry["metadata"]} if "metadata" in entry else None)


def bcolz(suite):
    for entry in load("bcolz/expected.json"):
        sample, name = Sample(f"bcolz/{entry['name']}"), slug(entry["name"])
        release = "bcolz 0.7.2" if entry["writer"].startswith("bcolz 0") else "bcolz 1.1.0"
        fields = dict(about=entry.get("note") or entry["name"], written_by=entry["writer"], since=release,
                      until="bcolz 1.2.1" if "snappy" in name else None)
        if entry["name"] in ("synth_ca_no_attrs", "synth_ca_attrs_zero_bytes"):
            suite.undefined(f"bcolz/written-{name}", sample, "bcolz refuses; the data are sound", entry["raw"], about=fields["about"], section="bcolz.md 7",
                            written_by=entry["writer"])
        elif "raw" in entry:
            suite.valid(f"bcolz/written-{name}", sample, entry["raw"], section="bcolz.md", dtype=entry["dtype"], shape=entry["shape"], **fields)
        elif entry["kind"] == "ctable" and len(set(entry["column_lengths"])) <= 1:
            members = {column: {**value["raw"], "dtype": value["dtype"], "shape": value["shape"]} for column, value in entry["columns"].items() if "raw" in value}
            suite.valid(f"bcolz/written-{name}", sample, section="bcolz.md 8", members=members, **fields)
