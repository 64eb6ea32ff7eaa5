# SPDX-License-Identifier: BSD-3-Clause
"""Fits that were stopped go on as if nothing had been, and refuse what is not theirs."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from skstruct import ConditionalRiskMinimizer, StructuredPerceptron, StructuredSVM
from skstruct.exceptions import ModelFileError
from skstruct.learners import Checkpoint
from skstruct.learners.checkpoints import fingerprints, saving
from skstruct.learners.checkpoints.fingerprints import digest
from skstruct.learners.checkpoints.levels import NOWHERE, Level
from skstruct.learners.checkpoints.trees import packed, plain, set_stream, unpacked
from skstruct.learners.exponential.exact import lbfgs
from skstruct.spaces import LabelSets

FOLDER = Path(__file__).parents[2] / "reliability"
sys.path.insert(0, str(FOLDER))
try:
    from checkpoint_cases import CASES, OWN_SEED, label_sets, outcome
finally:
    sys.path.remove(str(FOLDER))


NOBODY = {"learner": "", "version": "", "parameters": {}, "data": {}}


class Stopped(Exception):
    """In place of a signal that ends the process."""


class Stopper:
    """Writes as always, and stops the fit after so many writes."""

    def __init__(self, monkeypatch):
        self.write, self.n_writes, self.last = saving.write_container, 0, None
        monkeypatch.setattr(saving, "write_container", self)
        monkeypatch.setattr(os, "fsync", lambda file: None)  # no power fails in a test

    def after(self, n):
        self.n_writes, self.last = 0, n

    def __call__(self, *arguments):
        self.write(*arguments)
        self.n_writes += 1
        if self.n_writes == self.last:
            raise Stopped


@pytest.fixture
def stopper(monkeypatch):
    return Stopper(monkeypatch)


@pytest.mark.parametrize("name", CASES)
def test_a_fit_that_is_stopped_again_and_again_ends_with_the_same_bits(name, stopper, tmp_path):
    checkpoint = Checkpoint(tmp_path / "fit", every=0)
    left_alone = outcome(name, checkpoint)
    if name != OWN_SEED:
        assert left_alone == outcome(name)
    n_writes = stopper.n_writes
    assert n_writes >= 3
    first = np.random.default_rng(len(name)).integers(1, n_writes)
    for n in (first, (n_writes - first) // 2, n_writes - first - (n_writes - first) // 2):
        if n == 0:
            continue
        stopper.after(n)
        with pytest.raises(Stopped):
            outcome(name, checkpoint, seed=n * (tmp_path / "fit").exists())
        assert (tmp_path / "fit").exists()
    stopper.after(-1)
    assert outcome(name, checkpoint, seed=7) == left_alone
    assert stopper.n_writes <= 1 or "threads" in name  # all but the last step was done before
    assert list(tmp_path.iterdir()) == []


def test_a_fit_goes_on_in_another_process_after_a_kill(tmp_path):
    """With other hashes of texts, so that sets have another order."""
    code = (
        f"import sys; sys.path.insert(0, {str(FOLDER)!r})\n"
        "from checkpoint_cases import outcome\nfrom skstruct.learners import Checkpoint\n"
        f"outcome('network', Checkpoint({str(tmp_path / 'fit')!r}, every=0))\n"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "17"}
    with subprocess.Popen([sys.executable, "-c", code], env=environment) as process:
        while not (tmp_path / "fit").exists() and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert (tmp_path / "fit").exists()
    assert outcome("network", tmp_path / "fit") == outcome("network")
    assert list(tmp_path.iterdir()) == []


def test_kills_at_random_times_and_planted_bugs():
    """A few of what the script does by the hundred."""
    command = [sys.executable, str(FOLDER / "kill_checkpoints.py"), "--kills", "6"]
    command += ["--cases", "perceptron", "--seed", "1"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    summary = json.loads(run.stdout.splitlines()[-1])
    assert run.returncode == 0, run.stdout
    assert summary["tried"] == 6
    assert summary["failed"] == 0
    assert all(summary["planted"].values())


# ---------------------------------------------------------------------- whose it is
def stopped_fit(stopper, path, model, *data, **settings):
    stopper.after(2)
    with pytest.raises(Stopped):
        model.fit(*data, checkpoint=Checkpoint(path, every=0), **settings)
    stopper.after(-1)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"lam": 0.5}, "lam differed"),
        ({"random_state": 1, "tol": 0.5}, "random_state, tol differed"),
        ({"X": 1.0}, "X differed"),
        ({"y": 0}, "y differed"),
        ({"sample_weight": 1}, "sample_weight differed"),
    ],
)
def test_the_checkpoint_of_another_fit_is_refused_and_stays(stopper, tmp_path, change, said):
    X, Y = label_sets()
    path, settings = tmp_path / "fit", {"lam": 0.01, "tol": 1e-4, "random_state": 0}
    before = stopped_fit(stopper, path, StructuredSVM(LabelSets(), **settings), X, Y)
    weight = None
    if "X" in change:
        X = X.copy()
        X[3, 1] = np.nextafter(X[3, 1], np.inf)
    if "y" in change:
        Y = 1 - Y
    if "sample_weight" in change:
        weight = np.linspace(1, 2, len(X))
    settings |= {name: value for name, value in change.items() if name in settings}
    model = StructuredSVM(LabelSets(), **settings)
    with pytest.raises(ModelFileError, match=f"another fit: {said}. Delete it") as error:
        model.fit(X, Y, weight, checkpoint=path)
    assert "\n" not in str(error.value)
    assert path.read_bytes() == before
    assert not hasattr(model, "scores_")


def test_learners_and_versions_do_not_go_on_from_each_other(stopper, tmp_path, monkeypatch):
    X, Y = label_sets()
    path, model = tmp_path / "fit", StructuredSVM(LabelSets(), tol=1e-4)
    before = stopped_fit(stopper, path, model, X, Y)
    with pytest.raises(ModelFileError, match="another fit: it was a StructuredSVM"):
        StructuredPerceptron(LabelSets()).fit(X, Y, checkpoint=path)
    monkeypatch.setattr(fingerprints, "LAYOUT", 0)
    with pytest.raises(ModelFileError, match=r"it was written by version .* layout 1"):
        model.fit(X, Y, checkpoint=path)
    assert path.read_bytes() == before


def test_threads_and_bars_do_not_matter(stopper, tmp_path):
    X, Y = label_sets()
    path = tmp_path / "fit"
    stopped_fit(stopper, path, StructuredSVM(LabelSets(), tol=1e-4, random_state=0), X, Y)
    StructuredSVM(LabelSets(), tol=1e-4, random_state=0, n_jobs=2).fit(X, Y, checkpoint=path)
    assert not path.exists()


def test_what_a_warm_start_begins_with_counts(stopper, tmp_path):
    X, Y = label_sets()
    path = tmp_path / "fit"

    def begun(lam):
        model = StructuredSVM(LabelSets(), lam=lam, warm_start=True, random_state=0).fit(X, Y)
        return model.set_params(lam=1e-3, tol=1e-4)

    stopped_fit(stopper, path, begun(0.1), X, Y)
    for other in (begun(0.2), StructuredSVM(LabelSets(), lam=1e-3, tol=1e-4, warm_start=True)):
        other.random_state = 0
        with pytest.raises(ModelFileError, match="warm_start differed"):
            other.fit(X, Y, checkpoint=path)
    gone_on = begun(0.1).fit(X, Y, checkpoint=path)
    np.testing.assert_array_equal(gone_on.coef_, begun(0.1).fit(X, Y).coef_)


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "text", "folder", "other kind"])
def test_what_cannot_be_read_is_refused_and_stays(stopper, tmp_path, damage):
    X, Y = label_sets()
    path, model = tmp_path / "fit", StructuredSVM(LabelSets(), tol=1e-4, random_state=0)
    whole = stopped_fit(stopper, path, model, X, Y)
    flipped = bytearray(whole)
    flipped[len(whole) // 3] ^= 1
    broken = {"cut": whole[:-9], "flipped": bytes(flipped), "empty": b"", "text": b"notes\n" * 99}
    if damage in broken:
        path.write_bytes(broken[damage])
    elif damage == "folder":
        path.unlink()
        path.mkdir()
    else:
        stopper.write(path, "model", {}, {})
    with pytest.raises(ModelFileError, match="Delete it to begin anew, or give another path"):
        model.fit(X, Y, checkpoint=path)
    assert path.is_dir() or path.read_bytes() == broken.get(damage, path.read_bytes())
    assert path.exists()


# ---------------------------------------------------------------------- files
def test_quick_fits_write_nothing_and_other_files_stay(stopper, tmp_path):
    X, Y = label_sets()
    kept = {".fit.settings": b"mine", ".fit.abcdefghi": b"PK\3\4", "fit.abcdefgh": b"PK\3\4"}
    for name, content in {**kept, ".fit.abcd_fgh": b"PK\3\4 left by a kill"}.items():
        (tmp_path / name).write_bytes(content)
    StructuredSVM(LabelSets()).fit(X, Y, checkpoint=tmp_path / "fit")
    assert stopper.n_writes == 0
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == kept


def test_saving_takes_a_hundredth_of_the_time_at_most(monkeypatch, tmp_path):
    """With a clock that stands still but for the writer, which takes three seconds."""
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])

    def slow(*_):
        clock[0] += 3.0

    monkeypatch.setattr(saving, "write_container", slow)
    saver = saving.Saver(Checkpoint(tmp_path / "fit", every=10.0), NOBODY)
    saves = []
    for second in range(1000):
        clock[0] += 1.0
        before = clock[0]
        saver.level.reached(step=second)
        saves += [second] * (clock[0] > before)
    assert saves == [9, 309, 609, 909]


def test_a_full_disk_does_not_end_the_fit(monkeypatch, tmp_path):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(saving, "write_container", full)
    X, Y = label_sets(n=20)
    model = StructuredSVM(LabelSets(), random_state=0)
    with pytest.warns(UserWarning, match="could not be written.*No space"):
        saved = model.fit(X, Y, checkpoint=Checkpoint(tmp_path / "fit", every=0)).coef_
    np.testing.assert_array_equal(saved, model.fit(X, Y).coef_)


def test_wrong_arguments(tmp_path):
    X, Y = label_sets(n=10)
    model = StructuredSVM(LabelSets())
    with pytest.raises(TypeError, match="checkpoint is the path of a file"):
        model.fit(X, Y, checkpoint=3)
    with pytest.raises(ValueError, match="every is a number of seconds"):
        Checkpoint("fit", every=-1)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        model.fit(X, Y, checkpoint=tmp_path / "none" / "fit")


def test_a_smoother_of_ones_own_has_nothing_to_save(tmp_path):
    from skstruct.smoothing import Neighbors

    X, Y = label_sets(n=20)
    model = ConditionalRiskMinimizer(LabelSets(), smoother=Neighbors(3))
    assert model.fit(X, Y, checkpoint=tmp_path / "fit").predict(X).shape == Y.shape
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------------- parts
class Bowl:
    """A convex function; counts how often it is asked."""

    n_asked = 0

    def value_and_gradient(self, theta):
        self.n_asked += 1
        curve = np.arange(1.0, len(theta) + 1)
        return float(curve @ (theta - 1) ** 4), 4 * curve * (theta - 1) ** 3


def test_gradients_beyond_the_room_are_computed_again():
    settings, start = {"tol": 1e-9, "max_iter": 200}, np.zeros(6)
    right = lbfgs(Bowl(), start, **settings)

    class Shelf(type(NOWHERE)):
        def reached(self, **state):
            self.found = state

    shelf, bowls = Shelf(), [Bowl(), Bowl()]
    for bowl in bowls:
        found = lbfgs(bowl, start, level=shelf, room=4 * 6 * 8, **settings)
        assert found.theta.tobytes() == right.theta.tobytes()
    assert len(shelf.found["gradients"]) == 4
    assert bowls[1].n_asked == bowls[0].n_asked - 4


def test_levels_beside_each_other_are_saved_as_they_last_were(tmp_path):
    """Whatever the other one has changed since; and a level that is over is left off."""
    saver = saving.Saver(Checkpoint(tmp_path / "fit", every=0), NOBODY)
    saver.level.keep(top=1)
    first, second = saver.level.below("search").beside("ab").values()
    numbers = np.zeros(2)
    first.keep(v=numbers)
    first.below("training").reached(n=1)
    numbers[:] = 5.0
    first.keep(n=2)
    second.reached(rng=np.random.default_rng(3))
    read = saving.Saver(Checkpoint(tmp_path / "fit"), NOBODY).level
    assert read.found == {"top": 1}
    lanes = read.below("search").beside("ab")
    assert lanes["a"].found["v"].tolist() == [0.0, 0.0]
    assert lanes["a"].below("training").found == {"n": 1}
    rng = np.random.default_rng(9)
    set_stream(rng, lanes["b"].found["rng"])
    assert rng.random() == np.random.default_rng(3).random()
    search = Level(saver)
    lanes = search.beside("ab")
    lanes["a"].freeze()
    search.keep("a", n_done=1)
    assert search.tree() == {"state": {"n_done": 1}, "below": {}}


numbers = st.floats() | st.integers() | st.booleans() | st.none() | st.text()
arrays = st.lists(st.floats(), max_size=3).map(np.array)
trees = st.recursive(
    numbers | arrays, lambda t: st.lists(t) | st.dictionaries(st.text(), t), max_leaves=9
)


@given(trees)
def test_trees_come_back_as_they_were(tree):
    put_aside = {}
    text = json.dumps(packed(plain(tree), put_aside), allow_nan=False)
    assert digest(unpacked(json.loads(text), put_aside)) == digest(tree)


@given(st.lists(trees, min_size=2, max_size=2))
def test_digests_tell_apart_what_differs(pair):
    one, other = (repr(tree) for tree in pair)
    same = [digest(tree) for tree in pair]
    assert (same[0] == same[1]) == (one == other)


def test_digests_of_many_kinds():
    def plus(a, b=1):
        return a + b

    networkx = pytest.importorskip("networkx")
    pandas = pytest.importorskip("pandas")
    kinds = [
        1, 1.0, True, None, "1", b"1", [1], (1,), {1}, {1: 1}, np.ones(2), np.ones(2, "f"),
        np.ones((1, 2)), sparse.eye_array(2), sparse.csr_array((2, 2)), plus, lambda a: a, np.exp,
        np.log, LabelSets(), LabelSets(["a"]), LabelSets, np.random.RandomState(0),
        np.random.RandomState(1), np.random.default_rng(0), networkx.path_graph(3),
        networkx.cycle_graph(3), pandas.DataFrame({"a": [1]}), pandas.DataFrame({"b": [1]}),
        [["a", "b"]], [["a"], ["b"]], np.array(["a", None], dtype=object), saving.Checkpoint("x"),
    ]  # fmt: skip
    digests = [digest(kind) for kind in kinds]
    assert len(set(digests)) == len(kinds)
    assert digests == [digest(kind) for kind in kinds]
    loop = []
    loop.append(loop)
    assert digest(loop) == digest(loop)
    assert digest(sparse.csr_array(np.eye(2))) == digest(sparse.csc_array(np.eye(2)))


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


def _pairs_that_differ():
    import collections
    import datetime
    import decimal
    import fractions
    import operator
    import pathlib
    import uuid

    import pandas

    day, names = datetime.date(2020, 1, 1), ["a", "b"]
    masked = [np.ma.array([1, 2], mask=mask) for mask in ([0, 1], [1, 0])]
    return [
        (day, datetime.date(2020, 1, 2)),
        (datetime.timedelta(1), datetime.timedelta(2)),
        (decimal.Decimal("1.0"), decimal.Decimal("1.1")),
        (fractions.Fraction(1, 2), fractions.Fraction(1, 3)),
        (uuid.UUID(int=1), uuid.UUID(int=2)),
        (pathlib.Path("a"), pathlib.Path("b")),
        (range(3), range(4)),
        (collections.deque([1]), collections.deque([2])),
        (bytearray(b"a"), bytearray(b"b")),
        (operator.itemgetter(0), operator.itemgetter(1)),
        (Slotted(1), Slotted(2)),
        ({1: 2}.get, {1: 3}.get),
        tuple(masked),
        (pandas.Period("2020-01"), pandas.Period("2020-02")),
        (pandas.Interval(0, 1), pandas.Interval(0, 2)),
        (pandas.Categorical(names, names), pandas.Categorical(names, names[::-1])),
        (np.zeros(1, [("a", int)]), np.zeros(1, [("b", int)])),
        (lambda x: x + 1, lambda x: x + 2),
        (pandas.Series(names, dtype="category"), pandas.Series(names)),
    ]


@pytest.mark.parametrize(("one", "other"), _pairs_that_differ(), ids=lambda v: type(v).__name__)
def test_values_that_differ_have_other_digests(one, other):
    import copy

    assert digest(one) != digest(other)
    assert digest([one]) == digest([copy.deepcopy(one)])


def test_what_cannot_be_told_apart_is_refused():
    with pytest.raises(ModelFileError, match="cannot tell one generator from another"):
        digest(number for number in range(3))
