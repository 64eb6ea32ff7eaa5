# SPDX-License-Identifier: BSD-3-Clause
"""What is promised, the script that tries to break it, how many cases are the goal."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Promise:
    """One line of the table in docs/trust.md; share is that of the time of a campaign."""

    name: str
    script: str
    goal: int
    share: float = 1.0
    options: tuple[str, ...] = ()


PROMISES = (
    Promise("model files: flipped bits and cuts", "flip_models", 100_000),
    Promise("killed fits go on with the same bits", "kill_checkpoints", 1_000, 2.0),
    Promise("killed predictions leave whole files", "kill_predict", 500),
    Promise("names in reports and CSV stay names", "inject_reports", 10_000),
    Promise("names on the live page stay names", "inject_page", 10_000),
)
