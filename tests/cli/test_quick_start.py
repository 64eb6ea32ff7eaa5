# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn is imported without what it hardly uses, and has it when it is asked for."""

import subprocess
import sys

import pytest

CODE = """
import sys
from types import ModuleType
from skstruct.cli.quick_start import APART, WAITING, _Waiting, import_scikit_learn, load_waiting

finders = list(sys.meta_path)
import_scikit_learn()
assert sys.meta_path == finders
assert "pandas" not in sys.modules
for name in ("scipy.stats", "narwhals", "narwhals.stable.v2", *APART):
    assert type(sys.modules[name]) is _Waiting, name

from sklearn.tree import DecisionTreeRegressor   # needs a file of a package that waits
assert DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0]).predict([[1.0]]) == 1.0
assert type(sys.modules["sklearn.neighbors"]) is _Waiting
from sklearn.neighbors import NearestNeighbors
import sklearn
assert sklearn.neighbors.NearestNeighbors is NearestNeighbors
assert type(sys.modules["sklearn.neighbors"]) is ModuleType
from sklearn.metrics.pairwise import rbf_kernel
assert rbf_kernel([[0.0]]) == 1.0

import scipy.stats
assert scipy.stats.norm.cdf(0.0) == 0.5          # loads when touched
import pandas
from sklearn.utils import check_array
assert check_array(pandas.DataFrame({"a": [1.0]})).tolist() == [[1.0]]
load_waiting()
assert not [name for name in (*WAITING, *APART) if type(sys.modules.get(name)) is _Waiting]
from sklearn.linear_model import Ridge
assert Ridge().fit([[0.0], [1.0]], [0.0, 1.0]).coef_.shape == (1,)
"""


@pytest.mark.slow
@pytest.mark.subprocess
def test_modules_wait_and_are_whole():
    subprocess.run([sys.executable, "-c", CODE], check=True)


@pytest.mark.slow
@pytest.mark.subprocess
@pytest.mark.parametrize("learner", ["kernel", "forest"])
def test_predicting_a_row_imports_no_statistics(tmp_path, learner):
    table = tmp_path / "t.csv"
    table.write_text("a,b,class\n" + "".join(f"{i},{i % 3},{'no' if i % 2 else 'yes'}\n"
                                             for i in range(20)))  # fmt: skip
    model = tmp_path / "t.model"
    run = "from skstruct.cli.main import main; main({})"
    fit = ["fit", "-q", str(table), "--learner", learner, "-o", str(model)]
    subprocess.run([sys.executable, "-c", run.format(fit)], check=True, capture_output=True)
    predict = ["predict", "-q", str(model), str(table), "-o", str(tmp_path / "p.csv")]
    code = f"""
import atexit, sys
from skstruct.cli.main import commands
commands({predict}, standalone_mode=False)
unneeded = {{
    "pandas", "numba", "narwhals.dataframe", "sklearn.metrics._ranking", "sklearn.compose",
    "scipy.stats._stats_py", "scipy.optimize",
}}
there = unneeded & set(sys.modules)
assert not there, there
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 21
