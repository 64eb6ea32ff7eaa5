# SPDX-License-Identifier: BSD-3-Clause
import dataclasses
import sys
import types
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstruct import config_context
from skstruct._arrays import memory as machine
from skstruct.smoothing import KernelRidge
from skstruct.smoothing.planning import check_fits, plan, product_rate
from skstruct.smoothing.systems import CholeskySystem, PackedCholeskySystem

GB = 10**9


# ------------------------------------------------------------------ the choice
@pytest.mark.parametrize(
    ("n", "n_alphas", "memory", "expected"),
    [
        (20_000, 1, "100GB", "cholesky"),
        (20_001, 1, "100GB", "nystroem"),
        (20_000, 1, "1GB", "cholesky"),
        (1_000, 2, "100GB", "spectral"),
        (1_001, 2, "100GB", "cholesky"),
        (1_000, 2, "10MB", "spectral"),
        (1, 1, "1MB", "cholesky"),
    ],
)
def test_auto(n, n_alphas, memory, expected):
    chosen = plan(n, 10, 5, n_alphas=n_alphas, memory=memory)
    assert chosen.solver == expected
    assert chosen.why


@pytest.mark.parametrize("solver", ["cholesky", "packed", "spectral", "nystroem", "fourier"])
def test_what_was_asked_for_stays(solver):
    chosen = plan(65_000, 10, 5, solver=solver, memory="1MB")
    assert chosen.solver == solver
    assert "asked for" in chosen.why
    with pytest.raises(dataclasses.FrozenInstanceError):
        chosen.solver = "auto"


@given(
    n=st.integers(1, 60_000), p=st.integers(0, 50), d=st.integers(1, 10**6),
    n_alphas=st.integers(1, 3), free=st.integers(1, 10**11),
)  # fmt: skip
def test_memory_and_targets_do_not_choose(n, p, d, n_alphas, free):
    chosen = plan(n, p, d, n_alphas=n_alphas, memory=free)
    assert chosen.solver == plan(n, 0, 1, n_alphas=n_alphas, memory="1000GB").solver
    assert chosen.fits == (chosen.bytes <= free)
    rows = int("".join(filter(str.isdigit, chosen.why.partition("more than")[2])) or 0)
    assert (n > rows) if rows else (chosen.solver != "nystroem")  # the reason is true
    half, full = (plan(n, p, d, solver=name).bytes for name in ("packed", "cholesky"))
    assert half <= full
    assert full >= 8 * n * n
    assert half >= 4 * n * n


def test_more_rows_take_more():
    for solver in ("cholesky", "packed", "spectral"):
        plans = [plan(n, 10, 5, solver=solver) for n in (100, 1_000, 10_000, 50_000)]
        assert all(a.bytes < b.bytes and a.flops < b.flops for a, b in pairwise(plans))
    assert plan(10**4, 10, 5, solver="spectral").flops > 8 * plan(10**4, 10, 5).flops


def test_the_rate_is_measured_once():
    assert product_rate() is product_rate()
    assert 1e7 < product_rate() < 1e15
    chosen = plan(1_000, 10, 5)
    assert chosen.seconds == pytest.approx(1.1 * chosen.flops / product_rate())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"solver": "lu"}, "solver is \"auto\".*got 'lu'"),
        ({"precision": "half"}, "precision is"),
        ({"memory": "much"}, "memory is a size"),
    ],
)
def test_bad_requests(changes, message):
    with pytest.raises(ValueError, match=message):
        plan(10, 1, 1, **changes)


# ------------------------------------------------------------------ too large
def test_errors_say_what_to_do():
    check_fits(plan(20_000, 10, 1, solver="cholesky", memory="4GB"))
    with pytest.raises(MemoryError) as error:
        check_fits(plan(20_000, 10, 1, solver="cholesky", memory="3GB"))
    message = str(error.value)
    assert '20,000 rows with solver="cholesky" need 3.' in message
    for part in ("3.0 GB are free", "would take about", "packed", "mixed", "nystroem"):
        assert part in message
    with pytest.raises(MemoryError) as error:  # what would not fit either is not recommended
        check_fits(plan(20_000, 10, 1, solver="cholesky", memory="1GB"))
    assert 'packed" (' not in str(error.value)
    assert 'Use solver="packed" with set_config(precision="mixed") (' in str(error.value)
    with pytest.raises(MemoryError, match='Use solver="nystroem"'):
        check_fits(plan(20_000, 10, 1, solver="cholesky", memory="100MB"))


def test_unknown_memory_is_not_an_error(monkeypatch):
    monkeypatch.setattr(machine, "available_memory", lambda: None)
    chosen = plan(10**6, 10, 1, solver="cholesky")
    assert chosen.free is None
    check_fits(chosen)


def test_kernel_ridge_asks_before_it_allocates(monkeypatch):
    X, T = np.random.default_rng(0).standard_normal((300, 2)), np.ones(300)
    full, half = (plan(300, 2, 1, solver=name).bytes for name in ("cholesky", "packed"))
    monkeypatch.setattr(machine, "available_memory", lambda: full)
    assert type(KernelRidge().fit(X, T).system_) is CholeskySystem
    monkeypatch.setattr(machine, "available_memory", lambda: full - 1)
    assert type(KernelRidge(solver="packed").fit(X, T).system_) is PackedCholeskySystem

    def refuse(*args):
        raise AssertionError("the kernel matrix was begun")

    monkeypatch.setattr("skstruct.kernels.grams.GramBlocks.into", refuse)
    for solver in ("auto", "cholesky"):
        with pytest.raises(MemoryError, match=r'300 rows with solver="cholesky".*"packed"'):
            KernelRidge(solver=solver).fit(X, T)
    with pytest.raises(MemoryError, match='300 rows with solver="spectral"'):
        KernelRidge(solver="spectral").fit(X, T)
    monkeypatch.setattr(machine, "available_memory", lambda: half - 1)
    with pytest.raises(MemoryError, match='300 rows with solver="packed"'):
        KernelRidge(solver="packed").fit(X, T)


# ------------------------------------------------------------------ free memory
def written(folder, **files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A system of files of its own: 1,000 kB available, and 2 files of a process."""
    process, groups = tmp_path / "proc", tmp_path / "groups"
    written(process, meminfo="MemTotal: 9000 kB\nMemFree: 10 kB\nMemAvailable: 1000 kB\n")
    monkeypatch.setattr(machine, "PROCESS", process)
    monkeypatch.setattr(machine, "GROUPS", groups)
    return process, groups


def test_available_memory_counts_what_can_be_dropped(system):
    assert machine.available_memory() == 1_024_000


@pytest.mark.parametrize("limited", ["job", "user"])
def test_the_tightest_group_counts(system, limited):
    process, groups = system
    written(process / "self", cgroup="0::/user/job\n")
    limits = {name: "100000\n" if name == limited else "max\n" for name in ("job", "user")}
    for name, folder in (("user", groups / "user"), ("job", groups / "user" / "job")):
        written(folder, memory__max=limits[name], memory__current="30000\n",
                memory__stat="anon 5\ninactive_file 7000\nactive_file 1\n")  # fmt: skip
    assert machine.available_memory() == 77_000


def test_groups_of_version_one(system):
    process, groups = system
    written(process / "self", cgroup="5:cpu,memory:/job\n4:pids:/\n0::/\n")
    written(groups / "memory" / "job", memory__limit_in_bytes="5000", memory__usage_in_bytes="6000")
    assert machine.available_memory() == 0
    written(groups / "memory" / "job", memory__limit_in_bytes=str(2**63 - 4096))
    assert machine.available_memory() == 1_024_000


def test_systems_that_do_not_say(system, monkeypatch):
    (system[0] / "meminfo").unlink()

    def unknown(name):
        raise ValueError("unrecognized configuration name")

    monkeypatch.setattr("os.sysconf", unknown)
    assert machine.available_memory() is None


def test_this_machine_says():
    free = machine.available_memory()
    assert free is None or 10**6 < free < 10**15


# ------------------------------------------------------------------ devices
class Recorder(CholeskySystem):
    """Stands for a system on a device."""

    asked: list = []  # noqa: RUF012

    def __init__(self, device):
        self.device = device
        self.asked.append(device)


def test_a_device_computes_both_ends(monkeypatch):
    def product(kernel, X, X_fit, coef, device, memory):
        Recorder.asked.append((device, memory))
        return kernel(X, X_fit) @ coef

    fake = {"skstruct.smoothing.systems.on_device": {"DeviceSystem": Recorder},
            "skstruct.kernels.on_device": {"kernel_product": product}}  # fmt: skip
    for name, parts in fake.items():
        module = types.ModuleType(name)
        vars(module).update(parts)
        monkeypatch.setitem(sys.modules, name, module)
    X, T = np.random.default_rng(0).standard_normal((30, 2)), np.ones((30, 2))
    T[:10] = 0.0
    with config_context(device="cpu", memory="1MB"):
        there = KernelRidge().fit(X, T)
        found = there.predict(X)
    here = KernelRidge().fit(X, T)
    np.testing.assert_allclose(found, here.predict(X), atol=1e-10)
    assert Recorder.asked == ["cpu", ("cpu", "1MB")]
    for solver, precision in (("packed", "double"), ("auto", "mixed")):
        with (
            config_context(device="cpu", precision=precision),
            pytest.raises(ValueError, match="On a device the whole matrix"),
        ):
            KernelRidge(solver=solver).fit(X, T)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_torch_answers_like_numpy(kernel):
    pytest.importorskip("torch")
    pytest.importorskip("skstruct.smoothing.systems.on_device")
    rng = np.random.default_rng(0)
    X, T, weight = rng.standard_normal((40, 3)), rng.standard_normal((40, 2)), rng.random(40)
    here = KernelRidge(kernel).fit(X, T, weight)
    with config_context(device="cpu"):
        there = KernelRidge(kernel).fit(X, T, weight)
        spectral = KernelRidge(kernel, solver="spectral").fit(X, T, weight)
    np.testing.assert_allclose(there.predict(X[:9]), here.predict(X[:9]), atol=1e-9)
    np.testing.assert_allclose(there.weights(X[:9]), here.weights(X[:9]), atol=1e-9)
    np.testing.assert_allclose(there.loo(), here.loo(), atol=1e-9)
    np.testing.assert_allclose(spectral.predict(X[:9]), here.predict(X[:9]), atol=1e-9)


def test_a_model_stays_where_it_was_fitted():
    pytest.importorskip("torch")
    X, T = np.arange(4.0)[:, None], np.arange(4.0)
    here = KernelRidge().fit(X, T)
    with config_context(device="cpu"):
        there = KernelRidge().fit(X, T)
        assert (here.device_, there.device_) == (None, "cpu")
        within = here.predict([[1.5]])
    assert here.predict([[1.5]]) == within
    np.testing.assert_allclose(there.predict([[1.5]]), within, atol=1e-12)
    assert {"device", "engine", "memory", "precision"}.isdisjoint(here.get_params())


def test_a_factor_serves_thousands_of_targets_where_iterations_would_not():
    text = {"linear": True, "filled": 0.002}
    assert plan(6_000, 50_000, 20, **text).solver == "primal"
    many = plan(6_000, 50_000, 3_000, **text)
    assert many.solver == "cholesky"
    assert many.flops < plan(6_000, 50_000, 3_000, solver="primal", **text).flops
    assert many.bytes < plan(6_000, 50_000, 3_000, solver="primal", **text).bytes
    assert plan(6_000, 400, 3_000, linear=True).solver == "primal"  # sums of products
    assert plan(30_000, 50_000, 3_000, **text).solver == "primal"  # too many rows for a factor
