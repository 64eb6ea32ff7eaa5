# SPDX-License-Identifier: BSD-3-Clause
"""The same labels with other threads, batches, orders, BLAS, processes, locales and hash seeds.

    python reliability/determinism.py [--cases 50000] [--minutes M] [--seed 0]

A case is a predicted row in one setting, compared with the same row as usual. Learners of
learner_cases.py are fitted on rows that tie. First a learner that looks at the rows beside, and
one that walks a set, must be caught. What may differ stands in determinism_exceptions.json with
the reason and a case that has shown it. With many cases all of these are tried once more: one that
shows no difference on the kind of machine where it did is a failure.
"""

import contextlib
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections import Counter
from functools import cached_property
from itertools import count
from pathlib import Path

import determinism_worker
from summary import Tries, arguments, finish

FOLDER = Path(__file__).parent
EXCEPTIONS = FOLDER / "determinism_exceptions.json"
# Kernels of OpenBLAS that run on every processor of a kind.
OLD_KERNELS = {"aarch64": ("ARMV8", "CORTEXA57"), "x86_64": ("Prescott", "Nehalem")}
ENOUGH = 10_000  # cases from which exceptions are tried once more
LOCALES = {"German": "de_DE", "Turkish": "tr_TR"}
USUAL = {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8"} | dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)


class Worker:
    """A process in an environment of its own that answers cases."""

    def __init__(self, way, **environment):
        command = [sys.executable, str(FOLDER / "determinism_worker.py"), way]
        known = {name: value for name, value in os.environ.items() if name[:3] != "LC_"}
        known.pop("PYTHONDONTWRITEBYTECODE", None)  # a dozen processes start
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
            env=known | USUAL | environment,
        )  # fmt: skip

    @cached_property
    def about(self):
        """What the process says of itself once it has begun; None where it has not."""
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def ask(self, seed, number):
        """Set it to work at a case."""
        assert self.about is not None, "the process did not start"  # its first line is read
        with contextlib.suppress(BrokenPipeError):  # ``answer`` says that it has ended
            self.process.stdin.write(f"{seed} {number}\n")
            self.process.stdin.flush()

    def answer(self):
        """Predictions by setting, or an error."""
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"error": [f"ended by {self.process.wait()}"]}

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)


def make_locales(folder):
    """Compile locales that this machine has only in source; their variables by name."""
    made = {}
    for name, code in LOCALES.items():
        target = Path(folder) / f"{code}.UTF-8"
        command = ["localedef", "-i", code, "-f", "UTF-8", str(target)]
        try:
            subprocess.run(command, check=False, capture_output=True)
        except FileNotFoundError:
            continue
        if target.exists():
            made[name] = {"LOCPATH": str(folder), "LC_ALL": target.name}
    return made


def make_blas(folder):
    """Compile plain_blas.c; what to load before NumPy, or None without a compiler."""
    library = Path(folder) / "plain_blas.so"
    command = ["cc", "-O1", "-shared", "-fPIC", str(FOLDER / "plain_blas.c"), "-o", str(library)]
    try:
        done = subprocess.run(command, check=False, capture_output=True)
    except FileNotFoundError:
        return None
    return {"LD_PRELOAD": str(library)} if done.returncode == 0 else None


def start(folder):
    """Workers by setting, and settings that cannot be tried here, with the reason."""
    threads = dict.fromkeys([name for name in USUAL if name.endswith("THREADS")], "2")
    asked = {
        "2 threads": ("plain", threads),
        "hash seed 1": ("plain", {"PYTHONHASHSEED": "1"}),
        "hash seed 2": ("plain", {"PYTHONHASHSEED": "2"}),
        "fork": ("fork", {}),
        "spawn": ("spawn", {}),
    }
    old = OLD_KERNELS.get(platform.machine(), ())
    asked |= {f"BLAS kernels {name}": ("plain", {"OPENBLAS_CORETYPE": name}) for name in old}
    asked |= {f"{name} locale": ("plain", more) for name, more in make_locales(folder).items()}
    own = make_blas(folder)
    asked |= {"other BLAS": ("plain", own)} if own else {}
    workers = {"plain": Worker("plain"), "varied": Worker("varied")}
    begun = {name: Worker(way, **more) for name, (way, more) in asked.items()}
    usual, missing = workers["plain"].about, {}
    assert usual is not None, "no worker can start"
    assert workers["varied"].about is not None, "no worker can start"
    for name, worker in begun.items():
        reason = not_in_effect(name, worker.about, usual)
        if reason:
            missing[name] = reason
            worker.close()
        else:
            workers[name] = worker
    wanted = ["other BLAS", *(f"{name} locale" for name in LOCALES)]
    missing |= {name: "no tool to make it" for name in wanted if name not in asked}
    missing |= {} if old else {"BLAS kernels": f"none known for {platform.machine()}"}
    return workers, missing


def not_in_effect(name, about, usual):
    """Why a setting changes nothing here; empty where it does."""
    if about is None:
        return "the process did not start"
    if name.startswith("BLAS kernels") and about["kernels"] == usual["kernels"]:
        return "the kernels are those that are used anyway, or the library has no others"
    if name == "other BLAS" and not about["plain_blas_calls"]:
        return "NumPy calls a library with other names"
    if name.endswith("locale") and about["point"] != ",":
        return "the locale is not taken"
    if name.startswith("hash") and about["hash"] == usual["hash"]:
        return "the seed is not taken"
    return ""


def compared(workers, seed, number):
    """Settings with how many rows each has, how many differ, and the first that does."""
    others = {name: worker for name, worker in workers.items() if name != "plain"}
    workers["plain"].ask(seed, number)
    usual = workers["plain"].answer()  # once it has compiled and kept, the others need not
    for worker in others.values():
        worker.ask(seed, number)
    for name, found in {name: worker.answer() for name, worker in others.items()}.items():
        base = found if name == "varied" else usual
        for setting, rows in found.items():
            expected = base.get("plain", ["no answer"])
            kept = name if name != "varied" else setting
            if name == "varied" and setting == "plain":  # two processes alike
                kept, expected = "another process", usual.get("plain", [])[: len(rows)]
            wrong = [(a, b) for a, b in zip(rows, expected) if a != b]
            wrong += [("rows", "no rows")] * (len(rows) != len(expected))
            yield kept, len(rows), wrong


def read_exceptions(path=EXCEPTIONS):
    """Where exceptions were seen: (learner, setting) with its seed, its number and the machine."""
    read = json.loads(path.read_text(encoding="utf-8"))
    return {
        (name, setting): (*case, read["machine"])[:3]  # a case may name a machine of its own
        for one in read["exceptions"]
        for name, settings in one["seen"].items()
        for setting, case in settings.items()
    }


def shown_no_more(workers, seen):
    """Exceptions whose own case shows no difference any more, and where it did."""
    cases = {(seed, number) for seed, number, _ in seen.values()}
    here = {
        case: {setting for setting, _, wrong in compared(workers, *case) if wrong}
        for case in sorted(cases)
    }
    for (name, setting), (seed, number, machine) in seen.items():
        same = determinism_worker.name_of(number) == name
        if not (same and setting in here[seed, number]):
            yield name, setting, seed, number, machine


def planted_are_caught(workers, seed):
    caught = [
        {s for s, _, wrong in compared(workers, seed, number) if wrong} for number in (-1, -2)
    ]
    return "one by one" in caught[0] and "hash seed 1" in caught[1]


def judge(workers, tries, allowed, seed, first=0):
    """Cases until there are enough; rows compared and exceptions met, by setting."""
    rows, met = Counter(), Counter()
    for number in count(first):
        if tries.tried >= tries.given.cases or tries.over:
            return rows, met
        name = determinism_worker.name_of(number)
        for setting, n, wrong in compared(workers, seed, number):
            tries.tried += n
            rows[setting] += n
            if wrong and (name, setting) in allowed:
                met[f"{name}: {setting}"] += len(wrong)
            elif wrong:
                why = f"{name}, {setting}: {len(wrong)} of {n} rows differ, first {wrong[0]}"
                print(f"case {number}: {why}", file=sys.stderr, flush=True)
                tries.fail(number, why, f"--seed {seed} --first {number} --cases 1")
    return rows, met


def main():
    first = ("--first", {"type": int, "default": 0, "help": "number of the first case"})
    given = arguments(__doc__, 50_000, first)
    seen = read_exceptions()
    with tempfile.TemporaryDirectory() as folder:
        workers, missing = start(folder)
        try:
            caught = planted_are_caught(workers, given.seed)
            tries = Tries(given)
            rows, met = judge(workers, tries, seen, given.seed, given.first)
            # Elsewhere other bits decide: there what is no longer shown is only listed.
            tried = {pair: case for pair, case in seen.items() if pair[1] not in missing}
            gone = [*shown_no_more(workers, tried)] if given.cases >= ENOUGH else []
            for name, setting, seed, number, machine in gone:
                if machine == platform.machine():
                    again = f"--seed {seed} --first {number} --cases 1"
                    tries.fail(number, f"no exception any more: {name}, {setting}", again)
        finally:
            for worker in workers.values():
                worker.close()
    more = {"rows_by_setting": rows, "exceptions_met": met, "not_checked": missing}
    more |= {"exceptions": len(seen), "exceptions_not_shown": gone}
    more |= {"learners": len(determinism_worker.CASES)}
    return finish("determinism", tries.counts(planted_caught=caught, **more))


if __name__ == "__main__":
    sys.exit(main())
