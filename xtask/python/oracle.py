"""The oracles, at the other end of a pipe; started by `cargo xtask interop`.

A request is one line of JSON, `{"op": NAME, "lens": [N, ...], ...}`, followed by byte strings of these lengths; so is
the reply. A reply with the key "refused" says that the oracle raised an error.
"""

import contextlib
import json
import os
import sys
import tempfile

import blosc
import blosc2
import numcodecs.blosc
import ops_arrays
import ops_bcolz
import ops_bloscpack
import ops_c_blosc2
import ops_edit
import ops_files
import ops_rescue
import ops_stores

OPS = ops_arrays.OPS | ops_bcolz.OPS | ops_bloscpack.OPS | ops_c_blosc2.OPS
OPS |= ops_edit.OPS | ops_files.OPS | ops_rescue.OPS | ops_stores.OPS


def op(function):
    OPS[function.__name__] = function
    return function


# Frames -------------------------------------------------------------------------------------------------


def cparams(r):
    return dict(
        codec=blosc2.Codec(r["codec"]),
        clevel=r["clevel"],
        typesize=r["typesize"],
        filters=r["filters"],
        # C-Blosc2 takes them as signed.
        filters_meta=[m - 256 if m > 127 else m for m in r["filters_meta"]],
        blocksize=r["blocksize"],
        splitmode=blosc2.SplitMode(r["splitmode"]),
        nthreads=r["nthreads"],
        use_dict=r["use_dict"],
    )


def content_of(schunk):
    return b"".join(schunk.decompress_chunk(i) for i in range(schunk.nchunks))


@contextlib.contextmanager
def opened(frame, through, nthreads):
    """A frame as a super-chunk: from memory, or through a file, which C-Blosc2 reads block by block."""
    dparams = dict(nthreads=nthreads)
    if through == "memory":
        schunk = blosc2.schunk_from_cframe(frame, copy=True)
        schunk.dparams = blosc2.DParams(**dparams)
        yield schunk
        return
    with tempfile.TemporaryDirectory(prefix="b2-interop-") as folder:
        path = os.path.join(folder, "case.b2frame")
        with open(path, "wb") as file:
            file.write(frame)
        yield blosc2.open(path, mode="r", dparams=dparams)


@op
def frame_write(r, data, *layers):
    names = r["metalayers"]
    meta = dict(zip(names, layers))
    schunk = blosc2.SChunk(
        chunksize=r["chunksize"],
        data=data if len(data) else None,
        cparams=cparams(r),
        dparams=dict(nthreads=1),
        contiguous=True,
        meta=meta,
    )
    for name, layer in zip(r["vlmetalayers"], layers[len(names) :]):
        schunk.vlmeta[name] = layer
    return {}, bytes(schunk.to_cframe())


@op
def frame_content(r, frame):
    """What the oracle itself reads from a frame that it wrote."""
    # Through a file: C-Blosc2 frees memory twice when it refuses a frame in memory.
    with opened(frame, "file", r["nthreads"]) as schunk:
        return {}, content_of(schunk)


@op
def frame_read(r, frame):
    """Everything that the oracle knows about a frame, its content, and slices of it."""
    with opened(frame, r["through"], r["nthreads"]) as schunk:
        params = schunk.cparams
        # The seal is no metadata of the user.
        vlnames = [name for name in schunk.vlmeta if name != "b2seal"]
        reply = dict(
            nchunks=schunk.nchunks,
            nbytes=schunk.nbytes,
            typesize=schunk.typesize,
            chunksize=schunk.chunksize,
            codec=params.codec.value,
            clevel=params.clevel,
            filters=[f.value for f in params.filters],
            filters_meta=[m % 256 for m in params.filters_meta],
            metalayers=list(schunk.meta),
            vlmetalayers=vlnames,
        )
        layers = [schunk.meta[name] for name in schunk.meta]
        layers += [schunk.vlmeta[name] for name in vlnames]
        slices = [schunk.get_slice(start, stop) for start, stop in r["slices"]]
        return reply, content_of(schunk), *slices, *layers


# Chunks -------------------------------------------------------------------------------------------------


@op
def blosc2_write(r, data):
    return {}, blosc2.compress2(data, **cparams(r))


@op
def blosc2_read(r, chunk):
    return {}, blosc2_decompress(chunk, r["nthreads"])


def blosc2_decompress(chunk, nthreads):
    nbytes = int.from_bytes(chunk[4:8], "little")
    # The wrapper takes an empty result for an error.
    return blosc2.decompress2(chunk, nthreads=nthreads) if nbytes else b""


@op
def blosc1_write(r, data):
    blosc.set_nthreads(r["nthreads"])
    blosc.set_blocksize(r["blocksize"])
    return {}, blosc.compress(data, r["typesize"], r["clevel"], r["shuffle"], r["cname"])


@op
def blosc1_read(r, chunk):
    blosc.set_nthreads(r["nthreads"])
    return {}, blosc.decompress(chunk)


@op
def numcodecs_write(r, data):
    codec = numcodecs.blosc.Blosc(r["cname"], r["clevel"], r["shuffle"], r["blocksize"], r["typesize"])
    return {}, bytes(codec.encode(data))


@op
def numcodecs_read(r, chunk):
    return {}, numcodecs_decompress(chunk)


def numcodecs_decompress(chunk):
    # An empty chunk is an error for numcodecs.
    return bytes(numcodecs.blosc.decompress(chunk)) if any(chunk[4:8]) else b""


# The pipe -----------------------------------------------------------------------------------------------


@op
def versions(r):
    reply = dict(
        blosc2=f"{blosc2.__version__} (C-Blosc2 {blosc2.blosclib_version.split()[0]})",
        blosc=f"{blosc.__version__} (C-Blosc {blosc.blosclib_version.split()[0]})",
        numcodecs=numcodecs.__version__,
        bloscpack=ops_bloscpack.bloscpack.__version__,
    )
    return (reply,)


def main():
    requests = sys.stdin.buffer
    # Whatever a library prints must not get between the replies.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    for line in requests:
        request = json.loads(line)
        payload = [requests.read(n) for n in request["lens"]]
        try:
            reply, *parts = OPS[request["op"]](request, *payload)
        except Exception as error:
            reply, parts = {"refused": f"{type(error).__name__}: {error}"}, []
        reply["lens"] = [len(part) for part in parts]
        replies.write(json.dumps(reply).encode() + b"\n")
        for part in parts:
            replies.write(part)
        replies.flush()


if __name__ == "__main__":
    main()
