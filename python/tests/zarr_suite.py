"""The tests of zarr-python for its codec `blosc`, with ours in its place: `zarr_suite.py FOLDER`.

They come from the source archive of the installed release, which is kept in the folder.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

#: Files of tests that compress with the codec.
CHOSEN = [
    "test_codecs/test_blosc.py",
    "test_codecs/test_codecs.py",
    "test_codecs/test_sharding.py",
    "test_v2.py",
]


def sources(folder: Path) -> Path:
    """The unpacked archive of the release."""
    version = metadata.version("zarr")
    unpacked = folder / f"zarr-{version}"
    if not unpacked.exists():
        folder.mkdir(parents=True, exist_ok=True)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        pip += ["--no-deps", "--no-binary", "zarr", "--dest", str(folder), f"zarr=={version}"]
        subprocess.run(pip, check=True)
        shutil.unpack_archive(folder / f"zarr-{version}.tar.gz", folder, filter="data")
    return unpacked


class InPlace:
    """The codecs of zarr and of numcodecs are ours, wherever the tests look for them."""

    decoded = 0

    def pytest_configure(self) -> None:
        # Tests put the configuration back to what the environment says.
        os.environ["ZARR_CODECS__BLOSC"] = "blosckit.zarr.BloscCodec"
        import zarr.codecs.blosc
        import zarr.registry

        import blosckit.numcodecs
        from blosckit.zarr import BloscCodec

        decode = BloscCodec._decode_sync

        def counted(codec, *arguments):
            InPlace.decoded += 1
            return decode(codec, *arguments)

        BloscCodec._decode_sync = counted
        for module in (zarr.codecs, zarr.codecs.blosc):
            module.BloscCodec = BloscCodec
        zarr.registry.register_codec("blosc", BloscCodec)
        blosckit.numcodecs.register()


def main(folder: Path) -> int:
    """The exit code of pytest, or 1 if our codec was never called."""
    tests = sources(folder) / "tests"
    os.chdir(tests.parent)
    options = ["-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(tests.parent)]
    options += ["-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function"]
    options += ["-o", "markers=asyncio gpu slow_hypothesis"]
    code = pytest.main(options + [str(tests / name) for name in CHOSEN], plugins=[InPlace()])
    print(f"{InPlace.decoded} chunks were decoded by blosckit")
    return int(code) or int(InPlace.decoded == 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
