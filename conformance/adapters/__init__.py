"""One module for each implementation; host.py runs them.

An adapter has NAME, FORMATS, ``version()`` and ``read(case, path)``. ``read`` returns the decoded content:
a dictionary of member names and bytes, or lists of values; the name is "" where a file has one content.
It raises any exception if the implementation refuses the file, and ``Unsupported`` where it does not claim to read such files.
An exception may have ``classes``, the classes of errors (see the manifest) that the implementation cannot tell apart.
"""


class Unsupported(Exception):
    """The implementation does not claim to read this."""


def chunk_version(path):
    """The version of a bare chunk, or 0."""
    with open(path, "rb") as file:
        return (file.read(1) or b"\0")[0]


def only_blosc1(case, path, has_snappy=True):
    """C-Blosc 1.x claims nothing about other versions than 2; the wheels are built without Snappy."""
    if not has_snappy and "snappy" in case["id"]:
        raise Unsupported
    if case.get("since", "").startswith("C-Blosc2") or case["kind"] != "valid" and chunk_version(path) > 2:
        raise Unsupported
