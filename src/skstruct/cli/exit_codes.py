# SPDX-License-Identifier: BSD-3-Clause
"""Exit codes: what became of a command, for scripts."""

import contextlib
import os
import re
import signal
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import click

DONE, FAILURE, USAGE, BAD_DATA, UNPROVEN, INTERRUPTED = 0, 1, 2, 3, 4, 130
BROKEN_PIPE = 141  # as a shell counts a closed pipe

_OPTIONS = {  # what messages call an argument is an option here
    "targets": "--target NAME",
    "edges_file": "--edges-file FILE",
    "n_labels": "--labels N",
    "labels_file": "--labels-file FILE",
    "id_column": "--id-column NAME",
    "skip_unlabelled": "--skip-unlabelled",
    "sheet": "--sheet NAME",
    'encoding="latin-1"': "--encoding latin-1",
    'encoding="cp1252"': "--encoding cp1252",
    'encoding="utf-16"': "--encoding utf-16",
}
_ROW = re.compile(r"\bY\[(\d+)\]|\brow (\d+)\b")


class BadData(click.ClickException):
    """Data or a model file that cannot be used."""

    exit_code = BAD_DATA


class Unproven(click.ClickException):
    """An answer without proof where proof was asked for."""

    exit_code = UNPROVEN


class OutputClosed(Exception):
    """Whoever read our output has seen enough; click would make code 1 of a BrokenPipeError."""


class OutOfTime(KeyboardInterrupt):
    """The system allows no more CPU time; like Ctrl-C nobody takes it for an error of the work."""


@contextlib.contextmanager
def writing(path: Any) -> Iterator[None]:
    """Whatever is wrong within with the disk is reported with the file that was to be written.

    Parameters
    ----------
    path : str or None
        None for stdout.
    """
    try:
        yield
    except BrokenPipeError:
        raise OutputClosed from None
    except OSError as error:  # a full disk, a quota, a folder that went away
        where = "stdout" if path is None else path
        untouched = "" if path is None else " What was there before is untouched."
        raise click.ClickException(
            f"{where} cannot be written: {error.strerror or error}.{untouched}"
        ) from error


@contextlib.contextmanager
def bad_data(where: str = "") -> Iterator[None]:
    """Whatever is wrong within has its reason in the data."""
    try:
        yield
    except (ValueError, FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise BadData(where + one_line(error)) from error


def one_line(error: Any) -> str:
    """The message of an error without line breaks, in the words of the command line."""
    text = " ".join(str(error).split()) or type(error).__name__
    if not hasattr(error, "column"):  # messages for Python count from 0, people from 1
        text = _ROW.sub(lambda found: f"row {int(found[1] or found[2]) + 1}", text)
    return with_options(text)


def with_options(text: str) -> str:
    """A message for Python with the options of the command line."""
    for argument, option in _OPTIONS.items():
        text = text.replace(f"({argument})", f"({option})")
    return text


def run_guarded(command: Any, arguments: list[str] | None = None) -> None:
    """Run a click command; errors become one line on stderr and an exit code."""
    with contextlib.suppress(ValueError):  # signals belong to the main thread
        signal.signal(signal.SIGTERM, _interrupt)
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _interrupt)
        if hasattr(signal, "SIGXCPU"):
            signal.signal(signal.SIGXCPU, _out_of_time)
    given = list(sys.argv[1:] if arguments is None else arguments)
    if "--debug" not in given:
        _tame_warnings("-q" in given or "--quiet" in given)
    try:
        code = command.main(given, prog_name="skstruct", standalone_mode=False) or DONE
        sys.stdout.flush()
    except click.ClickException as error:
        _traceback("--debug" in given, error.__cause__)
        error.show()
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort) as error:
        late = isinstance(error.__cause__ or error, OutOfTime)
        why = "Error: the CPU time of this process (ulimit -t) is over" if late else "Interrupted"
        click.echo(f"{why}; nothing was left half-written.", err=True)
        code = FAILURE if late else INTERRUPTED
    except (BrokenPipeError, OutputClosed):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = BROKEN_PIPE
    except MemoryError as error:
        click.echo(f"Error: there is not enough memory. {one_line(error)}", err=True)
        code = FAILURE
    except Exception as error:
        _traceback("--debug" in given, error)
        code = _unforeseen(error)
    sys.exit(code)


def _tame_warnings(quiet: bool) -> None:
    """Warnings in one line each; those of numbers that overflow are for whoever debugs."""
    warnings.simplefilter("ignore", RuntimeWarning)
    if quiet:
        warnings.simplefilter("ignore")

    def show(message: Any, *_: Any, **__: Any) -> None:
        click.echo(f"Warning: {one_line(message)}", err=True)

    warnings.showwarning = show


def _unforeseen(error: Any) -> int:
    """Tell an error that no command foresaw; data errors keep their code."""
    from skstruct.exceptions import DataFormatError, MissingDataError, ModelFileError

    known = isinstance(error, (ValueError, OSError, ImportError))
    kind = "" if known else f"{type(error).__name__}: "
    click.echo(f"Error: {kind}{one_line(error)}", err=True)
    if not known:
        click.echo("Give --debug right after skstruct to see where it came from.", err=True)
    return (
        BAD_DATA
        if isinstance(error, (DataFormatError, MissingDataError, ModelFileError))
        else FAILURE
    )


def _traceback(wanted: bool, error: Any) -> None:
    if wanted and error is not None:
        import traceback

        traceback.print_exception(error)


class _Interrupt(KeyboardInterrupt):
    """An interrupt that Python takes for handled once it is.

    Where plain KeyboardInterrupt passes through ``exec`` of a string, as imports have it, Python
    ends by the signal itself, whatever the exit code.
    """


def _interrupt(*_: Any) -> Any:
    raise _Interrupt


def _out_of_time(*_: Any) -> Any:
    raise OutOfTime
