# SPDX-License-Identifier: BSD-3-Clause
"""Power cuts and full disks while files are written: the old file or the new one, always whole.

    python reliability/power_cuts.py [--cases 300] [--minutes M] [--seed 0]

A case writes a file, or a folder of parts, once or several times, by one of all writers of the
library. Every call to the file system is recorded. Then the power is cut after each of them: of all
states that it may leave (power_states.py), some hundreds each, every one must hold the old content
or the new one, and the new one once the writer has come back. After that each call fails once: no
space for a file or a write, an error of the disk at fsync or rename. There must be an error, the
old content, and no other file. Six writers with a bug have to be caught first.
"""

import errno
import os
import random
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

from file_writers import BUGS, WRITERS
from power_states import Disk
from recorded_files import Recorder
from summary import Tries, arguments, finish

MOST_STATES = 200  # after one call
ERRORS = {
    "open": (errno.ENOSPC, errno.EMFILE, errno.EROFS),
    "write": (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG),
    "fsync": (errno.EIO, errno.ENOSPC),
    "rename": (errno.EIO, errno.ENOSPC, errno.EACCES),
    "mkdir": (errno.ENOSPC, errno.EACCES),
    "chmod": (errno.EPERM, errno.EROFS),
}


def tree(folder):
    """Bytes and modes by name; None for a folder."""
    found = {}
    for path in sorted(Path(folder).rglob("*")):
        plain = not path.is_dir()
        mode = path.stat().st_mode & 0o7777
        found[str(path.relative_to(folder))] = (path.read_bytes(), mode) if plain else None
    return found


def of_target(files, name):
    """What a tree has under a name: a file, or all files of a folder."""
    if files.get(name) is not None:
        return files[name]
    return tuple(
        sorted((path, what) for path, what in files.items() if path.startswith(name + "/"))
    )


class Case:
    """One writer that writes once or several times, and what may go wrong meanwhile."""

    def __init__(self, writer, name, rng):
        self.writer, self.name, self.rng, self.counts = writer, name, rng, Counter()
        self.first = rng.randrange(10**6)
        single = name == "folder"
        self.n_before = 0 if single else rng.randrange(3)
        self.before = rng.choice((None, 0o600, 0o644)) if not single else None

    def prepare(self, folder, steps=()):
        """What is there before: nothing, or an older file with a mode, and what was written."""
        if self.before is not None:
            (folder / self.name).write_bytes(b"old")
            os.chmod(folder / self.name, self.before)
        with Recorder(folder):  # which waits for no disk
            for step in steps:
                self.write(folder, step)

    def write(self, folder, step):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            self.writer(folder / self.name, self.first + step)
        return told

    def run(self):
        """How it failed, in words; None if all was well."""
        return self.cut() or self.refuse()

    def cut(self):
        """Cut the power after every call."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            self.prepare(folder)
            start = tree(folder)
            allowed = [of_target(start, self.name)]
            with Recorder(folder) as recorder:
                for step in range(self.n_before + 1):
                    self.write(folder, step)
                    recorder.note("done", step)
            self.calls = recorder.calls
            journal = recorder.journal
            for step in range(self.n_before + 1):  # what each of them writes, by writing it again
                with tempfile.TemporaryDirectory() as other:
                    self.prepare(Path(other), [step])
                    allowed.append(of_target(tree(other), self.name))
        return self._judge(Disk(start), journal, allowed)

    def _judge(self, disk, journal, allowed):
        n_done = 0
        for at, (call, *given) in enumerate(journal):
            if call == "done":
                n_done += 1
                fine = allowed[n_done : n_done + 1]
            else:
                disk.play(call, *given)
                fine = allowed[n_done : n_done + 2]
            for state in disk.states(self.rng, MOST_STATES):
                self.counts["states"] += 1
                if of_target(state, self.name) not in fine:
                    when = "after all was done" if call == "done" else f"after {call}"
                    return f"a power cut {when} (entry {at} of {len(journal)}) leaves neither"
        return None

    def refuse(self):
        """Let every call fail once, in the last of the writes."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            self.prepare(folder, range(self.n_before))
            before = tree(folder)
            with Recorder(folder) as recorder:
                self.write(folder, self.n_before)
        for n, (call, of) in enumerate(recorder.calls, start=1):
            self.counts["faults"] += 1
            number = self.rng.choice(ERRORS[call])
            why = self._refused(before, (n, number))
            if why:
                return f"{call} of {of} fails ({errno.errorcode[number]}): {why}"
        return None

    def _refused(self, before, fault):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            self.prepare(folder, range(self.n_before))
            told, error = [], None
            with Recorder(folder, fault) as recorder:
                try:
                    told = self.write(folder, self.n_before)
                except OSError as raised:
                    error = raised
            now = tree(folder)
            if error is None:
                folders = recorder.calls[fault[0] - 1]
                late = folders[0] == "fsync" and isinstance(folders[1], str)  # names of a folder
                return None if late and told else "there is neither an error nor a warning"
            if now.get(self.name, 0) is None and self.name not in before:
                del now[self.name]  # an empty folder that was made
            return None if now == before else f"there was {list(before)}, now {list(now)}"


def planted(seed):
    """What is said of every writer with a bug; None where it was not caught."""
    caught = {}
    for name, (writer, path) in BUGS.items():
        said = (Case(writer, path, random.Random(f"{seed} {name} {n}")).run() for n in range(10))
        caught[name] = next(filter(None, said), None)
        print(f"planted bug, {name}: {caught[name] or 'NOT CAUGHT'}", flush=True)
    return caught


def main():
    given = arguments(__doc__, 300)
    caught = planted(given.seed)
    tries, counts, names = Tries(given), Counter(), list(WRITERS)
    for number in tries:
        name = names[number % len(names)]
        case = Case(*WRITERS[name], random.Random(f"{given.seed} {number}"))
        why = case.run()
        counts += case.counts
        if why:
            again = f"Case(*WRITERS[{name!r}], random.Random('{given.seed} {number}')).run()"
            tries.fail(number, f"{name}: {why}", again)
    found = tries.counts(planted_caught=all(caught.values()), planted=caught, **counts)
    return finish("power_cuts", found)


if __name__ == "__main__":
    sys.exit(main())
