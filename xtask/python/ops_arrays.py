"""Requests of `oracle.py` to python-blosc2 and NumPy about n-dimensional arrays.

Items are compared as raw bytes: NumPy need not keep what lies between the fields of a structured item.
"""

import ast
import contextlib
import math
import os
import tempfile

import blosc2
import numpy as np

OPS = {}


def op(function):
    OPS[function.__name__] = function
    return function


def dtype_of(text):
    return np.dtype(ast.literal_eval(text) if text[0] in "[{(" else text)


def raw_array(shape, itemsize, data):
    """Items as bytes of no meaning, which can be changed."""
    array = np.empty(shape, dtype=f"V{itemsize}")
    if array.size:
        array.reshape(-1).view("u1")[:] = np.frombuffer(data, dtype="u1")
    return array


def picks(selection):
    return tuple(pick if isinstance(pick, int) else slice(*pick) for pick in selection)


def cparams(r):
    return dict(
        codec=blosc2.Codec(r["codec"]), clevel=r["clevel"], filters=[0, 0, 0, 0, 0, r["filter"]], nthreads=1
    )


def bytes_of(array):
    return np.ascontiguousarray(array).tobytes()


def facts_of(array):
    return dict(
        shape=list(array.shape),
        chunks=list(array.chunks),
        blocks=list(array.blocks),
        itemsize=array.dtype.itemsize,
        dtype=str(array.dtype) if array.dtype.fields else array.dtype.str,
    )


@op
def array_create(r, data):
    """An array of python-blosc2, in a file or in memory, and what NumPy says of parts of it."""
    dtype = dtype_of(r["dtype"])
    shape = tuple(r["shape"])
    model = raw_array(shape, dtype.itemsize, data)
    kwargs = dict(chunks=r["chunks"], blocks=r["blocks"], cparams=cparams(r), dparams=dict(nthreads=1))
    if r["path"]:
        kwargs |= dict(urlpath=r["path"], mode="w", contiguous=r["contiguous"])
    match r["fill"]:
        case "zeros":
            array = blosc2.zeros(shape, dtype=dtype, **kwargs)
            model = raw_array(shape, dtype.itemsize, b"\0" * len(data))
        case "full" if math.prod(shape) and dtype.kind in "iufc":
            value = np.frombuffer(data[: dtype.itemsize], dtype=dtype)[0]
            array = blosc2.full(shape, value, dtype=dtype, **kwargs)
            model = raw_array(shape, dtype.itemsize, data[: dtype.itemsize] * math.prod(shape))
        case _:
            items = np.empty(shape, dtype=dtype)
            if items.size:
                items = np.frombuffer(data, dtype=dtype).reshape(shape)
            array = blosc2.asarray(items, **kwargs)
    frame = b"" if r["path"] else array.to_cframe()
    parts = [bytes_of(model[picks(selection)]) for selection in r["slices"]]
    parts.append(bytes_of(model[np.ix_(*r["oindex"])]) if shape else bytes_of(model))
    parts.append(bytes_of(model.reshape(-1)[np.array(r["items"], dtype="i8")]))
    return facts_of(array), frame, bytes_of(model), *parts


@contextlib.contextmanager
def opened(frame, through):
    if through == "memory":
        yield blosc2.ndarray_from_cframe(frame, copy=True)
        return
    with tempfile.TemporaryDirectory(prefix="b2-interop-") as folder:
        path = os.path.join(folder, "case.b2nd")
        with open(path, "wb") as file:
            file.write(frame)
        yield blosc2.open(path, mode="r", dparams=dict(nthreads=2))


@op
def array_read(r, frame):
    """All that python-blosc2 reads of an array."""
    with opened(frame, r["through"]) as array:
        parts = [bytes_of(array[picks(selection)]) for selection in r["slices"]]
        return facts_of(array), bytes_of(array[...]), *parts


@op
def array_view(r):
    array = blosc2.open(r["path"], mode="r", dparams=dict(nthreads=1))
    return facts_of(array), bytes_of(array[...])


@op
def array_change(r, data):
    """A change by python-blosc2."""
    array = blosc2.open(r["path"], mode="a", dparams=dict(nthreads=1))
    match r["change"]:
        case "resize":
            array.resize(r["shape"])
        case "write":
            key = picks(r["slices"][0])
            shape = np.empty(array.shape, dtype="V1")[key].shape
            array[key] = np.frombuffer(data, dtype=array.dtype).reshape(shape)
        case "append":
            shape, more = list(array.shape), list(array.shape)
            shape[r["axis"]] += r["len"]
            more[r["axis"]] = r["len"]
            array.resize(shape)
            key = tuple(slice(r["at"] if n == r["axis"] else 0, None) for n in range(len(shape)))
            array[key] = np.frombuffer(data, dtype=array.dtype).reshape(more)
    return ({},)


@op
def array_model(r, data, items):
    """The same change, and others, of an array of NumPy."""
    model = raw_array(tuple(r["from"]), r["itemsize"], data)
    match r["change"]:
        case "resize":
            low = tuple(slice(0, min(old, new)) for old, new in zip(model.shape, r["shape"]))
            grown = raw_array(tuple(r["shape"]), r["itemsize"], b"\0" * math.prod(r["shape"]) * r["itemsize"])
            grown[low] = model[low]
            model = grown
        case "write":
            key = picks(r["slices"][0])
            model[key] = raw_array(model[key].shape, r["itemsize"], items)
        case "oindex":
            key = np.ix_(*r["oindex"])
            model[key] = raw_array(model[key].shape, r["itemsize"], items)
        case "append" | "insert":
            shape = list(model.shape)
            shape[r["axis"]] = r["len"]
            more = raw_array(tuple(shape), r["itemsize"], items)
            before, after = np.split(model, [r["at"]], axis=r["axis"])
            model = np.concatenate([before, more, after], axis=r["axis"])
        case "delete":
            model = np.delete(model, slice(r["at"], r["at"] + r["len"]), axis=r["axis"])
    return dict(shape=list(model.shape)), bytes_of(model)


SHOWN = ["f8", ">f8", "f4", "f2", "i4", "i8", "u1", "?", "c16", "c8", "M8[D]", "M8[s]", "m8[s]", "U3", "S3", "struct"]


def shown_items(g, kind, n):
    """Items whose texts differ in length, sign and notation."""
    floats = (g.random(n) * 10.0 ** g.integers(-3, 5)).round(g.choice([0, 1, 3, 20])) * g.choice([-1, 1], n)
    if g.random() < 0.2:
        floats *= 10.0 ** g.integers(-20, 20, n)
    if g.random() < 0.2:
        floats[g.random(n) < 0.3] = np.nan
        floats[g.random(n) < 0.2] = -np.inf
    with np.errstate(all="ignore"):
        match np.dtype(kind).kind if kind != "struct" else "V":
            case "f":
                return floats.astype(kind)
            case "c":
                return (floats + 1j * floats[::-1]).astype(kind)
            case "i" | "u":
                return g.integers(-(10 ** g.integers(1, 9)), 10**8, n).astype(kind)
            case "b":
                return g.random(n) < 0.5
            case "M" | "m":
                items = g.integers(-1000, 10 ** g.integers(3, 9), n).astype(kind)
                items[g.random(n) < 0.1] = "NaT"
                return items
            case "U" | "S":
                return g.choice(np.array(["a", "bcd", "", "x y"], dtype=kind), n)
    items = np.zeros(n, dtype=[("x", "i4"), ("y", "f8"), ("z", "U2"), ("v", "i2", (2,))])
    items["x"], items["y"] = g.integers(0, 1000, n), floats
    items["z"], items["v"] = g.choice(["a", "bb"], n), g.integers(0, 99, (n, 2))
    return items


@op
def array_shown(r):
    """Writes an array of at most 200 items; tells how NumPy prints it."""
    g = np.random.default_rng(r["seed"])
    shape = [int(g.choice([1, 2, 3, 5, 12])) for _ in range(g.integers(1, 4))]
    while math.prod(shape) > 200:
        shape.pop()
    array = shown_items(g, str(g.choice(SHOWN)), math.prod(shape)).reshape(shape)
    np.save(r["path"], array)
    return dict(dtype=str(array.dtype)), str(array).encode()
