# SPDX-License-Identifier: BSD-3-Clause
"""
An encoder that ends in a hierarchy
===================================

A network of PyTorch, trained through its last layer.

A small network stands for an encoder of texts or images. With one sigmoid per label it predicts
labels without their parents. With the distribution over a hierarchy as last layer it is trained by
the likelihood of whole sets, and no label is ever more probable than its parent. Then the F measure
itself is climbed, through the probabilities of either layer. Five data sets are drawn.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn

from skstruct.spaces import Hierarchy, Inference
from skstruct.torch import FenchelYoungLoss, Marginals

torch.set_num_threads(1)
N_TRAIN, N, N_FEATURES, N_HIDDEN = 300, 3000, 40, 8

edges = [(f"{a}", f"{a}/{b}") for a in range(6) for b in range(3)]
edges += [(f"{a}/{b}", f"{a}/{b}/{c}") for a in range(6) for b in range(3) for c in range(2)]
space = Hierarchy(edges)
d = len(space.labels_)


def data(seed):
    """Sets of labels that depend on what is hidden, and features that show it, mixed and noisy."""
    rng = np.random.default_rng(seed)
    hidden = rng.standard_normal((N, N_HIDDEN))
    scores = 4.0 * hidden @ rng.standard_normal((N_HIDDEN, d)) / np.sqrt(N_HIDDEN) - 2.0
    Y = Inference.of(space).distribution(scores).sample(1, rng)[:, 0]
    X = np.tanh(hidden @ rng.standard_normal((N_HIDDEN, N_FEATURES)))
    X += 0.3 * rng.standard_normal(X.shape)
    return torch.tensor(X, dtype=torch.float32), torch.tensor(Y, dtype=torch.float32)


def train(model, loss, X, Y, rate, epochs):
    steps = torch.optim.Adam(model.parameters(), lr=rate, weight_decay=1e-4)
    for _ in range(epochs):
        for rows in torch.randperm(N_TRAIN).split(100):
            steps.zero_grad()
            loss(model(X[rows]), Y[rows]).backward()
            steps.step()


def judge(model, layer, X, Y):
    """F1 of the labels of probability above one half, and the share of sets that are closed."""
    with torch.no_grad():
        found = (layer(model(X)) > 0.5).numpy().astype(np.int8)
    true = Y.numpy().astype(np.int8)
    return 2.0 * (found & true).sum() / (found.sum() + true.sum()), space.contains(found).mean()


def soft_f1(means, targets):
    """1 - F1 with probabilities in place of labels."""
    return 1.0 - 2.0 * (means * targets).sum() / (means.sum() + targets.sum())


# %%
# Two last layers
# ---------------

LAYERS = {
    "one sigmoid per label": (nn.Sigmoid(), nn.BCEWithLogitsLoss(reduction="sum")),
    "the hierarchy": (
        Marginals(space),
        FenchelYoungLoss(space, "entropy", sense="max", reduction="sum"),
    ),
}
print(f"{N_TRAIN} training rows, {d} labels in {len(space.dag_.roots)} trees")
results = {name: [] for name in LAYERS}
for seed in range(5):
    X, Y = data(seed)
    for name, (layer, likelihood) in LAYERS.items():
        torch.manual_seed(seed)
        model = nn.Sequential(nn.Linear(N_FEATURES, 64), nn.Tanh(), nn.Linear(64, d))
        train(model, likelihood, X, Y, rate=1e-2, epochs=20)
        first = judge(model, layer, X[N_TRAIN:], Y[N_TRAIN:])
        # Marginals have gradients: what is measured can be trained.
        tuned = lambda scores, y, layer=layer: soft_f1(layer(scores), y)  # noqa: E731
        train(model, tuned, X, Y, rate=2e-3, epochs=10)
        results[name].append((*first, *judge(model, layer, X[N_TRAIN:], Y[N_TRAIN:])))

# %%
# What the hierarchy is worth
# ---------------------------

print(f"{'':24}{'F1':>8}{'closed':>8}{'tuned F1':>10}{'closed':>8}")
for name, rows in results.items():
    f1, closed, tuned_f1, tuned_closed = np.mean(rows, axis=0)
    print(f"{name:24}{f1:8.3f}{closed:8.0%}{tuned_f1:10.3f}{tuned_closed:8.0%}")
gain = np.subtract(*(np.array(results[name])[:, 0] for name in reversed(LAYERS)))
print(f"F1 gained by the hierarchy, least and most of five: {gain.min():.3f}, {gain.max():.3f}")

plt.rcParams["font.size"] = 14
figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
for place, stage in ((0, "likelihood"), (2, "then F1 itself")):
    for name, marker in zip(LAYERS, "os"):
        values = np.array(results[name])[:, place]
        label = name if place == 0 else None
        color = "tab:red" if marker == "o" else "tab:blue"
        ax.plot(values, [stage] * 5, marker, color=color, markersize=11, alpha=0.7, label=label)
ax.set(xlabel="F1 on new rows, five data sets", ylim=(-0.6, 1.9))
ax.legend(loc="upper left")
plt.show()
