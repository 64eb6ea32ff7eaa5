# SPDX-License-Identifier: BSD-3-Clause
"""Model files as they were when they were read, which nobody else writes to.

Processes of a server map the same copy. So somebody who writes into a model file, in the place of
replacing it, cannot end them, and a process that is started anew finds a good model although the
file is broken or half written.
"""

import contextlib
import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from skstruct._files.atomic import replacing


class Copies:
    """Copies of model files in a folder of the server.

    Parameters
    ----------
    folder : str
        Shared by the processes of one server.
    """

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)

    def copy(self, name: str, path: str, stamp: tuple[int, ...]) -> str:
        """A copy of the file that had this stamp; made once for all processes.

        Parameters
        ----------
        name : str
            Of the model.
        stamp : tuple of int
            Changes whenever the file does.
        """
        to = self.folder / f"{_key(name)}-{'-'.join(map(str, stamp))}.model"
        if not to.exists():
            descriptor, made = tempfile.mkstemp(dir=self.folder)
            os.close(descriptor)
            try:
                shutil.copyfile(path, made)
                os.replace(made, to)
            except BaseException:
                os.unlink(made)
                raise
        return str(to)

    def keep(self, name: str, copy: str) -> None:
        """This copy is good: older ones go, unless another process has kept a newer one.

        Whoever has mapped an older one keeps what is mapped.
        """
        made = _made(copy)
        if made < _made(self.last(name)):
            return
        with replacing(self._note(name), "w") as file:
            file.write(os.path.basename(copy))
        for other in self.folder.glob(f"{_key(name)}-*.model"):
            if _made(str(other)) < made:
                with contextlib.suppress(OSError):
                    other.unlink()

    def last(self, name: str) -> str | None:
        """The last good copy, or None."""
        try:
            return str(self.folder / self._note(name).read_text(encoding="ascii"))
        except OSError:
            return None

    def _note(self, name: str) -> Path:
        return self.folder / f"{_key(name)}.good"


def _made(copy: str | None) -> int:
    """When a copy was made; before all others if there is none."""
    try:
        return 0 if copy is None else os.stat(copy).st_mtime_ns
    except OSError:
        return 0


def _key(name: str) -> str:
    """A name of files for any name of a model."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
