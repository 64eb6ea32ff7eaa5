# SPDX-License-Identifier: BSD-3-Clause
from dataclasses import FrozenInstanceError

import pytest

from skstruct.bounds import Certificate


def test_it_reads_as_a_promise():
    terms = {"mean": 0.25, "slack": 0.125, "largest loss": 3.0}
    certificate = Certificate(0.375, terms, False, 0.05, ("rows are independent",))
    text = str(certificate)
    assert text == repr(certificate)
    assert "at least 95 %" in text
    assert "at most 0.375" in text
    assert "No loss exceeds 3." in text
    assert "  slack         0.125" in text.splitlines()
    assert text.endswith("Provided that\n- rows are independent")
    assert float(certificate) == 0.375


def test_it_says_when_it_says_nothing():
    text = str(Certificate(7.0, {"largest loss": 3.0}, True, 0.001))
    assert "at least 99.9 %" in text
    assert "at most 7. This says nothing: no loss exceeds 3." in " ".join(text.split())
    assert "This says nothing." in str(Certificate(7.0, {}, True, 0.001))


def test_it_cannot_be_changed():
    certificate = Certificate(1.0, {}, True, 0.05)
    with pytest.raises(FrozenInstanceError):
        certificate.value = 0.0
