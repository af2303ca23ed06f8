"""The Blosc family: chunks, frames, arrays, tables, stores, Bloscpack files, bcolz folders.

>>> import blosckit as bk
>>> bk.decompress(bk.compress(b"data" * 1000)) == b"data" * 1000
True
"""

from blosckit import errors
from blosckit._array import Array
from blosckit._buffers import Encoder, chunk_info, compress, decompress
from blosckit._care import (
    BadChunk,
    ConvertReport,
    Report,
    RescueReport,
    compact,
    convert,
    rescue,
    seal,
    verify,
)
from blosckit._create import create, load, save
from blosckit._edit import ArrayEditor, FrameEditor, StoreEditor, pack_array, unpack_array
from blosckit._frame import Frame, Objects, Recipe
from blosckit._group import Group
from blosckit._native import __version__
from blosckit._open import open
from blosckit._table import Column, Field, Scan, Table
from blosckit._values import Extension, Reference
from blosckit.errors import (
    BloscError,
    BusyError,
    CorruptError,
    LimitError,
    ParamError,
    StorageError,
    UnsupportedError,
)

__all__ = [
    "Array",
    "ArrayEditor",
    "BadChunk",
    "BloscError",
    "BusyError",
    "Column",
    "ConvertReport",
    "CorruptError",
    "Encoder",
    "Extension",
    "Field",
    "Frame",
    "FrameEditor",
    "Group",
    "LimitError",
    "Objects",
    "ParamError",
    "Recipe",
    "Reference",
    "Report",
    "RescueReport",
    "Scan",
    "StorageError",
    "StoreEditor",
    "Table",
    "UnsupportedError",
    "__version__",
    "chunk_info",
    "compact",
    "compress",
    "convert",
    "create",
    "decompress",
    "errors",
    "load",
    "open",
    "pack_array",
    "rescue",
    "save",
    "seal",
    "unpack_array",
    "verify",
]
