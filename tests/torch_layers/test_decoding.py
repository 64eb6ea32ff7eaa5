# SPDX-License-Identifier: BSD-3-Clause
"""Where layers decode, and that nothing else needs torch."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skstruct.spaces import Classes, Hierarchy, LabelSets, Matchings, Rankings, Sequences

torch = pytest.importorskip("torch")
from skstruct.torch import (  # noqa: E402
    FenchelYoungLoss,
    Marginals,
    PerturbedArgmin,
    SPOPlusLoss,
    decoding,
)

TREE = Hierarchy([(0, 1), (0, 2), (2, 3)])
ON_DEVICE = {  # with the number of coordinates
    "classes": (Classes(list("abc")).fit(list("abc")), 3),
    "label sets": (LabelSets(range(4)), 4),
    "tree": (TREE, 4),
    "known labels": (TREE.restrict(include=[2]), 4),
    "ranks": (Rankings(range(4), "ranks"), 4),
    "positions": (Rankings(range(4), "positions"), 16),
    "bigrams": (Sequences("abc", 4, "bigrams"), 12 + 27),
}
cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


@pytest.mark.slow
@pytest.mark.parametrize("case", ON_DEVICE)
def test_devices_decode_as_the_host_does(case):
    """The decoders of devices, on the one that is always there."""
    space, d = ON_DEVICE[case]
    costs = torch.randn(50, d, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    before = costs.clone()
    outputs = decoding.on_device(space, costs)
    assert_array_equal(outputs, space.argmin(costs.numpy()).outputs)
    assert torch.equal(costs, before)


def test_what_the_host_decodes():
    rows = LabelSets(range(3)).restrict(include=[[0], [1]])
    assert decoding.on_device(rows, torch.zeros(2, 3, dtype=torch.float64)) is None
    matchings = Matchings(range(4))
    assert decoding.on_device(matchings, torch.zeros(2, 6, dtype=torch.float64)) is None


@pytest.mark.parametrize("case", ON_DEVICE)
def test_axes_before_rows(case):
    space, d = ON_DEVICE[case]
    costs = torch.randn(3, 5, d, generator=torch.Generator().manual_seed(0))
    psi = decoding.best_embeddings(space, costs)
    assert psi.shape == (3, 5, d)
    assert psi.dtype == torch.float64
    for k in range(3):
        assert torch.equal(psi[k], decoding.best_embeddings(space, costs[k]))


def test_costs_of_another_embedding():
    with pytest.raises(ValueError, match=r"got shape \(2, 5\)"):
        decoding.best_embeddings(TREE, torch.zeros(2, 5))
    with pytest.raises(ValueError, match=r"got shape \(1, 5\)"):
        decoding.on_device(TREE, torch.zeros(2, 5, dtype=torch.float64))


@cuda
@pytest.mark.parametrize("case", ON_DEVICE)
def test_layers_on_cuda(case):
    """The same numbers as on the host, and the device of the costs is kept."""
    space, d = ON_DEVICE[case]
    costs = torch.randn(6, d, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    truth = torch.tensor(np.asarray(decoding.best_embeddings(space, -costs)))
    layers = [
        lambda c: PerturbedArgmin(space, random_state=0)(c),
        lambda c: FenchelYoungLoss(space, random_state=0)(c, truth),
        lambda c: FenchelYoungLoss(space, "entropy")(c, truth),
        lambda c: SPOPlusLoss(space)(c, truth),
        lambda c: Marginals(space)(c),
    ]
    for layer in layers:
        found = []
        for device in ("cpu", "cuda"):
            given = costs.detach().clone().to(device).requires_grad_()
            value = layer(given)
            assert value.device == given.device
            (value**2).sum().backward()
            assert given.grad.device == given.device
            found.append((value.detach().cpu(), given.grad.cpu()))
        for here, there in zip(*found):
            assert_allclose(here, there, atol=1e-9)


@cuda
def test_draws_on_cuda_without_a_seed():
    mean = PerturbedArgmin(LabelSets(range(3)), 1000)(torch.zeros((2, 3), device="cuda"))
    assert mean.device.type == "cuda"
    assert_allclose(mean.cpu(), 0.5, atol=5 * 0.5 / 1000**0.5)


def test_layers_are_kept_in_files():
    costs = torch.zeros(2, 4)
    for layer in (PerturbedArgmin(TREE, random_state=3), Marginals(TREE)):
        again = pickle.loads(pickle.dumps(layer))
        assert torch.equal(again(costs), layer(costs))
        assert layer.state_dict() == {}


WITHOUT = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            raise ModuleNotFoundError("No module named 'torch'")

sys.meta_path.insert(0, Absent())
from skstruct import *
try:
    import skstruct.torch
except ImportError as error:
    print(error)
"""


@pytest.mark.subprocess
def test_without_torch_it_says_what_to_install():
    printed = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True
    )
    assert printed.stdout.strip() == 'skstruct.torch needs torch: pip install "skstruct[torch]".'


@pytest.mark.subprocess
def test_spaces_do_not_load_torch():
    code = "import sys, skstruct, skstruct.spaces, skstruct.learners; print('torch' in sys.modules)"
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert printed.stdout.strip() == "False"


def test_the_package_is_an_attribute():
    import skstruct

    assert skstruct.torch.Marginals is Marginals
    assert "torch" in dir(skstruct)
    assert "torch" not in skstruct.__all__
