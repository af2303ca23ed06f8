"""Every index means what NumPy means by it."""

from __future__ import annotations

import os

import blosckit as bk
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

EXAMPLES = int(os.environ.get("BLOSCKIT_EXAMPLES", "150"))


def opened(x, chunks=None, blocks=None):
    return bk.open(bk.pack_array(x, chunks=chunks, blocks=blocks))


def same(found, expected):
    assert type(found) is type(expected), (type(found), type(expected))
    assert np.shape(found) == np.shape(expected)
    assert found.dtype == expected.dtype
    assert np.array_equal(found, expected)


def check(x, array, key):
    try:
        expected = x[key]
    except IndexError:
        with pytest.raises(IndexError):
            array[key]
        return
    same(array[key], expected)


@st.composite
def arrays(draw, min_dims=0):
    shape = draw(hnp.array_shapes(min_dims=max(min_dims, 1), max_dims=4, min_side=1, max_side=9))
    chunks = tuple(draw(st.integers(1, n)) for n in shape)
    blocks = tuple(draw(st.integers(1, n)) for n in chunks)
    dtype = draw(st.sampled_from(["i4", "f8", "u1", "M8[D]"]))
    x = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    return x, opened(x, chunks, blocks)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data())
def test_basic(data):
    x, array = data.draw(arrays())
    key = data.draw(hnp.basic_indices(x.shape, allow_newaxis=True, allow_ellipsis=True))
    check(x, array, key)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data())
def test_lists(data):
    x, array = data.draw(arrays())
    key = data.draw(hnp.integer_array_indices(x.shape))
    check(x, array, key)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data())
def test_lists_mixed_with_slices(data):
    x, array = data.draw(arrays())
    length = data.draw(st.integers(0, 4))
    key = []
    for n in x.shape:
        kind = data.draw(st.sampled_from(["int", "slice", "list", "mask", "none"]))
        if kind == "int":
            key.append(data.draw(st.integers(-n - 1, n)))
        elif kind == "slice":
            key.append(data.draw(st.slices(n)))
        elif kind == "none":
            key.extend([None, slice(None)])
        elif kind == "list":
            numbers = st.lists(st.integers(-n, n - 1), min_size=length, max_size=length)
            key.append(data.draw(numbers))
        else:
            key.append(data.draw(hnp.arrays(bool, n)))
    check(x, array, tuple(key))


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data())
def test_masks(data):
    x, array = data.draw(arrays())
    axes = data.draw(st.integers(1, x.ndim))
    mask = data.draw(hnp.arrays(bool, x.shape[:axes]))
    check(x, array, mask)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data())
def test_orthogonal(data):
    x, array = data.draw(arrays())
    key, lists = [], []
    for n in x.shape:
        kind = data.draw(st.sampled_from(["slice", "list", "mask"]))
        if kind == "slice":
            item = data.draw(st.slices(n))
            lists.append(np.arange(n)[item])
        elif kind == "list":
            item = data.draw(st.lists(st.integers(-n, n - 1), max_size=5))
            lists.append(np.array(item, dtype=int))
        else:
            item = data.draw(hnp.arrays(bool, n))
            lists.append(item.nonzero()[0])
        key.append(item)
    same(array.oindex[tuple(key)], x[np.ix_(*lists)])


def test_wrong_indexes_raise_what_numpy_raises():
    x = np.arange(12).reshape(3, 4)
    array = opened(x)
    wrong = [3, -4, (0, 4), (0, 0, 0), (..., ...), [3], [[-4]], 1.5, "1", (slice(None), "a")]
    wrong += [np.ones(4, bool), np.ones((3, 3), bool), ([0, 1], [0, 1, 2]), [0.5], {}]
    for key in wrong:
        with pytest.raises(IndexError):
            x[key]
        with pytest.raises(IndexError):
            array[key]
    for key in [True, False, (True, 0), (np.bool_(True), slice(None))]:
        same(array[key], x[key])
    with pytest.raises(ValueError):
        array[::0]


def test_scalars_and_empty_arrays():
    for x in [np.array(5), np.zeros((0, 3)), np.zeros((3, 0, 2))]:
        array = opened(x)
        for key in [..., (), (None, ...), slice(None), (slice(None), slice(0, 0))]:
            check(x, array, key)


def test_large_gaps_are_read_by_positions():
    x = np.arange(100_000).reshape(1000, 100)
    array = opened(x, (10, 100), (5, 50))
    for key in [[0, 999], ([5, 990], slice(3, 5)), (slice(0, 2), [0, 99, 0])]:
        same(array[key], x[key])


def test_fields():
    dtype = [("day", "<i4"), ("price", "<f8"), ("name", "S3")]
    x = np.array([(n, n / 2, b"abc"[: n % 4]) for n in range(100)], dtype=dtype)
    array = opened(x)
    same(array["price"][10:20], x["price"][10:20])
    same(array["price"][[3, 1]], x["price"][[3, 1]])
    assert array["price"][7] == 3.5 and array["price"].dtype == np.float64
    assert (array[["day", "name"]][:5] == x[["day", "name"]][:5]).all()
    assert array[3]["day"] == 3
    with pytest.raises(ValueError):
        array["none"]
    with pytest.raises(IndexError):
        array["price"]["price"]


def test_read_into_memory_with_threads():
    x = np.random.default_rng(0).normal(size=(500, 400))
    array = opened(x, (100, 400))
    out = np.empty((100, 400))
    assert array.read(np.s_[100:200], out=out, threads=2) is out
    assert (out == x[100:200]).all()
    for bad in [np.empty((99, 400)), np.empty((100, 400), "f4"), np.empty((100, 800))[:, ::2]]:
        with pytest.raises(ValueError):
            array.read(np.s_[100:200], out=bad)
    with pytest.raises(ValueError):
        array.read(threads=0)


def test_whole_arrays():
    x = np.arange(60).reshape(3, 4, 5)
    array = opened(x, (2, 3, 4))
    assert (np.asarray(array) == x).all()
    assert np.asarray(array, dtype="f4").dtype == np.float32
    with pytest.raises(ValueError):
        np.asarray(array, copy=False)
    assert [a.tolist() for a in array] == x.tolist()
    copy = np.zeros_like(x)
    for key, block in array.iter_chunks():
        copy[key] = block
    assert (copy == x).all()
    assert len(array) == 3 and array.size == 60 and array.ndim == 3
    assert (np.from_dlpack(array[...]) == x).all()


def test_fields_that_are_arrays_or_records():
    inner = np.dtype([("x", "i2"), ("y", "f4", (2,))])
    kind = np.dtype([("a", "i4"), ("b", "f8", (2, 3)), ("n", inner)])
    data = np.frombuffer(np.random.default_rng(0).bytes(20 * kind.itemsize), kind).reshape(4, 5)
    array = bk.open(bk.pack_array(data))
    views = [
        (array["b"], data["b"]),
        (array["n"]["x"], data["n"]["x"]),
        (array["n"]["y"], data["n"]["y"]),
        (array[["a", "n"]]["n"], data[["a", "n"]]["n"]),
    ]
    keys = [
        ...,
        -1,
        (2, 3),
        np.s_[1:, ::-1],
        np.s_[..., 0],
        ([0, 3], [1, 2]),
        np.s_[:, [4, 0]],
        None,
        data["a"] > 0,
    ]
    for view, expected in views:
        assert (view.shape, view.dtype) == (expected.shape, expected.dtype)
        for key in keys:
            found = view[key]
            assert np.shape(found) == expected[key].shape, key
            assert np.asarray(found).tobytes() == expected[key].tobytes(), key
        assert np.asarray(view).tobytes() == expected.tobytes()
    assert array["b"][1, 2, 0, -1] == data["b"][1, 2, 0, -1]
    lists = np.ix_([3, 0], [1], [1, 0], [2])
    found = array["b"].oindex[[3, 0], [1], [1, 0], [2]]
    assert found.tobytes() == data["b"][lists].tobytes()
    with pytest.raises(IndexError):
        array["b"][1, 2, 2]
