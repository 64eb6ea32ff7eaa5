# SPDX-License-Identifier: BSD-3-Clause
"""Every structure is listed, decided, drawn, fixed and cut into slices."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

pytest.importorskip("fastapi")

from tests.explorer.explorer_cases import client_of
from tests.explorer.structures import CASES, N, fitted

from skstruct.tolerances import TIE

pytestmark = pytest.mark.slow


def asked(client, **question):
    answer = client.post("/api/decide", json=question)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("name", CASES)
def test_rows_and_decisions_agree(name):
    client = client_of(name)
    told = client.get("/api/model").json()
    assert told["rows"] == N
    for loss in told["losses"]:
        listed = client.get("/api/rows", params={"loss": loss["name"], "count": 3}).json()["rows"]
        for row in listed:
            found = asked(client, row=row["row"], loss=loss["name"])
            assert found["prediction"] == row["prediction"]
            assert found["truth"] == row["truth"]
            assert found["loss_of_row"] == pytest.approx(row["loss"])
            if row["risk"] is not None:
                assert found["value"] == pytest.approx(row["risk"], abs=TIE)
            assert ET.fromstring(found["drawing"]).tag.endswith("svg")


@pytest.mark.parametrize("name", CASES)
def test_predictions_are_those_of_the_model(name):
    model, inputs = fitted(name), CASES[name][1]
    space = model.space_
    Z = space.validate(model.predict(inputs))
    from skstruct.reports.outputs import in_words

    listed = client_of(name).get("/api/rows", params={"count": N}).json()["rows"]
    for z, row in zip(Z, listed):
        said = in_words(space, z)
        assert row["prediction"] == said.between.join(piece.text for piece in said.pieces)


@pytest.mark.parametrize("name", CASES)
def test_slices_of_every_structure(name):
    client = client_of(name)
    found = client.get("/api/slices").json()
    losses = [row["loss"] for row in client.get("/api/rows", params={"count": N}).json()["rows"]]
    assert found["mean"] == pytest.approx(np.mean(losses))
    assert found["by_part"]
    for column in found["by_column"]:
        assert sum(one["n"] for one in column["bins"]) == N


@pytest.mark.parametrize("name", CASES)
def test_parts_that_are_clicked_hold_and_cost_no_less(name):
    client = client_of(name)
    states = client.get("/api/model").json()["fixable"]
    free = asked(client, row=1)
    if not states:
        return
    for part in free["parts"][:6]:
        for state in states:
            answer = client.post("/api/decide", json={"row": 1, "fixed": {part["key"]: state}})
            if answer.status_code == 422:
                assert "No output satisfies" in answer.json()["error"]
                continue
            found = answer.json()
            after = {one["key"]: one for one in found["parts"]}[part["key"]]
            assert after["state"] == state
            assert after["predicted"] == (state == "in")
            # Probabilities of an exponential family are those given what is fixed.
            if free["value"] is not None and not hasattr(fitted(name), "log_proba"):
                assert found["value"] >= free["value"] - TIE
            if part["predicted"] == (state == "in"):
                assert found["prediction"] == free["prediction"]


def test_which_structures_can_be_fixed():
    unlike = {name for name in CASES if not client_of(name).get("/api/model").json()["fixable"]}
    quantities = {"interval", "box", "histogram", "flow"}
    assert unlike == quantities | {"classes", "candidates", "output kernel"}


def test_words_are_drawn():
    drawing = asked(client_of("words"), row=0)["drawing"]
    assert "dog" in drawing or "cat" in drawing
