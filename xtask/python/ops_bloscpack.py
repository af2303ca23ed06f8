"""Requests of `oracle.py` to bloscpack 0.16.0, the last release (2018).

A change that cannot be made has a reply with the key "no" and without byte strings.
"""

import ast
import collections
import collections.abc
import io
import os
import tempfile

# The package imports a name that Python 3.10 took away.
collections.MutableMapping = collections.abc.MutableMapping

import blosc
import bloscpack
import bloscpack.args
import numpy
from bloscpack import append, exceptions, file_io

OPS = {}


def op(function):
    OPS[function.__name__] = function
    return function


def blosc_args(r):
    blosc.set_nthreads(r["nthreads"])
    blosc.set_blocksize(r["blocksize"])
    if r["typesize"] is None:
        return None
    return bloscpack.BloscArgs(r["typesize"], r["clevel"], r["shuffle"], r["cname"])


def packing(r):
    room, reserve = r["meta_room"], r["reserve"]
    if reserve is None:
        reserve = bloscpack.args.DEFAULT_MAX_APP_CHUNKS
    return dict(
        chunk_size=r["chunk_size"],
        blosc_args=blosc_args(r),
        bloscpack_args=bloscpack.BloscpackArgs(
            offsets=r["offsets"],
            checksum=r["checksum"],
            max_app_chunks=reserve if r["offsets"] else 0,
        ),
        metadata_args=bloscpack.MetadataArgs(
            meta_checksum=r["meta_checksum"],
            meta_codec=r["meta_codec"],
            meta_level=r["meta_level"],
            max_meta_size=(lambda size: size * room),
        ),
    )


@op
def blp_write(r, data):
    if not r["through_file"]:
        return {}, bloscpack.pack_bytes_to_bytes(data, metadata=r["metadata"], **packing(r))
    with tempfile.TemporaryDirectory(prefix="b2-interop-") as folder:
        plain, packed = os.path.join(folder, "case"), os.path.join(folder, "case.blp")
        with open(plain, "wb") as file:
            file.write(data)
        bloscpack.pack_file_to_file(plain, packed, metadata=r["metadata"], **packing(r))
        with open(packed, "rb") as file:
            return {}, file.read()


@op
def blp_read(r, blp):
    """Everything that Bloscpack knows about a file."""
    blosc.set_nthreads(r["nthreads"])
    content, metadata = bloscpack.unpack_bytes_from_bytes(blp)
    header, _, meta_header, offsets = file_io._read_beginning(io.BytesIO(blp))
    reply = dict(header=header, metadata=metadata, meta_header=meta_header, used_offsets=offsets)
    for key in ("header", "meta_header"):
        fields = dict(reply[key] or {})
        reply[key] = {name: str(v) if isinstance(v, bytes) else v for name, v in fields.items()}
    return reply, content


@op
def blp_append(r, blp, data):
    file = io.BytesIO(blp)
    try:
        added = append.append_fp(file, io.BytesIO(data), len(data), blosc_args(r))
    except exceptions.NotEnoughSpace as error:
        return (dict(no=str(error)),)
    return dict(added=added), file.getvalue()


@op
def blp_rewrite_metadata(r, blp):
    file = io.BytesIO(blp)
    append._seek_to_metadata(file)
    try:
        append._rewrite_metadata_fp(file, r["metadata"], codec=r["meta_codec"])
    except exceptions.MetadataSectionTooSmall as error:
        return (dict(no=str(error)),)
    return {}, file.getvalue()


@op
def blp_array_write(r, data):
    dtype = numpy.dtype(ast.literal_eval(r["dtype"]))
    array = numpy.frombuffer(data, dtype).reshape(r["shape"], order=r["order"])
    return {}, bloscpack.pack_ndarray_to_bytes(array, **packing(r))


@op
def blp_array_read(r, blp):
    """The items, and what Bloscpack writes about such an array."""
    blosc.set_nthreads(r["nthreads"])
    array = bloscpack.unpack_ndarray_from_bytes(blp)
    again = dict(typesize=array.dtype.itemsize or 1, clevel=0, shuffle=0, cname="blosclz")
    if array.dtype.itemsize > 255:
        return dict(metadata=None), array.tobytes("A")
    # Whole items, and few chunks.
    chunk_size = again["typesize"] * (2**20 // again["typesize"])
    packed = bloscpack.pack_ndarray_to_bytes(
        array, chunk_size=chunk_size, blosc_args=bloscpack.BloscArgs(**again)
    )
    metadata = file_io._read_beginning(io.BytesIO(packed))[1]
    return dict(metadata=metadata), array.tobytes("A")
