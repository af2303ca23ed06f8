"""Requests of `oracle.py` to bcolz-zipline, the maintained fork of bcolz.

Data sets lie on disk, below the path `root` of the request; each operation opens what it needs and lets go of it.
"""

import bcolz
import numpy

OPS = {}


def op(function):
    OPS[function.__name__] = function
    return function


def cparams(r):
    return bcolz.cparams(r["clevel"], r["shuffle"], r["cname"], r["quantize"])


def array_of(data, dtype, row_shape):
    return numpy.frombuffer(data, dtype).reshape([-1] + row_shape)


def carray_of(r, data, **where):
    return bcolz.carray(
        array_of(data, r["dtype"], r["row_shape"]),
        cparams=cparams(r),
        dflt=r["dflt"],
        chunklen=r["chunklen"],
        expectedlen=r["expectedlen"],
        **where,
    )


def facts(array):
    return dict(
        shape=list(array.shape),
        dtype=str(array.dtype),
        chunklen=array.chunklen,
        attrs={name: value for name, value in array.attrs},
    )


@op
def bcolz_version(r):
    return (dict(bcolz=bcolz.__version__),)


@op
def bcolz_create(r, data):
    array = carray_of(r, data, rootdir=r["root"], mode="w")
    for name, value in r["attrs"].items():
        array.attrs[name] = value
    array.flush()
    return ({},)


@op
def bcolz_append(r, data):
    array = bcolz.open(r["root"], mode="a")
    array.append(array_of(data, array.dtype, list(array.shape[1:])))
    array.flush()
    return ({},)


@op
def bcolz_set(r, data):
    array = bcolz.open(r["root"], mode="a")
    rows = array_of(data, array.dtype, list(array.shape[1:]))
    array[r["start"] : r["start"] + len(rows)] = rows
    array.flush()
    return ({},)


@op
def bcolz_resize(r):
    bcolz.open(r["root"], mode="a").resize(r["len"])
    return ({},)


@op
def bcolz_attr(r):
    bcolz.open(r["root"], mode="a").attrs[r["name"]] = r["value"]
    return ({},)


@op
def bcolz_content(r):
    array = bcolz.open(r["root"], mode="r")
    return facts(array), numpy.ascontiguousarray(array[:]).tobytes()


@op
def bcolz_table_create(r, *columns):
    columns = [carray_of(c, data) for c, data in zip(r["columns"], columns)]
    table = bcolz.ctable(columns, names=r["names"], rootdir=r["root"], mode="w")
    table.flush()
    return ({},)


@op
def bcolz_table_append(r, *columns):
    table = bcolz.open(r["root"], mode="a")
    rows = [array_of(d, table[n].dtype, list(table[n].shape[1:])) for n, d in zip(table.names, columns)]
    table.append(rows)
    table.flush()
    return ({},)


@op
def bcolz_table_trim(r):
    table = bcolz.open(r["root"], mode="a")
    table.trim(r["rows"])
    table.flush()
    return ({},)


@op
def bcolz_table_addcol(r, data):
    table = bcolz.open(r["root"], mode="a")
    table.addcol(array_of(data, r["dtype"], r["row_shape"]), name=r["name"])
    table.flush()
    return ({},)


@op
def bcolz_table_delcol(r):
    table = bcolz.open(r["root"], mode="a")
    table.delcol(name=r["name"])
    table.flush()
    return ({},)


@op
def bcolz_table_content(r):
    table = bcolz.open(r["root"], mode="r")
    columns = [numpy.ascontiguousarray(table[name][:]).tobytes() for name in table.names]
    return dict(names=table.names, len=len(table)), *columns


@op
def bcolz_query(r):
    table = bcolz.open(r["root"], mode="r")
    try:
        found = table.fetchwhere(r["expr"], outcols=r["names"], out_flavor="numpy")
    except StopIteration:
        # So it says that no row was found.
        return dict(len=0), *[b"" for _ in r["names"]]
    columns = [numpy.ascontiguousarray(found[name]).tobytes() for name in r["names"]]
    return dict(len=len(found)), *columns


@op
def bcolz_table_values(r):
    """The columns as other types: those of files say less."""
    table = bcolz.open(r["root"], mode="r")
    columns = [table[name][:].astype(dtype).tobytes() for name, dtype, _ in r["fields"]]
    return dict(names=table.names, dtypes=[table[name].dtype.str for name in table.names]), *columns
