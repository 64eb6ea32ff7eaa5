# SPDX-License-Identifier: BSD-3-Clause
"""Copies of model files that the processes of a server share."""

import os
from pathlib import Path

from serving.conftest import ROWS, SETS, sets_model
from skstruct import ConditionalRiskMinimizer, save_model
from skstruct.serving.copies import Copies
from skstruct.serving.models import Models


def written(path, text, stamp):
    path.write_text(text)
    return str(path), (stamp,)


def test_the_last_good_copy_stays(tmp_path):
    copies, path = Copies(str(tmp_path)), tmp_path / "m"
    assert copies.last("a") is None
    first = copies.copy("a", *written(path, "one", 1))
    copies.keep("a", first)
    second = copies.copy("a", *written(path, "two", 2))
    assert copies.last("a") == first  # until somebody has read the second
    os.utime(second, ns=(2 * 10**18, 2 * 10**18))
    copies.keep("a", second)
    assert copies.last("a") == second
    assert Path(second).read_text() == "two"
    assert not os.path.exists(first)


def test_a_slow_process_does_not_bring_an_old_copy_back(tmp_path):
    copies, path = Copies(str(tmp_path)), tmp_path / "m"
    old = copies.copy("a", *written(path, "one", 1))
    new = copies.copy("a", *written(path, "two", 2))
    os.utime(new, ns=(2 * 10**18, 2 * 10**18))
    copies.keep("a", new)
    copies.keep("a", old)  # it is gone
    assert copies.last("a") == new


def test_a_newer_copy_that_nobody_has_read_yet_stays(tmp_path):
    copies, path = Copies(str(tmp_path)), tmp_path / "m"
    old = copies.copy("a", *written(path, "one", 1))
    new = copies.copy("a", *written(path, "two", 2))
    os.utime(new, ns=(2 * 10**18, 2 * 10**18))
    copies.keep("a", old)
    assert os.path.exists(new)


def test_names_of_models_do_not_meet(tmp_path):
    copies, path = Copies(str(tmp_path)), tmp_path / "m"
    names = ["a", "a-1", "../a", "\udcff", "ä" * 300]
    made = [copies.copy(name, *written(path, name.encode("utf-8", "replace").decode(), 1))
            for name in names]  # fmt: skip
    assert len(set(made)) == len(names)
    assert all(os.path.dirname(copy) == str(tmp_path) for copy in made)
    assert copies.copy("a", str(path), (1,)) == made[0]  # made once
    assert Path(made[0]).read_text() == "a"


def test_a_process_that_is_started_anew_refuses_other_columns_too(tmp_path):
    path, folder = tmp_path / "m.model", tmp_path / "copies"
    folder.mkdir()
    save_model(sets_model(), path)
    Models({"m": path}, copies=Copies(str(folder)))
    rows = [{"height": row["size"]} for row in ROWS]
    save_model(ConditionalRiskMinimizer(alpha=0.1).fit(rows, SETS), path)
    for other_columns, columns in ((False, ["size", "sky", "wind"]), (True, ["height"])):
        copies = Copies(str(folder))
        (told,) = Models({"m": path}, copies=copies, other_columns=other_columns).described()
        assert [column["name"] for column in told["columns"]] == columns
        assert told["failed_reloads"] == (not other_columns)
        assert ("other columns" in str(told["error"])) == (not other_columns)
