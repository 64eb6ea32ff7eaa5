# SPDX-License-Identifier: BSD-3-Clause
"""Model files made by an enemy, checksums in order: refused in time, with no code run.

Every file is read in a process of its own, with a limit on memory and a hook that hears of code
being compiled or run, files being written and connections. Reading takes at most 2 seconds and
twice the memory of the cap that it is given, whether the file is refused or not. A file that is
read after all, as a different but sound model may be, must also predict without bringing the
interpreter down. First six planted bugs are tried, which the harness must catch.

    python reliability/hostile_models.py --files 2000 --seed 0
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import faulthandler
import json
import os
import platform
import resource
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from functools import partial
from importlib import import_module
from importlib.metadata import version
from itertools import chain, count, islice
from pathlib import Path
from unittest.mock import patch

import numpy as np
from flip_models import answers, make_models
from growing_models import chained, copied, growing_nodes, stretched, with_nodes
from hostile_files import drawn_attack, node_attacks, zip_attacks

from skstruct._files.container import read_container, write_container
from skstruct.exceptions import ModelFileError
from skstruct.persistence import load_model, save_model
from skstruct.persistence.budget import Budget
from skstruct.persistence.names import class_named, known_names

CAP = 64 * 2**20  # the size cap that files are read with
SECONDS = 2.0  # that reading may take
PATIENCE = 20  # seconds of work until a child is ended
WAITING = 600  # seconds until one is that does not work: others may be busy here
FORBIDDEN = ("exec", "compile", "os.system", "os.exec", "os.posix_spawn", "subprocess.Popen",
             "os.remove", "os.rename", "os.mkdir", "os.chmod", "shutil.rmtree", "ctypes.dlopen",
             "pickle.find_class", "marshal.loads", "webbrowser.open")  # fmt: skip
OUR_OWN = ("importlib", "/numba/", "threadpoolctl", "/joblib/")
BY_HAND = "by hand: "
FAMILIES = ("nodes", "copies", "stretches")  # of files that grow
BATCH = 20  # files that one process reads, if it lives


# ---------------------------------------------------------------------- one file, one process
def load(path, mmap=False):
    """The reader, with the size cap of these trials."""
    return load_model(path, max_bytes=CAP, mmap=mmap)


def verdicts(files, load=load, seconds=SECONDS) -> list[str]:
    """What became of (path, inputs) pairs, read in a process of their own, or in several.

    A process that ends has one file on its conscience; the files after it get another process.
    So does a file that found no memory, of which files before it may have left too little.
    """
    found = _told(files, load, seconds)
    if len(files) > 1:
        again = [i for i, word in enumerate(found) if word.startswith("GREEDY")]
        for i in again:
            found[i] = verdict(*files[i], load, seconds)
    return found


def _told(files, load, seconds):
    found: list[str] = []
    while len(found) < len(files):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            _read_in_child(files[len(found) :], load, seconds, writer)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            lines = pipe.read().decode().splitlines()
        status = os.waitpid(child, 0)[1]
        found += [line[2:] for line in lines if line.startswith("= ")]
        if len(found) < len(files) and not (lines and lines[-1].startswith("= RUNS")):
            found.append(_ended(status, lines[-1] if lines else "nothing"))
    return found


def verdict(path, X, load=load, seconds=SECONDS) -> str:
    """What became of one file."""
    return verdicts([(path, X)], load, seconds)[0]


def _ended(status, doing):
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        late = number in (signal.SIGPROF, signal.SIGALRM)
        return f"HANGS {doing}" if late else f"DIES of {number} {doing}"
    return f"ENDS with {os.waitstatus_to_exitcode(status)} {doing}"


def _is_our_own() -> bool:
    """Whether a module is imported, a kernel of ours compiled, or threads are counted."""
    frame = sys._getframe(2)
    while frame is not None:
        if any(word in frame.f_code.co_filename for word in OUR_OWN):
            return True
        frame = frame.f_back
    return False


def _read_in_child(files, load, seconds, writer):
    """Never returns; tells what happens line by line."""

    def tell(word):
        os.write(writer, f"{word}\n".encode())

    def hear(event, arguments):
        mode = arguments[1] if event == "open" else None
        writes = isinstance(mode, str) and set(mode) & set("wax+")
        heard = event in FORBIDDEN or event.startswith("socket.") or writes
        if heard and not _is_our_own():
            tell(f"= RUNS {event} {' '.join(str(arguments).split())[:80]}")
            os._exit(0)

    faulthandler.disable()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    for late in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(late, signal.SIG_DFL)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + 2 * CAP
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    sys.addaudithook(hear)
    for path, X in files:
        signal.setitimer(signal.ITIMER_PROF, PATIENCE)
        signal.alarm(WAITING)
        tell("reading")
        try:
            tell(f"= {_read(path, X, load, seconds, tell)}")
        except BaseException as error:
            tell(f"= RAISES {type(error).__name__} {' '.join(str(error).split())[:100]}")
    os._exit(0)


def _read(path, X, load, seconds, tell):
    """Read one file, and use the model if there is one."""
    start = time.process_time()
    try:
        model = load(path)
    except ModelFileError as error:
        model = None
        if _lacked_memory(error):
            return "GREEDY"
    spent = time.process_time() - start
    if spent > seconds:
        return f"SLOW {spent:.1f} s"
    if model is None:
        return "refused"
    tell("predicting")
    _use(model, X)
    return "read"


def _lacked_memory(error) -> bool:
    """Whether it was the limit of this process that ended reading, and not the reader."""
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        error = error.__context__
    return False


# ---------------------------------------------------------------------- all of them
def warm_models() -> dict:
    """The models, after all that is imported and compiled once has been."""
    for name in known_names():
        class_named(name)
    for module in ("pandas", "sklearn.metrics.pairwise"):
        import_module(module)
    networkx = import_module("networkx")
    for kind in (networkx.Graph, networkx.DiGraph):
        kind([(0, 1)])
    models = make_models()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model, X in models.values():
            _use(copy.deepcopy(model), X)
    return models


def _use(model, X):
    """Ask for everything that a model may know."""
    asked = (
        lambda: answers(model, X),
        lambda: model.kbest(X, 2),
        lambda: model.explain(X),
        lambda: model.partial_fit(X, model.predict(X)),
    )
    for ask in asked:
        with contextlib.suppress(Exception):  # a model that cannot answer harms nobody
            ask()


def attacks(models, n_drawn, seed, folder):
    """(name, path, inputs of the model it was made of) for all files, one after the other."""
    rng, sound, paths = np.random.default_rng(seed), {}, _numbered(Path(folder))
    for name, (model, X) in models.items():
        path = next(paths)
        save_model(model, path)
        sound[name] = *read_container(path, "model"), X
    manifest, _, X = next(iter(sound.values()))
    for name, content in zip_attacks(manifest).items():
        path = next(paths)
        path.write_bytes(content)
        yield f"{BY_HAND}{name}", path, X
    for name, manifest, arrays, X in chain(_made_by_hand(sound), _drawn(sound, n_drawn, rng)):
        path = next(paths)
        try:
            write_container(path, "model", manifest, arrays)
        except (ModelFileError, ValueError):  # no such file can be
            continue
        yield name, path, X


def _made_by_hand(sound):
    manifest, arrays, X = next(iter(sound.values()))
    for name, changed in node_attacks(manifest).items():
        yield f"{BY_HAND}{name}", changed, arrays, X


def _drawn(sound, n_drawn, rng):
    for i in range(n_drawn):
        name = list(sound)[i % len(sound)]
        manifest, arrays, X = sound[name]
        words, changed, others = drawn_attack(manifest, arrays, rng)
        yield f"{name}: {words}", changed, others, X


def growing(models, folder, families=FAMILIES):
    """The same for files that grow: they may be read, if they take no more than they may."""
    paths = _numbered(Path(folder))
    for number, (model_name, (model, X)) in enumerate(models.items()):
        path = next(paths)
        save_model(model, path)
        manifest, arrays = read_container(path, "model")
        made = []
        if "nodes" in families and number == 0:
            for name, nodes in growing_nodes().items():
                made.append((name, *with_nodes(manifest, arrays, nodes)))
        made += copied(manifest, arrays) if "copies" in families else []
        made += stretched(manifest, arrays) if "stretches" in families else []
        made += chained(manifest, arrays) if "stretches" in families else []
        for name, changed, others in made:
            path = next(paths)
            write_container(path, "model", changed, others)
            yield f"{model_name}: {name}", path, X


def _numbered(folder):
    return (folder / f"{i}.skstruct" for i in count())


def run(make, load=load, tell=None, keep=None, seconds=SECONDS) -> tuple[Counter, list]:
    """Verdicts on all files that ``make(folder)`` gives, and the failures by name."""
    found, failed = Counter(), []
    # Nobody cuts the power here: files need not reach the disk.
    with tempfile.TemporaryDirectory() as folder, patch("os.fsync"):
        files = make(folder)
        while batch := list(islice(files, BATCH)):
            words = verdicts([(path, X) for _, path, X in batch], load, seconds)
            for (name, path, _), word in zip(batch, words):
                found[word.split(" ")[0]] += 1
                # Changes by chance may give another model, which is read; those by hand not.
                if word != "refused" and (word != "read" or name.startswith(BY_HAND)):
                    failed.append((name, word))
                    if keep is not None:
                        shutil.copy(path, keep / f"{len(failed)}.skstruct")
                    if tell is not None:
                        tell(f"{word:40} {name}")
                path.unlink()
    return found, failed


def planted(models) -> dict[str, bool]:
    """Whether each of six bugs, planted in the reader, is caught."""

    def wrong_error(path):
        raise KeyError(path)

    def slow(path):
        start = time.process_time()
        while time.process_time() < start + 1.2 * SECONDS:
            pass
        raise ModelFileError("late")

    def runs(path):
        exec("1 + 1")

    caught = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        model, X = models["forest"]
        save_model(model, path)
        for word, load in (("RAISES", wrong_error), ("SLOW", slow), ("RUNS", runs)):
            caught[word] = verdict(path, X, load).startswith(word)
        manifest, arrays = read_container(path, "model")
        manifest["rehearsal"] = None
        entry = next(e for e in manifest["objects"] if e.get("class") == "sklearn.Tree")
        columns = dict(zip(*entry["state"]["columns"]["dict"]))
        name = columns["left_child"]["array"]
        arrays[name] = np.where(arrays[name] > 0, 2**40, arrays[name])
        write_container(path, "model", manifest, arrays)
        with patch("skstruct.persistence.scikit_learn._check_paths", lambda *_: None):
            caught["DIES"] = verdict(path, X).startswith("DIES")
        caught["and not without it"] = verdict(path, X) == "refused"
        caught |= _planted_budgets(path, *models["forest"])
    return caught


def _planted_budgets(path, model, X):
    """Whether a reader that counts no memory, or no work, is caught."""
    caught, nodes = {}, growing_nodes()
    bugs = (("GREEDY", "take", "lists of one array"), ("SLOW", "work", "doubled tuples, many keys"))
    for word, method, name in bugs:
        save_model(model, path)
        write_container(path, "model", *with_nodes(*read_container(path, "model"), nodes[name]))
        with patch.object(Budget, method, lambda *_: None):
            caught[f"{word} without {method}"] = verdict(path, X).startswith((word, "HANGS"))
        caught[f"{word}, and not without it"] = verdict(path, X) == "refused"
    return caught


def main(arguments=None) -> int:
    """Run it; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--files", type=int, default=2000, help="drawn files, besides the others")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="a folder for the files that failed")
    options = parser.parse_args(arguments)
    models = warm_models()
    caught = planted(models)
    print(f"planted bugs: {caught}")
    found, failed = Counter(), []
    mapped = partial(load, mmap=True)
    for kind, make, reader in (
        ("turned against the reader", partial(attacks, models, options.files, options.seed), load),
        ("that are mapped", partial(attacks, models, options.files, options.seed + 1), mapped),
        ("that grow", partial(growing, models), load),
    ):
        some, wrong = run(make, load=reader, tell=print, keep=options.keep)
        print(f"{sum(some.values())} files {kind}: {dict(some)}")
        found, failed = found + some, failed + wrong
    versions = {name: version(name) for name in ("skstruct", "numpy", "scikit-learn")}
    summary = {"tried": sum(found.values()), "failed": len(failed), "verdicts": dict(found),
               "planted_bugs_caught": all(caught.values()), "seed": options.seed,
               "versions": versions | {"python": platform.python_version()}}  # fmt: skip
    print(json.dumps(summary))
    return int(bool(failed) or not all(caught.values()))


if __name__ == "__main__":
    sys.exit(main())
