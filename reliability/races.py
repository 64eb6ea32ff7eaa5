# SPDX-License-Identifier: BSD-3-Clause
"""Two processes at one file at the same time: whole files, right answers, or one clear loser.

    python reliability/races.py [--cases 1000] [--minutes M] [--seed 0]

Both begin at the same moment; each is held up at random before calls of the file system, so that
they meet at other places in every case. They save models, read them, reload them as a server does,
fit with one checkpoint, predict to one file or folder, or fit a model that the other predicts by.
What is read, and what is left, must be that of one of the two, never a mixture, and nothing else
may be left; who loses gets an error that a user can read. A writer in place, and parts that come
into a folder one by one, have to be caught first.
"""

import contextlib
import functools
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: children are forked

import numpy as np
from checkpoint_cases import label_sets, learned, outcome
from children import MEMORY, PATIENCE, Child, watching
from summary import Tries, arguments, finish

from skstruct import ConditionalRiskMinimizer, StructuredSVM, load_model, save_model
from skstruct._files import container
from skstruct.learners import Checkpoint
from skstruct.serving.copies import Copies
from skstruct.serving.models import Models
from skstruct.spaces import LabelSets
from skstruct.streaming import ArraySource, writing

X = np.linspace(0.0, 3.0, 40)[:, None]
MODELS = [
    ConditionalRiskMinimizer(alpha=1.0).fit(X, [names[int(x > 1.5)] for (x,) in X])
    for names in (("a", "b"), ("c", "d"))
]
ANSWERS = [model.predict(X).tolist() for model in MODELS]
TURNS = 4  # that one of two takes in one case


def who(model):
    """The number of a model by what it predicts; an error if it is none of the two."""
    found = model.predict(X).tolist()
    if found not in ANSWERS:
        raise AssertionError("a mixture was read")
    return str(ANSWERS.index(found))


# One of two, as functions of the folder and the number of the process.


def save(folder, me):
    for turn in range(TURNS):
        save_model(MODELS[(me + turn) % 2], folder / "m.model")
    return "saved"


def load(folder, me):
    return "read " + "".join(who(load_model(folder / "m.model")) for _ in range(TURNS))


def map_file(folder, me):
    return "read " + "".join(who(load_model(folder / "m.model", mmap=True)) for _ in range(TURNS))


def reload(folder, me):
    """As a server with several processes does, which share a folder of copies."""
    (folder / "copies").mkdir(exist_ok=True)
    models = Models({"m": str(folder / "m.model")}, copies=Copies(str(folder / "copies")))
    for _ in range(TURNS):
        models.refresh()
        who(models.get("m").learner)
    loaded = models.by_name["m"]
    return "read" if loaded.error is None else f"failed: {loaded.error}"


def same_fit(folder, me):
    return outcome("perceptron", Checkpoint(folder / "fit", every=0))


def other_fit(folder, me):
    """Two fits that must not share a checkpoint."""
    model = StructuredSVM(LabelSets(), alpha=[1e-2, 5e-3][me], tol=1e-2, random_state=0)
    rows, sets = label_sets(n=20)
    model.fit(rows, sets, checkpoint=Checkpoint(folder / "fit", every=0))
    return learned(model, rows)


def predict(folder, me):
    name = folder / "out.csv"
    columns = {"answer": MODELS[me].predict(X)}
    writing.write_batches([columns] * TURNS, name)
    return "written"


def parts(folder, me):
    source = ArraySource(X)
    name = folder / "parts"
    writing.predict_partitions(lambda b: {"a": MODELS[me].predict(b.X)}, source, name, count=3)
    return "written"


KINDS = {
    "save, save": (save, save),
    "save, load": (save, load),
    "save, map": (save, map_file),
    "save, reload": (save, reload),
    "reload, reload": (reload, reload),
    "same fit": (same_fit, same_fit),
    "other fit": (other_fit, other_fit),
    "predict, predict": (predict, predict),
    "parts, parts": (parts, parts),
}
LOSERS = {  # who may lose, and what is said then
    "other fit": ("ModelFileError", "is the checkpoint of another fit"),
    "parts, parts": ("FileExistsError", "is not empty"),
}


def alone():
    """What fits end with that nobody disturbs."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        fits = [same_fit(Path(folder), 0), other_fit(Path(folder), 0), other_fit(Path(folder), 1)]
    return {"same fit": fits[:1] * 2, "other fit": fits[1:]}


def race(kind, rng, right, counts):
    """Let two run; what was wrong, or None."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        folder = Path(name)
        save_model(MODELS[0], folder / "m.model")
        start = time.monotonic() + 0.01
        works = [
            functools.partial(held_up, work, folder, me, rng.random(), start)
            for me, work in enumerate(KINDS[kind])
        ]
        children = [Child(work) for work in works]
        answers = [child.answer(PATIENCE) or "failed: it hangs" for child in children]
        for child in children:
            child.send(9)
            child.end()
        if why := wrong_answer(kind, answers, right, counts):
            return why
        return wrong_file(kind, folder, answers)


def held_up(work, folder, me, seed, start):
    """Run one of the two, which sleeps before some of its calls."""
    rng = random.Random(seed)
    mean = rng.choice((0.0, 0.001, 0.004))

    def hold(name):
        if mean and rng.random() < 0.3:
            time.sleep(rng.expovariate(1 / mean))

    time.sleep(max(0.0, start - time.monotonic()))
    with watching(hold):
        return work(folder, me)


def wrong_answer(kind, answers, right, counts):
    lost = [answer for answer in answers if answer.startswith("failed")]
    counts["losers"] += len(lost)
    for answer in lost:
        if not all(words in answer for words in LOSERS.get(kind, ("no loser is allowed",))):
            return answer
    if len(lost) == 2:
        return f"both have lost: {answers}"
    for answer, expected in zip(answers, right.get(kind, answers)):
        if answer not in lost and answer != expected:
            return "other bits than alone"
    return None


def wrong_file(kind, folder, answers):
    """What is left in the folder."""
    who(load_model(folder / "m.model"))
    left = {path.name for path in folder.iterdir()} - {"m.model", "out.csv", "parts", "copies"}
    if left:
        return f"{sorted(left)} is left"
    if kind == "predict, predict":
        lines = (folder / "out.csv").read_text().split()[1:]
        return None if lines in [4 * answer for answer in ANSWERS] else "a mixture was written"
    if kind == "parts, parts":
        from pyarrow import dataset

        found = dataset.dataset(folder / "parts").to_table()["a"].to_pylist()
        return None if found in ANSWERS else "parts of both are left"
    return None


@contextlib.contextmanager
def in_place():
    """Planted: the file itself is written to."""

    @contextlib.contextmanager
    def slowly(path, mode):
        with open(path, mode, buffering=0) as file:
            yield file
            time.sleep(0.005)

    right, container.replacing = container.replacing, slowly
    try:
        yield
    finally:
        container.replacing = right


@contextlib.contextmanager
def one_by_one():
    """Planted: parts are moved one after another; the two meet after the first one of each."""
    meeting = Path(tempfile.mkdtemp())

    def finish(unfinished, folder, names):
        here = meeting / folder.parent.name
        here.mkdir(exist_ok=True)
        with contextlib.suppress(FileExistsError):
            (here / "second").mkdir() if (here / "first").exists() else (here / "first").mkdir()
        names = names[::-1] if (here / "second").exists() else names
        until = time.monotonic() + 5.0
        for name in names:
            os.replace(os.path.join(unfinished, name), folder / name)
            (here / str(os.getpid())).touch()
            while len(os.listdir(here)) < 4 and time.monotonic() < until:
                time.sleep(0.001)

    kept = writing._finish, writing._check_empty
    writing._finish, writing._check_empty = finish, lambda folder: None
    try:
        yield
    finally:
        writing._finish, writing._check_empty = kept
        shutil.rmtree(meeting)


PLANTED = {"in place": (in_place, "save, load"), "one by one": (one_by_one, "parts, parts")}


def tried(kind, seed, number, right, counts):
    try:
        return race(kind, random.Random(f"{seed} {number}"), right, counts)
    except (AssertionError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


def planted(seed, right):
    """What is found with every planted bug; None where it was not caught."""
    caught = {}
    for name, (bug, kind) in PLANTED.items():
        with bug():
            found = (tried(kind, seed, number, right, Counter()) for number in range(40))
            caught[name] = next(filter(None, found), None)
        print(f"planted bug, {name}: {caught[name] or 'NOT CAUGHT'}", flush=True)
    return caught


def main():
    given = arguments(__doc__, 1000)
    right = alone()
    caught, tries, counts, names = planted(given.seed, right), Tries(given), Counter(), list(KINDS)
    for number in tries:
        kind = names[number % len(names)]
        why = tried(kind, given.seed, number, right, counts)
        if why:
            tries.fail(number, f"{kind}: {why}", f"--seed {given.seed}; times differ")
    return finish("races", tries.counts(planted_caught=all(caught.values()), **counts))


if __name__ == "__main__":
    sys.exit(main())
