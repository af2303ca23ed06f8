"""All fixtures by their digest; every malformed sample raises a `BloscError`."""

from __future__ import annotations

import hashlib
import json
import time

import blosckit as bk
import blosckit.bloscpack as bloscpack
import numpy as np
import pytest
from conftest import TESTDATA

MANIFEST = json.loads((TESTDATA / "manifest.json").read_text())


def _items(opened):
    """The content as it is stored: of an array with the padding of its chunks."""
    if isinstance(opened, bk.Frame):
        return opened.read()
    return b"".join(bk.decompress(opened.chunk(n)) for n in range(opened.nchunks))


@pytest.mark.parametrize("entry", MANIFEST["fixtures"], ids=lambda entry: entry["file"])
def test_fixtures(entry):
    with bk.open(TESTDATA / entry["file"]) as opened:
        content = _items(opened)
        _read_all(opened)
    assert len(content) == entry["nbytes"]
    assert hashlib.sha256(content).hexdigest() == entry["sha256"]


def _read_all(opened, depth=0):
    assert depth < 8
    if isinstance(opened, bk.Group):
        for item in opened.values():
            _read_all(item, depth + 1)
    elif isinstance(opened, bk.Table):
        for name in opened.columns:
            opened[name][:1000]
    elif isinstance(opened, bk.Objects):
        opened[:1000]
    elif isinstance(opened, bk.Recipe):
        opened.description
    elif isinstance(opened, bk.Frame):
        opened.read()
    elif isinstance(opened, bk.Array):
        np.asarray(opened[...])
    opened.attrs
    opened.info()
    repr(opened)


def _inputs(folder, is_malformed):
    """The files and folders of a folder of samples, without their descriptions."""
    root = TESTDATA / folder / ("malformed" if is_malformed else "")
    named = {".md", ".json", ".txt"}
    found = sorted(path for path in root.iterdir() if path.suffix not in named)
    return [path for path in found if path.name != "malformed"]


FOLDERS = ("bcolz", "bloscpack", "stores")
#: A file whose writer died, and a folder of files that are no data.
UNREADABLE = {"synth_v3_aborted.blp", "lazy"}
SOUND = [
    path
    for name in FOLDERS
    for path in _inputs(name, False)
    # Scripts that make samples lie beside them.
    if path.name not in UNREADABLE and path.suffix != ".py"
]
MALFORMED = [path for name in FOLDERS for path in _inputs(name, True)]


@pytest.mark.parametrize("path", SOUND, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_sound_samples_are_read(path):
    with bk.open(path) as opened:
        _read_all(opened)


@pytest.mark.parametrize("path", MALFORMED, ids=lambda path: f"{path.parts[-3]}/{path.name}")
def test_malformed_samples_raise_blosc_errors(path):
    begin = time.monotonic()
    try:
        with bk.open(path, max_memory=64 << 20, max_chunk=64 << 20) as opened:
            _read_all(opened)
        # Verifying also sees bytes that reading does not touch.
        bk.verify(path, max_memory=64 << 20).raise_for_damage()
    except bk.BloscError as error:
        assert str(error) and "\n" not in str(error)
    assert time.monotonic() - begin < 60


def _arrays(folder):
    text = (TESTDATA / folder / "expected.json").read_text()
    return [entry for entry in json.loads(text) if "sha256" in entry.get("raw", entry)]


@pytest.mark.parametrize("entry", _arrays("bloscpack"), ids=lambda entry: entry["file"])
def test_bloscpack_digests(entry):
    path = TESTDATA / "bloscpack" / entry["file"]
    if not path.exists():
        pytest.skip("is not kept")
    data, _ = bloscpack.unpack_bytes_from_file(path)
    assert len(data) == entry["raw"]["nbytes"]
    assert hashlib.sha256(data).hexdigest() == entry["raw"]["sha256"]


@pytest.mark.parametrize("entry", _arrays("bcolz"), ids=lambda entry: entry["name"])
def test_bcolz_digests(entry):
    with bk.open(TESTDATA / "bcolz" / entry["name"]) as opened:
        if not isinstance(opened, bk.Array):
            pytest.skip("no array of plain items")
        data = np.ascontiguousarray(opened[...]).tobytes()
    assert hashlib.sha256(data).hexdigest() == entry["raw"]["sha256"]


STORES = json.loads((TESTDATA / "stores" / "malformed.json").read_text())["cases"]


@pytest.mark.parametrize("case", STORES, ids=lambda case: case["id"])
def test_malformed_stores_are_refused_or_read_as_they_must(case):
    path = TESTDATA / "stores" / case["file"]
    if not path.exists():
        pytest.skip("is not kept")
    if case["required"] == "reject":
        with pytest.raises(bk.BloscError):
            bk.open(path)
    elif case["required"] == "reject-on-read":
        with pytest.raises(bk.BloscError):
            _read_all(bk.open(path))
    elif case["required"] == "accept":
        opened = bk.open(path)
        if isinstance(opened, bk.Group):
            for key in opened:
                try:
                    opened[key]
                except bk.UnsupportedError as error:
                    assert "not resolved" in str(error)


def test_cut_files_raise_blosc_errors(tmp_path):
    x = np.arange(1000)
    contents = [bk.pack_array(x), bk.compress(x)]
    bk.save(tmp_path / "x.blp", x)
    contents.append((tmp_path / "x.blp").read_bytes())
    for content in contents:
        for length in range(0, len(content), max(len(content) // 60, 1)):
            try:
                _read_all(bk.open(content[:length]))
            except bk.BloscError:
                pass


def test_what_claims_too_much_is_a_limit(tmp_path):
    path = tmp_path / "huge.b2nd"
    with bk.create(path, (1 << 50,), "u1", chunks=(1 << 30,)):
        pass
    array = bk.open(path)
    assert array[12345] == 0
    with pytest.raises(bk.LimitError):
        array[...]


def test_flipped_bits_raise_blosc_errors():
    rng = np.random.default_rng(0)
    for content in [bk.pack_array(np.arange(1000)), bk.compress(np.arange(1000))]:
        for _ in range(300):
            bad = bytearray(content)
            bad[int(rng.integers(len(bad)))] ^= 1 << int(rng.integers(8))
            try:
                _read_all(bk.open(bad, max_memory=64 << 20, max_chunk=64 << 20))
            except bk.BloscError:
                pass
