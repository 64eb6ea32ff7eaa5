# SPDX-License-Identifier: BSD-3-Clause
"""The group of commands, and what an error becomes."""

from typing import Any

import click

from skstruct import __version__
from skstruct.cli.audit import audit
from skstruct.cli.calibrate import calibrate
from skstruct.cli.card import card
from skstruct.cli.catalogue import losses, papers, spaces
from skstruct.cli.data import data
from skstruct.cli.evaluate import compare, evaluate, report
from skstruct.cli.exit_codes import run_guarded
from skstruct.cli.explore import explore
from skstruct.cli.fit import fit
from skstruct.cli.models import inspect
from skstruct.cli.predict import predict
from skstruct.cli.serve import serve

MOST_DOTS = 1000  # of a line: the time for a name a.b.c grows by the square of its parts


class InGivenOrder(click.Group):
    """Lists commands in the order in which people need them."""

    def list_commands(self, ctx: Any) -> Any:
        return list(self.commands)


@click.group(cls=InGivenOrder, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="skstruct %(version)s")
@click.option("--debug", is_flag=True, help="Show where in the code an error came from.")
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False),
    help="A TOML file with options by command, such as [fit] with loss = 'f1'.",
)
@click.pass_context
def commands(ctx: Any, debug: bool, config: str | None) -> None:
    """Learn to predict label sets, rankings, sequences, quantities... from data files.

    \b
    skstruct data sample animals.arff
    skstruct data sample animals_new.arff
    skstruct fit animals.arff -o animals.model
    skstruct predict animals.model animals_new.arff -o predictions.csv
    skstruct evaluate animals.model animals_new.arff
    skstruct report animals.model animals_new.arff -o report.html

    Results go to stdout, progress to stderr. Exit codes: 0 done, 1 failure, 2 wrong usage,
    3 bad data, 4 an answer without proof under --strict, 130 interrupted.
    """
    if config is not None:
        ctx.default_map = _read_config(config)


def _read_config(path: str) -> dict[str, Any]:
    """Options by command, as click wants them."""
    import tomllib

    try:
        with open(path, "rb") as file:
            text = file.read().decode()
        if any(line.count(".") > MOST_DOTS for line in text.splitlines()):
            raise RecursionError
        return _options(path, commands, tomllib.loads(text))
    except ValueError as error:  # of TOML, of UTF-8, or of a number of thousands of digits
        raise click.UsageError(f"{path} is not TOML: {error}.") from None
    except RecursionError:
        raise click.UsageError(f"{path}: lists or tables lie too deep in each other.") from None


def _options(path: str, command: Any, table: dict[str, Any]) -> dict[str, Any]:
    """A table of options, or of tables for the commands of a group; a dash may be an underscore."""
    if isinstance(command, click.Group):
        for name, inner in table.items():
            if name not in command.commands:
                raise click.UsageError(f"{path}: there is no command {name!r}.")
            if not isinstance(inner, dict):
                raise click.UsageError(f"{path}: [{name}] should be a table of options.")
        return {
            name: _options(path, command.commands[name], inner) for name, inner in table.items()
        }
    known = {text.lstrip("-"): option for option in command.params for text in option.opts}
    given = {}
    for key, value in table.items():
        if key.replace("_", "-") not in known:
            raise click.UsageError(f"{path}: {command.name} has no option {key!r}.")
        option = known[key.replace("_", "-")]
        if option.name in given:  # with a dash and with an underscore, or by a short name
            raise click.UsageError(f"{path}: {command.name} {key} is given twice.")
        try:
            given[option.name] = _as_typed(option, value)
        except ValueError as error:
            raise click.UsageError(f"{path}: {command.name} {key} {error}.") from None
    return given


def _as_typed(option: Any, value: Any) -> Any:
    """What click would get of the command line: texts, of which it makes numbers and paths itself.

    One text for an option that may be repeated is a list; a list for another has commas.
    """
    if getattr(option, "is_flag", False):
        if not isinstance(value, bool):
            raise ValueError(f"is true or false; got {value!r:.60}")
        return value
    texts = [_typed(part) for part in (value if isinstance(value, list) else [value])]
    return texts if getattr(option, "multiple", False) else ",".join(texts)


def _typed(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError(f"is a text, a number or a list of them; got {value!r:.60}")
    text = str(value)
    if "\0" in text:
        raise ValueError("holds a NUL, which no argument can")
    return text


for command in (
    fit, predict, evaluate, calibrate, compare, report, explore, serve, card, audit, inspect, data,
    spaces, losses, papers,
):  # fmt: skip
    commands.add_command(command)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    run_guarded(commands, arguments)
