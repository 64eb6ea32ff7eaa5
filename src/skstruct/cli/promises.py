# SPDX-License-Identifier: BSD-3-Clause
"""Which columns beside predictions a model can make of what was asked for."""

from typing import Any

import click

from skstruct.cli.beside import Maker
from skstruct.cli.terminal import say

CALIBRATE = "skstruct calibrate MODEL DATA -o MODEL2"


def makers_for(
    task_model: Any, given: dict[str, Any], *, in_rows: bool, quiet: bool
) -> list[Maker]:
    """Functions that make columns, once it is known that the model can.

    Parameters
    ----------
    given : dict
        Values of ``--restrict``, ``--marginals``, ``--threshold``, ``--level`` and ``--abstain``.
    in_rows : bool
        Whether every input has one row in the result, so that there is room for what a calibrated
        model tells without being asked.
    """
    makers = []
    if given["--threshold"] is not None:
        _check_threshold(task_model, given["--threshold"])
    if given["--marginals"]:
        from skstruct.cli.marginal_columns import check_marginals, marginal_columns

        check_marginals(task_model, "--marginals")
        makers.append(marginal_columns(task_model, given["--restrict"]))
    control, level = task_model.control_, given["--level"]
    if level is not None and control is None:
        raise click.UsageError(
            f"--level: the model was not calibrated; run `{CALIBRATE}` with rows that it has not "
            "seen, and predict with MODEL2."
        )
    if control is not None and in_rows:
        from skstruct.cli.calibrated_columns import at_level, calibrated_columns

        control = at_level(control, level)
        if any(control.vacuous_):
            say(f"Level {control.level:g} cannot be met with {control.n_calibration_} calibration "
                "rows: everything is possible and nothing certain.", quiet)  # fmt: skip
        makers.append(calibrated_columns(task_model, control))
    if given["--abstain"]:
        from skstruct.cli.calibrated_columns import withheld_columns

        _check_abstention(task_model, level)
        makers.append(withheld_columns(task_model))
    return makers


def _check_threshold(task_model: Any, threshold: float | str) -> None:
    from skstruct.fitted import Fitted

    if task_model.task_ not in ("labels", "hierarchy"):
        raise click.UsageError(
            f"--threshold is for label sets and hierarchies; the model predicts {task_model.task_}."
        )
    known = Fitted.of(task_model).calibration
    if isinstance(threshold, str) and (known is None or known.left is None):
        raise click.UsageError(
            f"--threshold {threshold} is chosen on rows that were left out in fit, of which this "
            "model keeps none: give a number, or fit a learner that is chosen on such rows, stack "
            "or kernel without --set alpha."
        )


def _check_abstention(task_model: Any, level: float | None) -> None:
    abstention = task_model.abstention_
    if abstention is None:
        raise click.UsageError(
            "--abstain: the model was not calibrated to withhold anything; run "
            f"`{CALIBRATE} --abstain rows`, or parts, with rows that it has not seen."
        )
    if level is not None and level != abstention.level:
        raise click.UsageError(
            f"--abstain was calibrated at level {abstention.level:g}, which holds for that level "
            f"alone; use {CALIBRATE} --abstain {abstention.of} --level {level:g}."
        )
