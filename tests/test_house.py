# SPDX-License-Identifier: BSD-3-Clause
"""The middle of the library does not grow unseen: counts are held against a committed table."""

from pathlib import Path

import pytest

from script_folders import scripts_of

TOOLS = Path(__file__).parents[1] / "tools"


@pytest.fixture
def house(monkeypatch):
    with scripts_of(TOOLS, monkeypatch) as script:
        yield script("house")


@pytest.mark.slow
def test_nothing_counted_is_above_the_table(house):
    table = house.read_table(house.TABLE.read_text(encoding="utf-8"))
    assert house.risen(house.measured(), table) == []


def test_everything_in_a_source_is_counted(house, tmp_path):
    package = tmp_path / "skstruct"
    (package / "learners").mkdir(parents=True)
    (package / "learners" / "one.py").write_text(
        "from typing import Any\n"
        "from skstruct.spaces import Classes\n"
        "from skstruct.spaces.classes.space import as_class\n"
        "from skstruct.losses import _hidden\n"
        "from skstruct.learners.base import mine\n"
        "def ask(self, space: Any, other: int) -> Any:\n"
        "    try:\n"
        "        return getattr(self.space_, 'size'), hasattr(other, 'size')\n"
        "    except (AttributeError, KeyError):\n"
        "        return other._secret, self._own, other.__doc__\n"
    )
    counts = house.of_sources(package)
    assert counts["questions to components"] == counts["questions to components in learners"] == 1
    assert counts["hasattr and getattr"] == 2
    assert counts["AttributeErrors caught"] == 1
    assert counts["underscored names of other objects"] == 1
    assert counts["internal names that cross packages"] == 2  # as_class and _hidden
    assert counts["types of public functions that are Any, percent"] == 67
    assert counts["syntax nodes of learners, hundreds"] == 1


def test_a_call_passes_the_files_that_it_runs(house):
    from skstruct.spaces import LabelSets

    assert house.files_passed(lambda: None) == 0
    assert house.files_passed(lambda: LabelSets(["a", "b"]).validate([["a"]])) >= 2


def test_a_number_may_fall_and_not_rise(house):
    table = house.read_table("# a head\n  3  names of a space  # told so\n 5  probes\n")
    assert table == {"names of a space": (3, "told so"), "probes": (5, "")}
    counts = {"names of a space": 4, "probes": 2, "files": 1}
    assert len(house.risen(counts, table)) == 2  # one higher, one that nobody allowed
    assert house.fallen(counts, table) == ["probes: 2, in the table 5"]
    lowered = house.lowered(counts, table)
    assert lowered == {"names of a space": (3, "told so"), "probes": (2, ""), "files": (1, "")}
    assert house.read_table(house.write_table(lowered)) == lowered
