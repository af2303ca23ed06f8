"""Fixtures of all tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTDATA = ROOT / "conformance/samples"


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(1)


@pytest.fixture(scope="session")
def manifest() -> Any:
    return json.loads((TESTDATA / "manifest.json").read_text())
