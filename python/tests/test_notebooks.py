"""The notebooks run from start to end, in a kernel of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    client = nbclient.NotebookClient(
        notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    kinds = {kind for cell in cells for out in cell.outputs for kind in out.get("data", {})}
    # Objects and pictures are shown.
    assert {"text/html", "image/png"} <= kinds
    assert all(not cell.get("outputs") for cell in nbformat.read(path, as_version=4).cells)


def test_there_is_one():
    assert NOTEBOOKS
