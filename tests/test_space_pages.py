# SPDX-License-Identifier: BSD-3-Clause
"""What the pages of spaces say a space can do is what it does on a small case."""

import inspect
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import skstruct
from skstruct import ConditionalRiskMinimizer, losses, spaces
from skstruct.learners.problem import risk_problem
from skstruct.losses import Observed
from skstruct.losses.names import SHORT_NAMES
from skstruct.spaces import Inference, Solving, Targets
from space_cases import SMALL

LOSSES = Path(__file__).parents[1] / "docs" / "losses.md"
FOLDER = Path(__file__).parents[1] / "docs" / "spaces"
CAN = ("count", "sample", "list", "k best", "distribution", "walk")


def capabilities(space) -> set[str]:
    """What a fitted space does when asked, of all that a page may promise."""
    found = set()
    if isinstance(space, spaces.Countable):
        assert space.size() >= 1
        assert np.isfinite(space.log_size())
        found.add("count")
    if isinstance(space, spaces.Samplable):
        assert space.contains(space.sample(3, np.random.default_rng(0))).all()
        found.add("sample")
    if isinstance(space, spaces.Enumerable):
        assert len(space.enumerate()) == space.size()
        found.add("list")
    width = space.embed(space.argmin(np.zeros((1, _width(space)))).outputs).shape[1]
    if isinstance(space, spaces.KBest):
        assert space.kbest(np.zeros((1, width)), 2).values.shape == (1, 2)
        found.add("k best")
    if Inference.of(space).distribution(np.zeros((1, width))) is not None:
        found.add("distribution")
    if Inference.of(space).proposals() is not None:
        found.add("walk")
    return found


def _width(space) -> int:
    outputs = SMALL[type(space).__name__][1]
    return space.embed(space.validate(outputs)).shape[1]


def constraints(space) -> list[str]:
    """Arguments of ``restrict``."""
    return list(inspect.signature(space.restrict).parameters) if hasattr(space, "restrict") else []


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def code(cell: str) -> list[str]:
    """What stands between backticks."""
    return [name.strip('"') for name in re.findall(r"`([^`]+)`", cell)]


def facts(name: str) -> dict[str, str]:
    """The table at the top of a space's page."""
    stem = re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()
    text = (FOLDER / f"{stem}.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {name}: ")
    return dict(cells(line) for line in text.splitlines() if line.startswith("| ") and "|" in line)


def capability_rows() -> dict[str, list[str]]:
    text = (FOLDER / "index.md").read_text(encoding="utf-8")
    table = text.split("| space |")[1].split("\n\n")[0].splitlines()[2:]
    return {code(cells(line)[0])[0]: cells(line) for line in table}


def test_every_space_has_a_page_and_a_row():
    public = {
        name
        for name in spaces.__all__
        if isinstance(getattr(spaces, name), type)
        and issubclass(getattr(spaces, name), spaces.BaseSpace)
    } - {"BaseSpace"}
    assert public == set(SMALL) == set(capability_rows())
    text = (FOLDER / "index.md").read_text(encoding="utf-8")
    chosen = text.split("| I have | use |")[1].split("\n\n")[0]
    assert public == set(code(chosen))
    pages = {path.stem for path in FOLDER.glob("*.md")} - {"index"}
    assert pages == {re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower() for name in public}


@pytest.mark.parametrize("name", SMALL)
def test_the_table_of_capabilities(name):
    space, outputs = SMALL[name]
    space = space.fit(outputs)
    row = capability_rows()[name]
    assert code(row[1]) == [space.default_loss]
    assert {word for word, dot in zip(CAN, row[2:8]) if dot} == capabilities(space)
    assert code(row[8]) == constraints(space)


@pytest.mark.parametrize("name", SMALL)
def test_the_facts_of_each_page(name):
    space, outputs = SMALL[name]
    told, space = facts(name), space.fit(outputs)
    can = {word.strip() for word in told["can"].split(",")} - {"none"}
    assert can == capabilities(space)
    assert code(told["constraints"]) == constraints(space)
    assert code(told["losses"])[0] == space.default_loss


LARGE = {  # where decoders do not promise the best of all outputs
    "Cycles": spaces.Cycles(40),
    "Cliques": spaces.Cliques(30),
    "PairwiseLabels": spaces.PairwiseLabels("full", range(30)),
    "ShortestPaths": spaces.ShortestPaths([(v, (v + 1) % 30) for v in range(30)], 0, 7),
    "Graphs": spaces.Graphs(30, directed=True, property="acyclic"),
    "Rankings": spaces.Rankings(range(30), "pairs"),
}


@pytest.mark.parametrize("name", SMALL)
def test_the_promises_of_decoders(name):
    space, outputs = SMALL[name]
    told = facts(name)["decoder"]
    assert space.fit(outputs).guarantee.kind == "exact"
    assert "exact" in told
    if name in LARGE:
        assert LARGE[name].guarantee.kind != "exact"
        assert "bound" in told


def fitted(name):
    """Six rows, and a model of the space that has seen them."""
    space, outputs = SMALL[name]
    y = [outputs[i % len(outputs)] for i in range(6)]
    y = np.array(y) if isinstance(outputs[0], (float, int)) or not Solving.of(space).discrete else y
    X = np.random.default_rng(0).normal(size=(6, 2))
    return X, y, ConditionalRiskMinimizer(space, alpha=1.0).fit(X, y)


@pytest.mark.parametrize("name", SMALL)
def test_the_losses_and_learners_of_each_page(name):
    space, told = SMALL[name][0], facts(name)
    X, y, model = fitted(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # six rows and two steps
        for loss in code(told["losses"]):
            if loss in SHORT_NAMES:
                assert len(model.predict(X, loss=loss)) == 6
            else:
                assert hasattr(losses, loss.partition("(")[0])
        for learner in code(told["learners"]):
            if learner.startswith("MaxMargin"):  # made for this space: they take a graph
                other = getattr(skstruct, learner)(max_iter=2).fit(X, np.eye(6, 3, dtype=int))
            else:
                short = {"alpha": 1.0, "max_iter": 2}
                kind = getattr(skstruct, learner)
                short = {key: short[key] for key in short if hasattr(kind(), key)}
                other = kind(space, **short).fit(X, y)
            assert len(other.predict(X)) == 6


def rows_of_losses():
    """Losses, by their classes, and the spaces that each row of the decision table names."""
    table = LOSSES.read_text(encoding="utf-8").split("| if a mistake means |")[1]
    for line in table.split("\n:::")[0].splitlines()[2:]:
        _, use, _, over, _ = cells(line)
        names = [name.partition("(")[0] for name in code(use)]
        yield [name for name in names if name in losses.__all__], code(over)


def test_every_loss_is_in_the_decision_table():
    listed = {name for names, _ in rows_of_losses() for name in names}
    public = {
        name
        for name in losses.__all__
        if isinstance(getattr(losses, name), type)
        and issubclass(getattr(losses, name), losses.BaseLoss)
    }
    assert public - {"BaseLoss", "BilinearLoss", "SeparableLoss"} == listed


OWN = {  # losses that must be told something
    "Listed": lambda: losses.Listed(lambda z, y: float(str(z) != str(y))),
    "PositionLoss": lambda: losses.PositionLoss(1 - np.eye(3)),
    "PiecewiseLinear": lambda: losses.PiecewiseLinear([-1, 0, 2], [0, 1]),
    "Scenarios": lambda: losses.Scenarios(lambda z, Y: Y[:, 0]),
}


def decided_from_observations(loss, model, X):
    """One decision under a loss whose truths are no outputs, such as costs of the coordinates."""
    space = model.space_
    if hasattr(loss, "candidates"):
        loss.set_params(candidates=model.predict(X))
    decided = Targets.of(model.observation_space_).outputs_of(model.outputs_)
    width = space.embed(decided).shape[1] - len(Targets.of(space).own_costs())
    rows = Observed.of(loss).space_of(space).validate(np.arange(6.0 * width).reshape(6, width) - 3)
    problem = risk_problem(space, loss, rows)
    return problem.decode(problem.mean_targets(np.ones(6))).outputs


@pytest.mark.parametrize("name", SMALL)
def test_losses_work_over_the_spaces_of_the_decision_table(name):
    X, _, model = fitted(name)
    for names, over in rows_of_losses():
        for loss in names if name in over else ():
            made = OWN.get(loss, getattr(losses, loss))()
            if Observed.of(made).what == "outputs":
                assert len(model.predict(X, loss=made)) == 6
            else:
                assert len(decided_from_observations(made, model, X)) == 1
