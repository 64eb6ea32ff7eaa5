# SPDX-License-Identifier: BSD-3-Clause
"""A word to whoever waits in front of a terminal while kernels are compiled.

Importing this module is enough; it is imported by the kernels that take longest.
"""

import sys

from numba.core import event

MESSAGE = "skstruct compiles a solver, once on this machine: this may take half a minute ..."


class CompileNotice(event.Listener):
    """Says once that compiling takes its time; kernels that were compiled before say nothing."""

    said = False

    def on_start(self, event):
        """Print the message where one of our kernels begins to be compiled."""
        module = event.data["dispatcher"].py_func.__module__
        if not self.said and module.startswith("skstruct.") and sys.stderr.isatty():
            self.said = True
            print(MESSAGE, file=sys.stderr, flush=True)

    def on_end(self, event):
        """Nothing to say."""


event.register("numba:compile", CompileNotice())
