"""`python -m blosckit ...` and `blosckit ...`: the program `b2` of the package `blosckit-cli`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from importlib import metadata

PACKAGE = "blosckit-cli"
#: As shells answer when they find no program.
NOT_FOUND = 127


def _program() -> str | None:
    """The path of the program, or `None` if it is missing or another package has replaced it."""
    try:
        files = metadata.files(PACKAGE) or []
    except metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name in ("b2", "b2.exe"):
            path = os.path.abspath(str(file.locate()))
            # The client of Backblaze has a `b2`, too, which pip writes over ours without a word.
            if os.path.isfile(path) and os.path.getsize(path) == file.size:
                return path
    return None


def main(arguments: list[str] | None = None) -> int:
    """Runs the program with the arguments of this process; its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    path = _program()
    if path is None:
        print(
            "blosckit: the program b2 is not installed here, or another package has replaced it: "
            f"pip install --force-reinstall {PACKAGE}",
            file=sys.stderr,
        )
        return NOT_FOUND
    if os.name == "posix":
        # Python ignores these signals, and a program inherits that.
        for name in ("SIGPIPE", "SIGXFSZ"):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
        os.execv(path, ["b2", *given])
    # Ctrl-C goes to both processes: the program says how it ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return subprocess.run([path, *given], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
