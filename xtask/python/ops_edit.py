"""Requests of `oracle.py` to python-blosc2 about a frame that changes step by step, in a file or a directory."""

import blosc2

OPS = {}


def op(function):
    OPS[function.__name__] = function
    return function


@op
def edit_create(r, data):
    schunk = blosc2.SChunk(
        chunksize=r["chunksize"],
        urlpath=r["path"],
        contiguous=r["contiguous"],
        mode="w",
        meta={"m": b"\0" * 8},
        cparams=dict(
            codec=blosc2.Codec(r["codec"]),
            clevel=r["clevel"],
            typesize=r["typesize"],
            filters=[0, 0, 0, 0, 0, r["filter"]],
            nthreads=1,
        ),
        dparams=dict(nthreads=1),
    )
    schunk.append_data(data)
    return ({},)


@op
def edit_view(r):
    """Everything, through a new handle."""
    schunk = blosc2.open(r["path"], mode="r", dparams=dict(nthreads=1))
    chunks = [schunk.decompress_chunk(i) for i in range(schunk.nchunks)]
    names = sorted(name for name in schunk.vlmeta if name != "b2seal")
    reply = dict(nbytes=schunk.nbytes, chunks=len(chunks), vlmeta=names)
    return reply, *chunks, schunk.meta["m"], *(schunk.vlmeta[name] for name in names)


@op
def edit_change(r, data):
    schunk = blosc2.open(r["path"], mode="a", dparams=dict(nthreads=1))
    match r["change"]:
        case "append":
            schunk.append_data(data)
        case "update":
            schunk.update_data(r["nchunk"], data, copy=True)
        case "insert":
            schunk.insert_data(r["nchunk"], data, copy=True)
        case "delete":
            schunk.delete_chunk(r["nchunk"])
        case "vlmeta":
            schunk.vlmeta[r["name"]] = data
        case "delete_vlmeta":
            del schunk.vlmeta[r["name"]]
        case "meta":
            schunk.meta["m"] = data
    return ({},)


@op
def share_append(r, data):
    """Appends chunks, each under the lock, while others do the same."""
    schunk = blosc2.open(r["path"], mode="a", dparams=dict(nthreads=1), locking=True)
    size = len(data) // r["count"]
    for i in range(r["count"]):
        schunk.append_data(data[i * size : (i + 1) * size])
    return ({},)


@op
def share_follow(r):
    """The items of a growing frame, through a handle from before the growth."""
    global followed
    if r["first"]:
        followed = blosc2.open(r["path"], mode="r", dparams=dict(nthreads=1), locking=r["locking"])
    # Reading a chunk makes it look at the file again, asking for the number of chunks does not.
    followed.decompress_chunk(0)
    chunks = [followed.decompress_chunk(i) for i in range(followed.nchunks)]
    return dict(chunks=len(chunks)), b"".join(chunks)
