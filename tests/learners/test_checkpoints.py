# SPDX-License-Identifier: BSD-3-Clause
"""Fits that were stopped go on as if nothing had been, and refuse what is not theirs."""

import collections
import copy
import datetime
import decimal
import fractions
import functools
import json
import operator
import os
import re
import signal
import subprocess
import sys
import threading
import time
import uuid
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV

from skstruct import (
    ConditionalRiskMinimizer,
    ExponentialFamily,
    StructuredPerceptron,
    StructuredSVM,
)
from skstruct.exceptions import ModelFileError
from skstruct.learners import Checkpoint
from skstruct.learners.checkpoints import fingerprints, saving
from skstruct.learners.checkpoints import fingerprints as digests
from skstruct.learners.checkpoints.fingerprints import digest
from skstruct.learners.checkpoints.saving import NOWHERE, Level, packed, plain, set_stream, unpacked
from skstruct.learners.exponential_family.optimization import lbfgs
from skstruct.spaces import Classes, LabelSets

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


@pytest.mark.slow
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
        try:
            found = outcome(name, checkpoint, seed=n * (tmp_path / "fit").exists())
        except Stopped:
            assert (tmp_path / "fit").exists()
        else:  # what two threads have done by one write is one write less to come
            assert "threads" in name
            assert found == left_alone
    stopper.after(-1)
    assert outcome(name, checkpoint, seed=7) == left_alone
    assert stopper.n_writes <= 1 or "threads" in name  # all but the last step was done before
    assert list(tmp_path.iterdir()) == []


@pytest.mark.subprocess
def test_a_fit_goes_on_in_another_process_after_a_kill(tmp_path):
    """With other hashes of texts, so that sets have another order."""
    code = (
        f"import os, sys; sys.path.insert(0, {str(FOLDER)!r})\n"
        "from checkpoint_cases import outcome\nfrom skstruct.learners import Checkpoint\n"
        "from skstruct.learners.checkpoints import saving\n"
        "write, n = saving.write_container, iter((1, 2))\n"
        "def written(*arguments):\n    write(*arguments)\n"
        f"    if next(n, 3) == 2: os.kill(os.getpid(), {int(signal.SIGKILL)})\n"
        "saving.write_container = written\n"
        f"outcome('network', Checkpoint({str(tmp_path / 'fit')!r}, every=0))\n"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "17"}
    killed = subprocess.run([sys.executable, "-c", code], env=environment, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert (tmp_path / "fit").exists()
    assert outcome("network", tmp_path / "fit") == outcome("network")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.subprocess
def test_kills_at_random_times_and_planted_bugs():
    """A few of what the script does by the hundred."""
    command = [sys.executable, str(FOLDER / "kill_checkpoints.py"), "--cases", "6"]
    command += ["--only", "perceptron", "--seed", "1"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    summary = json.loads(run.stdout[run.stdout.index("\n{") :])
    assert run.returncode == 0, run.stdout
    assert summary["tried"] >= 6
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
        ({"alpha": 0.5}, "alpha differed"),
        ({"random_state": 1, "tol": 0.5}, "random_state, tol differed"),
        ({"X": 1.0}, "X differed"),
        ({"y": 0}, "y differed"),
        ({"sample_weight": 1}, "sample_weight differed"),
    ],
)
def test_the_checkpoint_of_another_fit_is_refused_and_stays(stopper, tmp_path, change, said):
    X, Y = label_sets()
    path, settings = tmp_path / "fit", {"alpha": 0.01, "tol": 1e-4, "random_state": 0}
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
    path, model = tmp_path / "fit", StructuredSVM(LabelSets(), alpha=0.01, tol=1e-4)
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
    stopped_fit(
        stopper, path, StructuredSVM(LabelSets(), alpha=0.01, tol=1e-4, random_state=0), X, Y
    )
    StructuredSVM(LabelSets(), alpha=0.01, tol=1e-4, random_state=0, n_jobs=2).fit(
        X, Y, checkpoint=path
    )
    assert not path.exists()


def test_other_labels_that_are_objects_are_refused(stopper, tmp_path):
    X, names = label_sets()[0], np.arange(60) % 3
    days, others = ([datetime.date(2020, 1, 1 + day) for day in t] for t in (names, 2 - names))
    model = ExponentialFamily(Classes(), alpha=1e-4, random_state=0, fit_intercept=False)
    stopped_fit(stopper, tmp_path / "fit", model, X, days)
    with pytest.raises(ModelFileError, match="another fit: y differed"):
        model.fit(X, others, checkpoint=tmp_path / "fit")
    model.fit(X, days, checkpoint=tmp_path / "fit")


def test_a_search_cannot_share_a_path_and_is_told(stopper, tmp_path):
    X, Y = label_sets()
    model = StructuredSVM(LabelSets(), alpha=0.01, random_state=0, tol=1e-3)
    search = GridSearchCV(model, {"alpha": [0.1, 0.01]}, cv=2, refit=False, error_score="raise")
    stopped_fit(stopper, tmp_path / "fit", model.set_params(alpha=0.01), X[:30], Y[:30])
    with pytest.raises(ModelFileError, match="those of a search over parameters cannot share one"):
        search.fit(X, Y, checkpoint=tmp_path / "fit")


def test_a_kernel_that_numba_compiled(stopper, tmp_path):
    numba = pytest.importorskip("numba")
    X, Y = label_sets(n=30)
    kernels = [numba.njit(f) for f in (lambda A, B: A @ B.T, lambda A, B: 2 * (A @ B.T))]
    models = [
        StructuredSVM(LabelSets(), alpha=0.01, kernel=k, tol=1e-4, random_state=0) for k in kernels
    ]
    right = models[0].fit(X, Y).predict(X)  # compiles, too
    stopped_fit(stopper, tmp_path / "fit", models[0], X, Y)
    with pytest.raises(ModelFileError, match="another fit: kernel differed"):
        models[1].fit(X, Y, checkpoint=tmp_path / "fit")
    gone_on = models[0].fit(X, Y, checkpoint=tmp_path / "fit")
    np.testing.assert_array_equal(gone_on.predict(X), right)


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "text", "other kind"])
def test_what_cannot_be_read_is_refused_and_stays(stopper, tmp_path, damage):
    X, Y = label_sets()
    path, model = tmp_path / "fit", StructuredSVM(LabelSets(), alpha=0.01, tol=1e-4, random_state=0)
    whole = stopped_fit(stopper, path, model, X, Y)
    flipped = bytearray(whole)
    flipped[len(whole) // 3] ^= 1
    broken = {"cut": whole[:-9], "flipped": bytes(flipped), "empty": b"", "text": b"notes\n" * 99}
    if damage in broken:
        path.write_bytes(broken[damage])
    else:
        stopper.write(path, "model", {}, {})
    with pytest.raises(ModelFileError, match="Delete it to begin anew, or give another path"):
        model.fit(X, Y, checkpoint=path)
    assert path.read_bytes() == broken.get(damage, path.read_bytes())


# ---------------------------------------------------------------------- files
def test_quick_fits_write_nothing_and_other_files_stay(stopper, tmp_path):
    X, Y = label_sets()
    kept = {".fit.settings": b"mine", ".fit.abcdefghi": b"PK\3\4", "fit.abcdefgh": b"PK\3\4"}
    for name, content in {**kept, ".fit.abcd_fgh": b"PK\3\4 left by a kill"}.items():
        (tmp_path / name).write_bytes(content)
    StructuredSVM(LabelSets(), alpha=0.01).fit(X, Y, checkpoint=tmp_path / "fit")
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
    model = StructuredSVM(LabelSets(), alpha=0.01, random_state=0)
    with pytest.warns(UserWarning, match="could not be written.*No space"):
        saved = model.fit(X, Y, checkpoint=Checkpoint(tmp_path / "fit", every=0)).coef_
    np.testing.assert_array_equal(saved, model.fit(X, Y).coef_)


def test_a_finished_fit_is_not_lost_when_the_file_cannot_be_removed(monkeypatch, tmp_path):
    def denied(self, **_):
        raise PermissionError(13, "Permission denied", str(self))

    X, Y = label_sets(n=20)
    model = StructuredSVM(LabelSets(), alpha=0.01, random_state=0)
    monkeypatch.setattr(Path, "unlink", denied)
    with pytest.warns(UserWarning, match="could not be removed.*Permission denied"):
        model.fit(X, Y, checkpoint=Checkpoint(tmp_path / "fit", every=0))
    monkeypatch.undo()
    np.testing.assert_array_equal(
        model.coef_, StructuredSVM(LabelSets(), alpha=0.01, random_state=0).fit(X, Y).coef_
    )


def test_a_finished_fit_is_not_lost_when_the_folder_is_gone(monkeypatch, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.setattr(saving, "write_container", lambda *_: folder.exists() and folder.rmdir())
    X, Y = label_sets(n=20)
    model = StructuredSVM(LabelSets(), alpha=0.01, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, Y, checkpoint=Checkpoint(folder / "fit", every=0))
    assert not folder.exists()
    assert model.predict(X).shape == Y.shape


def test_wrong_arguments(tmp_path):
    X, Y = label_sets(n=10)
    model = StructuredSVM(LabelSets(), alpha=0.01)
    with pytest.raises(TypeError, match="checkpoint is the path of a file"):
        model.fit(X, Y, checkpoint=3)
    with pytest.raises(ValueError, match="every is a number of seconds"):
        Checkpoint("fit", every=-1)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        model.fit(X, Y, checkpoint=tmp_path / "none" / "fit")
    with pytest.raises(ValueError, match="got an empty one"):
        model.fit(X, Y, checkpoint="")
    for folder in (tmp_path, "."):
        with pytest.raises(IsADirectoryError, match="is a folder") as error:
            model.fit(X, Y, checkpoint=folder)
        assert "elete" not in str(error.value)


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


def test_lbfgs_goes_on_from_any_step_to_the_same_bits():
    settings, start = {"tol": 1e-9, "max_iter": 200}, np.zeros(6)
    right, states = lbfgs(Bowl(), start, **settings), []

    class Shelf(type(NOWHERE)):
        def reached(self, **state):
            states.append(saving.plain(state, copied=True))

    first = Bowl()
    lbfgs(first, start, level=Shelf(), **settings)
    for state in states[:-1]:
        shelf, bowl = Shelf(), Bowl()
        shelf.found = state
        found = lbfgs(bowl, start, level=shelf, **settings)
        assert found.theta.tobytes() == right.theta.tobytes()
        assert bowl.n_asked == first.n_asked - state["descent"]["n_calls"]


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
    import pandas

    day, names = datetime.date(2020, 1, 1), ["a", "b"]
    masked = [np.ma.array([1, 2], mask=mask) for mask in ([0, 1], [1, 0])]
    return [
        (day, datetime.date(2020, 1, 2)),
        (datetime.timedelta(1), datetime.timedelta(2)),
        (decimal.Decimal("1.0"), decimal.Decimal("1.1")),
        (fractions.Fraction(1, 2), fractions.Fraction(1, 3)),
        (uuid.UUID(int=1), uuid.UUID(int=2)),
        (Path("a"), Path("b")),
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
        ({1: 2}.items(), {1: 3}.items()),
        (re.compile("a"), re.compile("b")),
        (functools.cache(lambda x: x + 1), functools.cache(lambda x: x + 2)),
        (np.ma.array([1, 2], mask=[0, 1]), np.ma.array([1, 3], mask=[0, 1])),
        (np.zeros(1, [("a", "i4"), ("b", "f4")]), np.zeros(1, [("a", "f4"), ("b", "i4")])),
        tuple(pandas.Timestamp("2020-01-01").tz_localize(zone) for zone in ("UTC", None)),
        (pandas.Series(names, dtype="category"), pandas.Series(names)),
    ]


@pytest.mark.parametrize(("one", "other"), _pairs_that_differ(), ids=lambda v: type(v).__name__)
def test_values_that_differ_have_other_digests(one, other):
    assert digest(one) != digest(other)
    with suppress(TypeError):  # views cannot be copied
        assert digest([one]) == digest([copy.deepcopy(one)])


@pytest.mark.parametrize(
    "value",
    [(n for n in [1]), threading.Lock(), np.frompyfunc(lambda a: a, 1, 1)],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_be_told_apart_is_refused(value):
    with pytest.raises(ModelFileError, match=r"cannot tell one .* fit without a checkpoint"):
        digest([value])


def test_walks_that_do_not_end_are_refused(monkeypatch):
    chain = None
    for _ in range(10_000):
        chain = [chain]
    with pytest.raises(ModelFileError, match="cannot tell one list"):
        digest(chain)
    many = [Slotted(number) for number in range(40)]
    digest(many)
    monkeypatch.setattr(digests, "MOST_OBJECTS", 30)
    with pytest.raises(ModelFileError, match="cannot tell one Slotted"):
        digest(many)


def test_what_lies_between_fields_does_not_count():
    padded = np.dtype([("a", "i1"), ("b", "f8")], align=True)
    one, other = (np.full(padded.itemsize, fill, np.uint8).view(padded) for fill in (0, 255))
    for name in padded.names:
        one[name] = other[name] = 1
    assert one.tobytes() != other.tobytes()
    assert digest(one) == digest(other)


def test_each_object_is_entered_once():
    """Else the last of these would take as long as 2**200 lists."""
    tower = same = [Slotted(1)]
    for _ in range(200):
        tower, same = [tower, tower], [same, copy.copy(same)]
    assert digest(tower) == digest(same)


FACTOR, shape = 1.0, 3  # one that functions use, and the name of an attribute


def halved(x):
    return x / 2


def recursive(n):
    return FACTOR * n if n < 2 else recursive(n - 1)


USERS = {
    "plain": lambda x: FACTOR * x,
    "inner": lambda x: [FACTOR * part for part in x],
    "through a function": lambda x: recursive(x),
    "numpy": lambda x: np.exp(FACTOR * x),
    "library": lambda A, B: rbf_kernel(A, B, FACTOR),
}


@pytest.mark.parametrize("user", USERS.values(), ids=USERS)
def test_values_that_functions_use_count(user, monkeypatch):
    before = digest(user)
    monkeypatch.setitem(globals(), "FACTOR", 1.5)
    assert digest(user) != before
    monkeypatch.setitem(globals(), "FACTOR", 1.0)
    assert digest(user) == before


def test_functions_that_functions_use_count(monkeypatch):
    def user(x):
        return halved(x.shape)

    before = digest(user)
    monkeypatch.setitem(globals(), "shape", 4)
    assert digest(user) == before
    monkeypatch.setitem(globals(), "halved", lambda x: x / 3)
    assert digest(user) != before


def test_a_variable_around_a_function_that_has_no_value_yet():
    def outer():
        def inner():
            return later

        empty = digest(inner)
        later = 1
        return empty, digest(inner)

    assert len(set(outer())) == 2
