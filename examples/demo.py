# SPDX-License-Identifier: BSD-3-Clause
"""
Digits in a taxonomy of shapes
==============================

The main job, on data that come with scikit-learn.

Trains one model, predicts under two losses and under a constraint given at prediction
time, and compares with one classifier per label, which knows nothing of the taxonomy.
"""

from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier

from skstruct import ConditionalRiskMinimizer
from skstruct.datasets import load
from skstruct.inspection import HierarchyDisplay
from skstruct.losses import Hamming, HierarchicalLoss, ZeroOne
from skstruct.spaces import Hierarchy

# sphinx_gallery_thumbnail_path = "images/cards/front.png"


def main():
    console = Console()
    data = load("digit_shapes")
    rng = np.random.default_rng(0)  # noise, so that there is something to get wrong
    X_train = data.X_train + rng.normal(0, 0.4, data.X_train.shape)
    X_test = data.X_test + rng.normal(0, 0.4, data.X_test.shape)
    space = Hierarchy(data.edges, data.labels)
    console.print(
        f"[bold]{len(data.labels)} labels[/bold] in a taxonomy of digit shapes, "
        f"{len(X_train)} training and {len(X_test)} test images (blurred by noise)."
    )

    model = ConditionalRiskMinimizer(space, "hierarchical").fit(X_train, data.Y_train)
    tried, best = len(model.search_.trials), model.search_.best
    console.print(
        f"{tried} smoothers and penalties tried; {best['smoother']} has a left-out loss of "
        f"{best['risk']:.3g}."
    )
    leaves = (data.Y_train.sum(axis=0) > 0) & (data.Y_train.sum(axis=0) < len(X_train))
    alone = MultiOutputClassifier(LogisticRegression(max_iter=2000))
    alone.fit(X_train, data.Y_train[:, leaves])
    per_label = np.ones_like(data.Y_test)  # a label that is always in needs no classifier
    per_label[:, leaves] = alone.predict(X_test)

    predictions = {
        "classifier per label": per_label,
        "for hierarchical loss": model.predict(X_test),
        "for Hamming loss": model.predict(X_test, loss="hamming"),
        "one path, by request": model.predict(X_test, restrict={"one_path": True}),
    }
    console.print(losses_table(predictions, data.Y_test, space))
    show_one(model, X_test, data, console)


def losses_table(predictions, truth, space):
    table = Table(title="Mean loss on the test images: one model, decoded in three ways")
    for column in ("", "hierarchical", "Hamming", "not exact", "break rules"):
        table.add_column(column, justify="left" if not column else "right", no_wrap=True)
    hierarchical = HierarchicalLoss().bind(space)
    for name, predicted in predictions.items():
        table.add_row(
            name,
            f"{hierarchical(predicted, truth).mean():.4f}",
            f"{Hamming()(predicted, truth).mean():.4f}",
            f"{ZeroOne()(predicted, truth).mean():.1%}",
            f"{(~space.contains(predicted)).sum()} of {len(truth)}",
        )
    return table


def show_one(model, X_test, data, console):
    """A prediction that is right and yet unsure, as words and as a picture."""
    decoded = model.decode(X_test)
    right = (decoded.outputs == data.Y_test).all(axis=1)
    row = int(np.argmax(np.where(right, decoded.values, -np.inf)))
    told = model.explain(X_test[[row]])
    names = [data.labels[j] for j in np.flatnonzero(decoded.outputs[row])]
    console.print(
        f"\nTest image {row}: predicted {' > '.join(names)}, estimated risk "
        f"{decoded.values[row]:.3f}, certified gap "
        f"{decoded.values[row] - decoded.bounds[row]:.1e}; "
        f"strongest supporters are training images {told.supporters(3)[0].tolist()}."
    )
    picture = Path("output") / "demo_prediction.png"
    picture.parent.mkdir(exist_ok=True)
    display = HierarchyDisplay.from_estimator(model, X_test[row], y=data.Y_test[row])
    display.ax_.set_title(f"Test image {row}: estimated shares, prediction framed, truth starred")
    display.figure_.savefig(picture, dpi=120)
    console.print(f"Picture of this prediction: {picture}")


if __name__ == "__main__":
    main()
