# SPDX-License-Identifier: BSD-3-Clause
"""What the explorer sends: names come back as they were, also such that are no Unicode."""

import json

import pytest

pytest.importorskip("fastapi")


def test_names_that_are_no_unicode_are_sent_and_come_back():
    from skstruct.explorer.app import answered

    names = {"labels": ["\ud800a", "caf\u00e9", "\U0001f680", "a\x00b"]}
    answer = answered(names)
    assert answer.status_code == 200
    assert answer.media_type == "application/json"
    assert json.loads(answer.body) == names
