# SPDX-License-Identifier: BSD-3-Clause
"""A pipeline that begins with texts is asked for texts."""

import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from skstruct import ConditionalRiskMinimizer
from skstruct.serving import Settings, make_app

testclient = pytest.importorskip("fastapi.testclient")


@pytest.mark.slow
def test_texts_are_rows():
    pipeline = make_pipeline(
        TfidfVectorizer(), ConditionalRiskMinimizer(kernel="linear", alpha=0.01)
    )
    pipeline.fit(["red shoe", "blue shoe", "red hat", "old hat"] * 5, [["s"], ["s"], [], []] * 5)
    app = make_app({"tags": pipeline}, Settings(log_level="error"))
    with testclient.TestClient(app) as client:
        found = client.post("/predict", json={"rows": ["blue shoe", "old hat"]}).json()
    assert [answer["prediction"] for answer in found["answers"]] == [["s"], []]
