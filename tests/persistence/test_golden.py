# SPDX-License-Identifier: BSD-3-Clause
"""Files of every format version so far are read, and predict what they did when written."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from persistence.make_golden import GOLDEN, answers, golden_cases
from skstruct.persistence import describe_model, load_model
from skstruct.persistence.model_files import FORMAT_VERSION

FILES = sorted(GOLDEN.glob("*.skstruct"))
CASES = golden_cases()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_golden_files_answer_as_they_did(path):
    expected = json.loads(path.with_suffix(".json").read_text())
    found = answers(load_model(path), CASES[path.stem.split("-", 1)[1]])
    if expected["values"] is not None:
        # 1e-9 is more than any build of the linear algebra differs by, and less than any change.
        assert_allclose(found["values"], expected["values"], rtol=1e-9, atol=1e-9)
    if np.asarray(expected["outputs"], dtype=object).dtype.kind == "f":
        assert_allclose(found["outputs"], expected["outputs"], rtol=1e-9, atol=1e-9)
    else:
        assert _rounded(found["outputs"]) == _rounded(expected["outputs"])


def _rounded(outputs):
    if isinstance(outputs, list):
        return [_rounded(part) for part in outputs]
    return round(outputs, 7) if isinstance(outputs, float) else outputs


def test_every_version_has_its_files():
    assert {path.stem.split("-")[0] for path in FILES} == {
        f"v{number}" for number in range(1, FORMAT_VERSION + 1)
    }
    assert {path.stem for path in FILES} == {f"v1-{name}" for name in CASES}
    for path in FILES:
        about = describe_model(path)
        assert path.stem.startswith(f"v{about['format_version']}-")
        assert about["n_bytes"] < 25_000
        assert about["tested"]
