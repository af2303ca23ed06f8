"""Requests of `oracle.py` to NumPy, python-blosc2, the csv module and pyarrow, which write and read files with items.

Items are fields `[name, dtype, shape of a row]`. One field without a name is an array, others are a table.
"""

import csv

import blosc2
import numpy as np

OPS = {}


def op(function):
    OPS[function.__name__] = function
    return function


def column(data, field):
    _, dtype, row_shape = field
    return np.frombuffer(data, dtype).reshape([-1] + row_shape)


def array_of(fields, parts):
    """An array, or one of records."""
    if not fields[0][0]:
        return column(parts[0], fields[0])
    columns = [column(part, field) for part, field in zip(parts, fields)]
    records = np.zeros(len(columns[0]), record_of(fields))
    for (name, *_), items in zip(fields, columns):
        records[name] = items
    return records


def record_of(fields):
    return np.dtype([(name, dtype, tuple(row_shape)) for name, dtype, row_shape in fields])


def columns_of(fields, array):
    """The bytes of each field; raises an error if the array has other ones."""
    if not fields[0][0]:
        _, dtype, row_shape = fields[0]
        if (array.dtype, list(array.shape[1:])) != (np.dtype(dtype), row_shape):
            raise TypeError(f"{array.dtype} {array.shape}")
        return [np.ascontiguousarray(array).tobytes()]
    if array.dtype != record_of(fields):
        raise TypeError(f"{array.dtype}")
    return [np.ascontiguousarray(array[name]).tobytes() for name, *_ in fields]


def texts(items):
    """Values as people write them."""
    match items.dtype.kind:
        case "M":
            return np.datetime_as_string(items).tolist()
        case "S":
            return [item.decode() for item in items.tolist()]
    return [str(item) for item in items.tolist()]


def values(words, dtype):
    """The values of words in text files."""
    dtype = np.dtype(dtype)
    of = dict(b="True".__eq__, i=int, u=int, f=float, S=str.encode)
    return np.array([of.get(dtype.kind, str)(word) for word in words], dtype)


@op
def file_write(r, *parts):
    fields, path = r["fields"], r["path"]
    match r["format"]:
        case "npy":
            np.save(path, array_of(fields, parts))
        case "b2nd":
            blosc2.remove_urlpath(path)
            blosc2.asarray(array_of(fields, parts), urlpath=path, mode="w")
        case "csv":
            with open(path, "w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file, quoting=r["quoting"], lineterminator=r["newline"])
                writer.writerow([name for name, *_ in fields])
                writer.writerows(zip(*[texts(column(part, field)) for part, field in zip(parts, fields)]))
        case "parquet":
            import pyarrow
            import pyarrow.parquet

            columns = {field[0]: plain(column(part, field)) for part, field in zip(parts, fields)}
            pyarrow.parquet.write_table(pyarrow.table(columns), path)
    return ({},)


@op
def file_read(r):
    fields, path = r["fields"], r["path"]
    match r["format"]:
        case "npy":
            parts = columns_of(fields, np.load(path))
        case "b2nd":
            parts = columns_of(fields, blosc2.open(path, mode="r")[...])
        case "csv":
            with open(path, newline="", encoding="utf-8") as file:
                names, *rows = csv.reader(file)
            if names != [name for name, *_ in fields]:
                raise ValueError(f"columns {names}")
            columns = list(zip(*rows)) or [[] for _ in fields]
            parts = [values(words, dtype).tobytes() for words, (_, dtype, _) in zip(columns, fields)]
        case "parquet":
            import pyarrow.parquet

            table = pyarrow.parquet.read_table(path)
            if table.column_names != [name for name, *_ in fields]:
                raise ValueError(f"columns {table.column_names}")
            parts = [np.array(table[name].to_pylist(), dtype).tobytes() for name, dtype, _ in fields]
    return {}, *parts


def plain(items):
    """Fixed lengths are none of Arrow's."""
    return items.tolist() if items.dtype.kind in "SU" else items
