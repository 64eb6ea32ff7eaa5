# SPDX-License-Identifier: BSD-3-Clause
"""``skstruct evaluate``, ``skstruct compare`` and ``skstruct report``: what models are worth."""

from pathlib import Path
from typing import Any

import click

from skstruct.cli.options import (
    DATA,
    EXISTING,
    NumberRange,
    check_loss,
    check_writable,
    json_option,
    loss_option,
    quiet_option,
    read_file,
    reading_options,
    restrict_option,
    skip_option,
    verbose_option,
)
from skstruct.cli.terminal import shows_progress


@click.command(short_help="Losses of a model on a data file, with intervals.")
@click.argument("model", type=EXISTING)
@click.argument("data", type=DATA)
@click.option(
    "--loss",
    "losses",
    multiple=True,
    help="May be repeated; all that fit, and take no longer than to predict, if left out.",
)
@restrict_option
@click.option("--bootstrap", type=click.IntRange(1), default=1000, show_default=True,
              help="Draws of the rows for the intervals.")  # fmt: skip
@click.option("--level", type=NumberRange(0, 1, min_open=True, max_open=True), default=0.95,
              show_default=True, help="Of the intervals.")  # fmt: skip
@reading_options
@skip_option
@quiet_option
@json_option
@shows_progress
def evaluate(
    model: Any,
    data: Any,
    losses: Any,
    restrict: dict[str, Any] | None,
    bootstrap: Any,
    level: Any,
    quiet: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Mean losses of MODEL on DATA, each with a bootstrap interval and the best constant answer.

    A model that can, predicts anew for every loss ("aimed"). Where parts of the outputs in DATA are
    missing, losses are those on what is known; "least" and "most" are the ends of the mean over
    all rows, whatever the rest is. Of tags there are shares of tokens and sentences that are
    right, and precision, recall and F1 of chunks where tags are IOB1, IOB2, IOBES or BILOU.
    """
    from skstruct.cli.models import open_model, read_labelled, training_remark
    from skstruct.cli.options import check_loss, constraints_of
    from skstruct.cli.terminal import print_json, print_table, say
    from skstruct.model_selection import evaluate as evaluated
    from skstruct.model_selection.evaluation import affordable_losses, left_out_text

    for loss in losses:
        check_loss(loss)
    task_model = open_model(model)
    constraints = constraints_of(task_model, restrict)
    table, X, y = read_labelled(task_model, data, reading, quiet=quiet)
    seen = training_remark(task_model, table, quiet)
    named, costly = list(losses), list[str]()
    if not named:
        usual, costly = affordable_losses(task_model.learner_, len(table))
        named = list(usual.values())
    if costly:
        say(left_out_text(costly, " ".join(f"--loss {name}" for name in costly)), quiet)
    estimates = evaluated(
        task_model.learner_, X, y, losses=named, restrict=constraints, n_bootstrap=bootstrap,
        level=level, missing="bounds",
    )  # fmt: skip
    tags = None
    if task_model.task_ == "sequence":
        from skstruct.cli.tags import as_record, print_tags, tag_estimates

        tags = tag_estimates(task_model, X, y, constraints, bootstrap, level)
    unknown = estimates[0].unknown if estimates else ""
    ends = ("lower", "upper") if unknown else ()
    columns = ("loss", "mean", "low", "high", "baseline", *ends, "aimed")
    rows = [[getattr(estimate, name) for name in columns] for estimate in estimates]
    if as_json:
        records = [dict(zip(columns, row)) for row in rows]
        known: dict[str, Any] = {} if seen is None else {"rows_of_training": seen.n_seen}
        known |= {"left_out": costly} if costly else {}
        known |= {"unknown": unknown} if unknown else {}
        told = {} if tags is None else {"tags": as_record(tags)}
        print_json({"rows": len(table), **known, "level": level, "losses": records, **told})
    else:
        title = f"{table.name}, {len(table):,} rows; intervals of {100 * level:g} %"
        shown = [[*row[:-1], "yes" if row[-1] else "no"] for row in rows]
        shown_names = [{"lower": "least", "upper": "most"}.get(name, name) for name in columns]
        print_table(title, shown_names, shown, numbers=shown_names[1:-1])
        if tags is not None:
            print_tags(tags, len(table))
        if unknown:
            say(unknown, quiet)


# ``skstruct compare``: several learners on the same folds.


COMPARISON_COLUMNS = (
    "loss", "learner", "mean", "low", "high", "behind", "behind low", "behind high",
    "fit s", "predict s",
)  # fmt: skip
LEARNER_NAMES = (
    "stack, kernel, linear, forest, neighbors, exponential, svm, tree, perceptron, counting, "
    "output-kernel"
)


@click.command(short_help="Several learners on the same folds.")
@click.argument("data", type=DATA)
@click.option("--learners", default="kernel,forest,neighbors", show_default=True,
              help=f"Names with commas: {LEARNER_NAMES}.")  # fmt: skip
@loss_option
@click.option("--folds", type=click.IntRange(2), default=5, show_default=True)
@click.option("--plot", "picture", help="A picture to write, such as losses.png.")
@reading_options
@skip_option
@verbose_option
@quiet_option
@json_option
@shows_progress
def compare(
    data: str,
    learners: str,
    loss: Any,
    folds: int,
    picture: str | None,
    verbose: int,
    quiet: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Cross-validate several learners on the same folds of DATA.

    "behind" is how much more a learner loses than the best of its loss, row by row; where its
    interval is above zero, the difference is hardly chance.
    """
    from skstruct.cli.exit_codes import bad_data
    from skstruct.cli.terminal import print_json, print_table, say
    from skstruct.datasets import Table
    from skstruct.features import TokenFeatures
    from skstruct.model_selection import compare as compared
    from skstruct.tasks import outputs_for_learning, space_for

    if picture is not None:
        check_writable(picture)
    if loss is not None:
        check_loss(loss)
    table = read_file(data, reading, quiet=quiet)
    with bad_data(f"{table.name}: "):
        y = outputs_for_learning(table)
        space = space_for(table)
        space.fit(y).validate(y)
        if len(table) < folds:
            raise ValueError(f"{len(table)} rows cannot be split into {folds} folds.")
    named = _learners(learners, space, loss)
    if isinstance(table.inputs, Table):
        X, named = _with_encoders(table.inputs, named)
    else:
        X = TokenFeatures().fit_transform(table.inputs)
    result = compared(named, X, y, cv=folds, verbose=int(verbose))
    for name, why in result.failed.items():
        say(f"{name} took no part: {why}", quiet)
    rows = [
        (r.loss, r.name, r.mean, r.low, r.high, r.behind, r.behind_low, r.behind_high,
         r.fit_seconds, r.predict_seconds)
        for r in result.rows
    ]  # fmt: skip
    if picture is not None:
        _draw_comparison(result, picture)
    if as_json:
        records = [
            dict(zip([c.replace(" ", "_") for c in COMPARISON_COLUMNS], row)) for row in rows
        ]
        print_json(
            {"rows": len(table), "folds": folds, "results": records, "failed": result.failed}
        )
    else:
        title = f"{table.name}, {len(table):,} rows in {folds} folds; intervals of 95 %"
        print_table(title, COMPARISON_COLUMNS, rows, numbers=COMPARISON_COLUMNS[2:])


def _learners(names: str, space: Any, loss: Any) -> dict[str, Any]:
    from skstruct.tasks import make_learner

    try:
        return {name: make_learner(name, space, loss) for name in names.replace(" ", "").split(",")}
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _with_encoders(inputs: Any, learners: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Row numbers as inputs, and learners that look them up, encoded by the rows of training."""
    import numpy as np

    from skstruct.tasks.encoders import RowLearner

    X = np.arange(len(inputs))[:, None]
    return X, {name: RowLearner(inputs, learner) for name, learner in learners.items()}


def _draw_comparison(result: Any, path: str) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from skstruct._files.atomic import replacing
    from skstruct.cli.exit_codes import writing
    from skstruct.inspection import ComparisonDisplay

    figure = ComparisonDisplay.from_comparison(result).figure_
    kind = Path(path).suffix.lstrip(".").lower() or "png"
    if kind not in figure.canvas.get_supported_filetypes():
        known = ", ".join(sorted(figure.canvas.get_supported_filetypes()))
        raise click.UsageError(f"{path}: a picture is one of {known}; {kind!r} is none of them.")
    with writing(path), replacing(path, "wb") as file:
        figure.savefig(file, dpi=150, format=kind)


@click.command(short_help="Everything about a model and its errors in one HTML file.")
@click.argument("model", type=EXISTING)
@click.argument("data", type=DATA)
@click.option("-o", "--output", required=True, help="The HTML file to write.")
@click.option("--title", help="Of the page.")
@click.option("--train", type=DATA, help="The data of training, for losses on them beside.")
@click.option("--examples", type=click.IntRange(0), default=6, show_default=True,
              help="Predictions that are shown one by one.")  # fmt: skip
@reading_options
@skip_option
@verbose_option
@quiet_option
@shows_progress
def report(
    model: Any,
    data: Any,
    output: Any,
    title: Any,
    train: Any,
    examples: Any,
    verbose: int,
    quiet: bool,
    **reading: Any,
) -> None:
    """Show what MODEL was trained on, its losses on DATA and where its errors are.

    The page opens without a network. DATA should not be the data of training.
    """
    from sklearn.pipeline import make_pipeline

    from skstruct.cli.exit_codes import writing
    from skstruct.cli.models import open_model, read_labelled, training_remark
    from skstruct.cli.options import check_writable
    from skstruct.cli.terminal import say
    from skstruct.features import TokenFeatures
    from skstruct.reports import write_report

    check_writable(output)
    task_model = open_model(model)
    about, X_train, y_train = task_model.about_, None, None
    table, X, y = read_labelled(task_model, data, reading, quiet=quiet)
    learner, of_words = task_model.learner_, isinstance(task_model.encoder_, TokenFeatures)
    if train is not None:
        trained, X_train, y_train = read_labelled(task_model, train, reading, quiet=quiet)
        X_train = trained.inputs if of_words else X_train
    if of_words:  # so that the page shows the words, not their features
        learner, X = make_pipeline(task_model.encoder_, learner), table.inputs
    seen = training_remark(task_model, table, quiet)
    with writing(output):
        write_report(
            learner, X, y, output,
            title=title or f"{about['data']}: {task_model.task_}",
            data_name=table.name,
            feature_names=getattr(task_model.encoder_, "feature_names_", None),
            timings=about["seconds"],
            n_examples=examples,
            verbose=int(verbose),
            X_train=X_train,
            y_train=y_train,
            remarks=() if seen is None else (str(seen),),
        )  # fmt: skip
    say(f"Wrote {output}.", quiet)
