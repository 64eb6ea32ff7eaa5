# SPDX-License-Identifier: BSD-3-Clause
"""All that a power cut may leave on a disk, from a journal of what was done; by the definition.

What a program did reaches the disk in any order and in parts, but for what it waited for:

- fsync of a file: its bytes and its mode are there. Else any prefix of its writes may be, any one
  may be missing, the last may be torn, and the length may be there without the bytes (zeros).
- fsync of a folder: the names in it are there. Else each name may be as it was at any moment since,
  whatever the others are.

That is more than most file systems do; who is safe here is safe on them. Nothing of the library
under test is imported.
"""

import itertools
import math

ROOT = 0


class Disk:
    """A disk on which a journal is played; names are relative to its root.

    Parameters
    ----------
    files : dict of (bytes, mode)
        What is there, and safe, in the beginning; in the order of its names these have the numbers
        1, 2, ... A folder is None.
    """

    def __init__(self, files):
        self.names = {}  # (folder, name): numbers it may stand for, the safe one first
        self.bytes, self.writes, self.modes = {}, {}, {}
        for number, (name, found) in enumerate(sorted(files.items()), start=1):
            self.names[self.place(name)] = [number]
            if found is not None:
                self.bytes[number], self.modes[number] = found[0], [found[1]]
                self.writes[number] = []

    def place(self, path):
        """Folder and name, as the program sees them now."""
        folder, (*above, name) = ROOT, path.split("/")
        for part in above:
            folder = self.names[folder, part][-1]
        return folder, name

    def becomes(self, path, number):
        self.names.setdefault(self.place(path), [None]).append(number)

    def play(self, call, *given):
        """One entry of a journal."""
        getattr(self, f"_{call}")(*given)

    def _create(self, path, number, mode):
        self.bytes[number], self.writes[number], self.modes[number] = b"", [], [mode]
        self.becomes(path, number)

    def _mkdir(self, path, number):
        self.becomes(path, number)

    def _write(self, number, at, data):
        self.writes[number].append((at, data))

    def _truncate(self, number, size):
        self.writes[number].append((size, None))

    def _mode(self, number, mode):
        if number in self.modes:
            self.modes[number].append(mode)

    def _sync(self, number):
        self.bytes[number] = done(self.bytes[number], self.writes[number])
        self.writes[number], self.modes[number] = [], self.modes[number][-1:]

    def _sync_folder(self, path):
        place = self.place(path)
        folder = ROOT if path == "." else self.names[place][-1]
        for (above, name), numbers in self.names.items():
            if above == folder:
                self.names[above, name] = numbers[-1:]

    def _rename(self, path, to):
        number = self.names[self.place(path)][-1]
        self.becomes(to, number)
        self.becomes(path, None)

    def _unlink(self, path):
        self.becomes(path, None)

    def states(self, rng, most):
        """What may be left, as dicts of (bytes, mode) by name: all, or so many drawn of them."""
        slots = {("name", *place): list(dict.fromkeys(ns)) for place, ns in self.names.items()}
        for number in self.bytes:
            slots["bytes", number] = contents(self.bytes[number], self.writes[number])
            slots["mode", number] = list(dict.fromkeys(self.modes[number]))
        if math.prod(map(len, slots.values())) <= most:
            for chosen in itertools.product(*slots.values()):
                yield self.state(dict(zip(slots, chosen)))
            return
        yield self.state({slot: options[0] for slot, options in slots.items()})
        yield self.state({slot: options[-1] for slot, options in slots.items()})
        for _ in range(most - 2):
            yield self.state({slot: rng.choice(options) for slot, options in slots.items()})

    def state(self, chosen, folder=ROOT, above=""):
        found = {}
        for (within, name), _ in self.names.items():
            number = chosen["name", within, name] if within == folder else None
            if number is None:
                continue
            if number in self.bytes:
                found[above + name] = chosen["bytes", number], chosen["mode", number]
            else:
                found[above + name] = None
                found.update(self.state(chosen, number, f"{above}{name}/"))
        return found


def done(content, writes):
    """The bytes of a file after some writes; (size, None) cuts it."""
    content = bytearray(content)
    for at, data in writes:
        if data is None:
            content[at:] = b"\0" * max(0, at - len(content))
        else:
            content.extend(b"\0" * (at - len(content)))
            content[at : at + len(data)] = data
    return bytes(content)


def contents(content, writes, most=12):
    """What a file may hold whose last writes were not waited for: as before first, whole last."""
    if not writes:
        return [content]
    step = max(1, len(writes) // most)
    prefixes = [writes[:n] for n in range(0, len(writes), step)]
    holes = [writes[:n] + writes[n + 1 :] for n in range(0, len(writes), step)]
    at, data = writes[-1]
    torn = [[*writes[:-1], (at, data[: len(data) // 2])]] if data else []
    found = [done(content, some) for some in (*prefixes, *holes, *torn)]
    whole = done(content, writes)
    return [*dict.fromkeys([*found, b"\0" * len(whole)]), whole]
