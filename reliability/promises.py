# SPDX-License-Identifier: BSD-3-Clause
"""What is promised, the script that tries to break it, how many cases are the goal."""

import importlib.util
import os
from dataclasses import dataclass

ALL_CORES = ("--jobs", str(os.cpu_count() or 1))


@dataclass(frozen=True)
class Promise:
    """One line of the table in docs/trust.md.

    ``share`` is that of the time of a campaign, ``needs`` a package that is not there everywhere.
    """

    name: str
    script: str
    goal: int
    share: float = 1.0
    options: tuple[str, ...] = ()
    needs: str | None = None

    @property
    def can_run(self) -> bool:
        """Whether what it needs is installed."""
        return self.needs is None or importlib.util.find_spec(self.needs) is not None


PROMISES = (
    Promise("decoded rows against lists of all outputs", "certificates", 1_000_000, 4.0),
    Promise("distributions against sums over all", "distributions", 100_000, 2.0),
    Promise("model files: flipped bits and cuts", "flip_models", 100_000),
    Promise("model files: made by an enemy", "hostile_models", 20_000, 3.0, ALL_CORES),
    Promise("model files: of other versions", "skewed_models", 20_000),
    Promise("bad requests to a server", "fuzz_server", 100_000, 3.0),
    Promise("requests that schemathesis draws", "fuzz_schema", 10_000, needs="schemathesis"),
    Promise("a server under load, with faults", "soak", 100_000, 3.0),
    Promise("killed fits go on with the same bits", "kill_checkpoints", 700, 2.0),
    Promise("broken data files are read or refused", "fuzz_readers", 160_000_000, 8.0, ALL_CORES),
    Promise("broken data files, drawn by atheris", "fuzz_atheris", 1_000_000, needs="atheris"),
    Promise("what is read is what stands there", "misread_files", 1_000_000, 2.0, ALL_CORES),
    Promise("killed commands leave whole files", "kill_predict", 1_000),
    Promise("killed workers of a server: all are answered", "kill_serve", 200),
    Promise("killed workers and schedulers of Dask", "kill_dask", 100),
    Promise("power cuts and full disks: old or new files", "power_cuts", 2_000),
    Promise("two processes at one file", "races", 1_000),
    Promise("little memory and time: done or a clear error", "limits", 500, 2.0),
    Promise("the same labels in every setting", "determinism", 50_000, 2.0),
    Promise("the contract with scikit-learn", "contract", 2_000, 2.0),
    Promise("packages: licences, hashes, two builds", "supply_chain", 30_000),
    Promise("names in reports and CSV stay names", "inject_reports", 10_000),
    Promise("names on the live page stay names", "inject_page", 10_000),
)
