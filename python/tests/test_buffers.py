"""Chunks in memory."""

from __future__ import annotations

import pickle
import threading

import blosckit as bk
import numpy as np
import pytest

CODECS = ["blosclz", "lz4", "lz4hc", "zlib", "zstd", "snappy"]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("shuffle", ["none", "byte", "bit"])
@pytest.mark.parametrize("format", ["blosc", "blosc2"])
def test_round_trips(codec, shuffle, format):
    for data in [b"", b"x", bytes(range(256)) * 40, np.arange(50_000, dtype="i4")]:
        raw = bytes(memoryview(data).cast("B"))
        if codec == "snappy" and format == "blosc2":
            continue
        chunk = bk.compress(data, codec, 5, shuffle, format=format)
        assert bk.decompress(chunk) == raw
        assert bk.chunk_info(chunk)["format"] == format


def test_dates_have_no_buffer_and_are_compressed():
    days = np.arange("2020-01-01", "2021-01-01", dtype="M8[D]")
    chunk = bk.compress(days)
    assert bk.chunk_info(chunk)["typesize"] == 8
    out = np.empty_like(days)
    assert bk.decompress(chunk, out=out) == days.nbytes
    assert (out == days).all()


def test_parts_and_destinations():
    x = np.arange(10_000, dtype="i8")
    chunk = bk.compress(x, "zstd")
    part = np.frombuffer(bk.decompress(chunk, start=100, nitems=10), "i8")
    assert part.tolist() == list(range(100, 110))
    room = np.zeros(11_000, "i8")
    assert bk.decompress(chunk, out=room) == x.nbytes
    assert (room[:10_000] == x).all() and (room[10_000:] == 0).all()
    with pytest.raises(IndexError):
        bk.decompress(chunk, start=9_999, nitems=2)
    with pytest.raises(IndexError):
        bk.decompress(chunk, start=-1)
    with pytest.raises(bk.ParamError):
        bk.decompress(chunk, out=bytearray(8))
    with pytest.raises(ValueError, match="writable"):
        bk.decompress(chunk, out=bytes(80_000))


def test_a_chunk_is_not_decoded_over_itself():
    data = np.arange(1000).tobytes()
    chunk = bk.compress(data, typesize=8)
    memory = bytearray(len(data) + len(chunk))
    memory[len(data) :] = chunk
    view = memoryview(memory)
    for end in [len(data) + 1, len(memory)]:
        with pytest.raises(ValueError, match="shares memory"):
            bk.decompress(view[len(data) :], out=view[:end])
    assert bk.decompress(view[len(data) :], out=view[: len(data)]) == len(data)
    assert memory[: len(data)] == data and memory[len(data) :] == chunk


@pytest.mark.parametrize("codec", CODECS)
def test_memory_that_is_not_cleared_is_written_as_a_whole(codec):
    rng = np.random.default_rng(0)
    inputs = [rng.integers(0, 9, 30_000), np.zeros(9000, "i4"), np.repeat(7.5, 9000), b"abc" * 99]
    for data in inputs:
        for shuffle in ["none", "byte", "bit", "delta,shuffle"]:
            format = "blosc" if codec == "snappy" else "blosc2"
            if format == "blosc" and "delta" in shuffle:
                continue
            chunk = bytearray(bk.compress(data, codec, 5, shuffle, format=format))
            nbytes = bk.chunk_info(chunk)["nbytes"]
            for at in [None, *rng.integers(16, len(chunk), 20)]:
                if at is not None:
                    chunk[at] ^= 1 << int(rng.integers(0, 8))
                found = []
                for byte in [b"\0", b"\xff"]:
                    memory = bytearray(byte * nbytes)
                    try:
                        bk.decompress(chunk, out=memory)
                    except bk.BloscError:
                        break
                    found.append(memory)
                assert not found or found[0] == found[1] == bk.decompress(chunk)


def test_wrong_arguments():
    with pytest.raises(TypeError):
        bk.compress(3)
    with pytest.raises(TypeError):
        bk.compress(np.array([object()]))
    with pytest.raises(ValueError):
        bk.compress(np.arange(10)[::2])
    for bad in [{"codec": "gzip"}, {"level": 10}, {"level": -1}, {"shuffle": "no"}]:
        with pytest.raises(bk.ParamError):
            bk.compress(b"x", **bad)
    for bad in [{"format": "blosc3"}, {"typesize": 0}, {"threads": 0}]:
        with pytest.raises(ValueError):
            bk.compress(b"x", **bad)


def test_damage_tells_where():
    x = np.arange(100_000, dtype="i8")
    chunk = bytearray(bk.compress(x, "zstd"))
    with pytest.raises(bk.CorruptError):
        bk.decompress(bytes(chunk[:-1]))
    with pytest.raises(bk.CorruptError):
        bk.decompress(b"")
    blocks = []
    for at in range(100, len(chunk) - 100, 500):
        bad = bytearray(chunk)
        bad[at : at + 60] = b"\xff" * 60
        try:
            bk.decompress(bad)
        except bk.CorruptError as error:
            assert isinstance(error, ValueError) and isinstance(error, RuntimeError)
            assert "\n" not in str(error)
            blocks.append(error.block)
    assert any(block is not None for block in blocks)


def test_limits_are_checked_before_memory_is_taken():
    bomb = bytes.fromhex("05010501dfffff7f00f0ff1f20000000" + "00" * 15 + "10")
    with pytest.raises(bk.LimitError):
        bk.decompress(bomb)
    with pytest.raises(bk.LimitError):
        bk.decompress(bk.compress(bytes(1000)), max_nbytes=999)


def test_an_encoder_is_shared_and_pickled():
    encoder = bk.Encoder("zstd", 3, typesize=8)
    again = pickle.loads(pickle.dumps(encoder))
    x = np.arange(100_000, dtype="i8")
    expected = encoder.compress(x)
    assert again.compress(x) == expected
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(encoder.compress(x))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8


def test_other_threads_go_on_meanwhile():
    x = np.random.default_rng(0).integers(0, 50, 2_000_000)
    steps = 0
    work = threading.Thread(target=lambda: bk.compress(x, "zstd", 7))
    work.start()
    while work.is_alive():
        work.join(0.001)
        steps += 1
    assert steps > 5


def test_threads_change_no_byte():
    x = np.random.default_rng(0).integers(0, 100, 4_000_000)
    assert bk.compress(x, threads=4) == bk.compress(x)
    chunk = bk.compress(x)
    assert bk.decompress(chunk, threads=4) == x.tobytes()


@pytest.mark.parametrize("dtype", ["f4", "i8", "u1", "M8[s]", "m8[ns]", "S5", "U3", "c16", "?"])
@pytest.mark.parametrize("shape", [(), (0,), (7,), (3, 4, 5)])
def test_arrays_in_memory(dtype, shape):
    x = np.zeros(shape, dtype)
    if x.size and dtype not in ("S5", "U3", "?"):
        x = np.arange(x.size).reshape(shape).astype(dtype)
    frame = bk.pack_array(x)
    assert isinstance(frame, bytes)
    y = bk.unpack_array(frame)
    assert y.dtype == x.dtype and y.shape == x.shape and (y == x).all()


def test_records_in_memory():
    x = np.array([(1, 2.5, b"ab")], dtype=[("a", "<i4"), ("b", "<f8"), ("c", "S2")])
    y = bk.unpack_array(bk.pack_array(x))
    assert y.dtype == x.dtype and y.tolist() == x.tolist()
    with pytest.raises(TypeError):
        bk.pack_array(np.array([{}], dtype=object))
