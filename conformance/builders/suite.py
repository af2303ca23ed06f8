"""A case, and how cases are collected.

A builder module has a function ``cases(suite)`` that calls ``suite.valid``, ``suite.invalid`` or
``suite.undefined`` once for each case. The content of a case is bytes (a file), or a dictionary of
paths and bytes (a directory), or the path of a file below ``samples/`` (written by a program).
"""

import hashlib

# The file name's extension of each format; formats of directories have "/".
FORMATS = {
    "chunk": ".chunk",
    "frame": ".b2frame",
    "sframe": ".b2frame/",
    "b2nd": ".b2nd",
    "store": ".b2z",
    "table": ".b2z",
    "blp": ".blp",
    "bcolz": "/",
}

# Classes of errors, as a reader should tell them apart.
ERRORS = {
    "unknown": "not this format, or a version, codec or filter that the document does not define",
    "truncated": "bytes are missing",
    "contradiction": "the bytes are there and break a rule",
    "checksum": "a digest does not match",
}


def digest(data):
    """The entry of a manifest for decoded bytes."""
    return {"nbytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


class Sample(str):
    """A path below samples/, with forward slashes."""


class Suite:
    def __init__(self):
        self.cases = {}
        self.contents = {}

    def valid(self, name, content, data=None, **fields):
        """A reader must give exactly `data` (bytes, or a digest); `members` where there are several."""
        self._add(name, content, "valid", data, fields)

    def invalid(self, name, content, error, why, **fields):
        """A reader must refuse; `error` is a class of ERRORS, `why` what is wrong."""
        assert error in ERRORS, error
        self._add(name, content, "invalid", None, {"error": {"class": error, "why": why}, **fields})

    def undefined(self, name, content, why, data=None, **fields):
        """A reader may refuse, or give `data`, or anything if there is none; it may not crash."""
        self._add(name, content, "undefined", data, {"why": why, **fields})

    def _add(self, name, content, kind, data, fields):
        format, _, base = name.partition("/")
        assert format in FORMATS and base, name
        assert name not in self.cases, f"{name}: two cases"
        case = {"id": name, "format": format, "kind": kind, "about": fields.pop("about")}
        if isinstance(content, Sample):
            case["file"] = f"samples/{content}"
        else:
            extension = fields.pop("extension", FORMATS[format]).rstrip("/")
            case["file"] = f"cases/{format}/{base}{extension}"
            self.contents[case["file"]] = content
        case["section"] = fields.pop("section")
        checks = fields.pop("checks", [])
        case["checks"] = [checks] if isinstance(checks, str) else list(checks)
        dtype, shape = fields.pop("dtype", None), fields.pop("shape", None)
        if data is not None:
            case["data"] = digest(data) if isinstance(data, bytes) else dict(data)
            if dtype is not None:
                case["data"]["dtype"] = dtype
            if shape is not None:
                case["data"]["shape"] = list(shape)
            if fields.get("c_order"):
                case["data"]["c_order_sha256"] = fields["c_order"]
        fields.pop("c_order", None)
        known = {"members", "metadata", "error", "why", "since", "until", "written_by", "notes"}
        assert set(fields) <= known, set(fields) - known
        case.update({key: value for key, value in fields.items() if value is not None})
        if kind == "valid":
            assert "data" in case or "members" in case, name
            assert "since" in case, name
        self.cases[name] = case


def edit(content, *edits, cut=None, append=b""):
    """The bytes with others written over them: each edit is a position and bytes."""
    content = bytearray(content)
    for at, new in edits:
        assert at + len(new) <= len(content), (at, len(content))
        content[at:at + len(new)] = new
    return bytes(content[:cut]) + append


def i32(value):
    return (value & 0xFFFFFFFF).to_bytes(4, "little")


def i64(value):
    return (value & 0xFFFFFFFFFFFFFFFF).to_bytes(8, "little")


def big(value, nbytes):
    return (value & ((1 << (8 * nbytes)) - 1)).to_bytes(nbytes, "big")


# Data. Every kind is deterministic and the same on every machine.


def ramp(nitems, typesize, step=1):
    """0, step, 2 * step, ... as little-endian integers."""
    top = 1 << (8 * typesize)
    return b"".join((i * step % top).to_bytes(typesize, "little") for i in range(nitems))


def noise(nbytes, seed=1):
    """Bytes that do not compress (xorshift32)."""
    state, out = seed, bytearray()
    for _ in range(nbytes):
        state ^= (state << 13) & 0xFFFFFFFF
        state ^= state >> 17
        state ^= (state << 5) & 0xFFFFFFFF
        out.append(state & 0xFF)
    return bytes(out)


def text(nbytes):
    """Words that repeat at irregular distances."""
    words = [b"chunk ", b"frame ", b"offset ", b"delta ", b"shuffle ", b"codec "]
    picks, out = noise(nbytes, 7), b""
    for pick in picks:
        out += words[pick % len(words)]
        if len(out) >= nbytes:
            break
    return out[:nbytes]
