# SPDX-License-Identifier: BSD-3-Clause
"""A file layer that keeps a journal of what is done in one folder, and fails where it is told to.

    with Recorder(folder) as recorder:
        save(...)
    recorder.journal   # [("create", "a", 1), ("write", 1, 0, b"..."), ("sync", 1), ...]

While it is open, all that Python code does to files of the folder (open, os.open, write, fsync,
rename, unlink, mkdir, chmod) is done and written down. Names are relative to the folder; files are
numbers, which stay when names change. With a fault (n, error number) the n-th of these calls fails
as the system would; a write fails after half of its bytes.
"""

import builtins
import io
import os
from pathlib import Path

PATCHED = (
    "open", "close", "write", "fsync", "replace", "rename", "unlink", "remove", "mkdir", "rmdir",
    "chmod",
)  # fmt: skip
REAL = {name: getattr(os, name) for name in PATCHED}
OPEN = io.open
FLAGS = {
    "w": os.O_CREAT | os.O_TRUNC,
    "x": os.O_CREAT | os.O_EXCL,
    "a": os.O_CREAT | os.O_APPEND,
    "r": 0,
}
ACCESS = {True: os.O_RDWR, False: os.O_WRONLY}


class Recorder:
    """What is done to files below a folder, in order; see the beginning of this file."""

    def __init__(self, folder, fault=None):
        self.folder = os.path.realpath(folder)
        self.fault, self.journal, self.n_calls, self.calls = fault, [], 0, []
        self.files, self.handles = {}, {}  # numbers of names; what open descriptors are of
        for path in sorted(Path(self.folder).rglob("*")):
            self.files[str(path.relative_to(self.folder))] = len(self.files) + 1
        self.n_files = len(self.files)

    def __enter__(self):
        for name in PATCHED:
            setattr(os, name, getattr(self, name, None))
        io.open = builtins.open = self.open_file
        return self

    def __exit__(self, *_):
        for name, real in REAL.items():
            setattr(os, name, real)
        io.open = builtins.open = OPEN

    def inside(self, path, dir_fd=None):
        """The name within the folder, or None."""
        path = (
            os.fsdecode(path) if not isinstance(path, int) else os.readlink(f"/proc/self/fd/{path}")
        )
        if dir_fd is not None and not os.path.isabs(path):
            path = os.path.join(os.readlink(f"/proc/self/fd/{dir_fd}"), path)
        folder, name = os.path.split(os.path.abspath(path))
        found = os.path.join(os.path.realpath(folder), name)
        if found == self.folder:
            return "."
        return (
            os.path.relpath(found, self.folder) if found.startswith(self.folder + os.sep) else None
        )

    def may_fail(self, call, name):
        """Count a call that the system could refuse; the chosen one is refused."""
        self.n_calls += 1
        self.calls.append((call, name))
        if self.fault is not None and self.n_calls == self.fault[0]:
            raise OSError(self.fault[1], os.strerror(self.fault[1]), name)

    def note(self, *entry):
        self.journal.append(entry)

    # What Python code calls, in place of the functions of os and of open.

    def open(self, path, flags, mode=0o777, *, dir_fd=None):
        name = self.inside(path, dir_fd)
        if name is None:
            return REAL["open"](path, flags, mode, dir_fd=dir_fd)
        fresh = name not in self.files and name != "."
        if fresh and flags & os.O_CREAT:
            self.may_fail("open", name)
        handle = REAL["open"](path, flags, mode, dir_fd=dir_fd)
        if name == "." or os.path.isdir(handle):
            self.handles[handle] = ("folder", name)
            return handle
        if fresh:
            self.n_files += 1
            self.files[name] = self.n_files
            self.note("create", name, self.n_files, os.fstat(handle).st_mode & 0o7777)
        elif flags & os.O_TRUNC:
            self.note("truncate", self.files[name], 0)
        self.handles[handle] = ("file", self.files[name])
        return handle

    def open_file(self, file, mode="r", buffering=-1, encoding=None, errors=None, newline=None,
                  closefd=True, opener=None):  # fmt: skip
        """As ``open``; files of the folder that are written to pass through a recording one."""
        writes = any(letter in mode for letter in "wxa+")
        known = isinstance(file, int) and self.handles.get(file, ("", 0))[0] == "file"
        if not writes or not (known or (not isinstance(file, int) and self.inside(file))):
            return OPEN(file, mode, buffering, encoding, errors, newline, closefd, opener)
        if not isinstance(file, int):
            kind = next(letter for letter in "wxar" if letter in mode)
            file = self.open(os.fspath(file), FLAGS[kind] | ACCESS["+" in mode], 0o666)
        raw = RecordingFile(self, file, "r+" if "+" in mode else "w", closefd)
        if buffering == 0:
            return raw
        size = buffering if buffering > 1 else io.DEFAULT_BUFFER_SIZE
        buffered = (io.BufferedRandom if "+" in mode else io.BufferedWriter)(raw, size)
        return buffered if "b" in mode else io.TextIOWrapper(buffered, encoding, errors, newline)

    def written(self, handle, data, write):
        kind, number = self.handles.get(handle, ("", 0))
        if kind != "file":
            return write(data)
        at, data = os.lseek(handle, 0, os.SEEK_CUR), bytes(data)
        try:
            self.may_fail("write", number)
        except OSError:
            half = data[: len(data) // 2]
            if half:
                write(half)
                self.note("write", number, at, half)
            raise
        n = write(data)
        self.note("write", number, at, data[:n])
        return n

    def write(self, handle, data):
        return self.written(handle, data, lambda part: REAL["write"](handle, part))

    def close(self, handle):
        self.handles.pop(handle, None)
        REAL["close"](handle)

    def fsync(self, handle):
        handle = handle if isinstance(handle, int) else handle.fileno()
        kind, which = self.handles.get(handle, ("", None))
        if kind:
            self.may_fail("fsync", which)
            self.note("sync" if kind == "file" else "sync_folder", which)
        else:
            REAL["fsync"](handle)  # what is recorded need not reach the disk

    def replace(self, path, to, *, src_dir_fd=None, dst_dir_fd=None):
        first, second = self.inside(path, src_dir_fd), self.inside(to, dst_dir_fd)
        if first is not None and second is not None:
            self.may_fail("rename", second)
        REAL["replace"](path, to, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
        if first is not None and second is not None:
            self.note("rename", first, second)
            for name in [
                name for name in self.files if name == first or name.startswith(first + "/")
            ]:
                self.files[second + name[len(first) :]] = self.files.pop(name)

    rename = replace

    def unlink(self, path, *, dir_fd=None):
        name = self.inside(path, dir_fd)
        REAL["unlink"](path, dir_fd=dir_fd)
        if name is not None:
            self.note("unlink", name)
            self.files.pop(name, None)

    remove = unlink

    def rmdir(self, path, *, dir_fd=None):
        name = self.inside(path, dir_fd)
        REAL["rmdir"](path, dir_fd=dir_fd)
        if name is not None:
            self.note("unlink", name)
            self.files.pop(name, None)

    def mkdir(self, path, mode=0o777, *, dir_fd=None):
        name = self.inside(path, dir_fd)
        if name is not None:
            self.may_fail("mkdir", name) if not os.path.lexists(path) else None
        REAL["mkdir"](path, mode, dir_fd=dir_fd)
        if name is not None:
            self.n_files += 1
            self.files[name] = self.n_files
            self.note("mkdir", name, self.n_files)

    def chmod(self, path, mode, **options):
        name = self.inside(path)
        if name is not None and name in self.files:
            self.may_fail("chmod", name)
        REAL["chmod"](path, mode, **options)
        if name is not None and name in self.files:
            self.note("mode", self.files[name], mode)


class RecordingFile(io.FileIO):
    """A file without buffer that tells the recorder what is written to it."""

    def __init__(self, recorder, handle, mode, closefd):
        super().__init__(handle, mode, closefd=closefd)
        self.recorder, self.closes = recorder, closefd

    def write(self, data):
        return self.recorder.written(self.fileno(), data, super().write)

    def truncate(self, size=None):
        size = self.tell() if size is None else size
        self.recorder.note("truncate", self.recorder.handles[self.fileno()][1], size)
        return super().truncate(size)

    def close(self):
        if not self.closed and self.closes:
            self.recorder.handles.pop(self.fileno(), None)
        super().close()
