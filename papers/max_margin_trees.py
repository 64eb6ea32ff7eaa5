# SPDX-License-Identifier: BSD-3-Clause
"""Trees of labels: Figure 1 and Tables 1 and 2 of Meshi, Eban, Elidan and Globerson (2013).

"Learning max-margin tree predictors", section 5. Protocol:

* MULAN's training and test halves. Medical is reduced to the 10 labels most frequent in
  training; the paper does not list its ten. Rows whose labels are all gone stay, with an
  empty label set;
* accuracies in percent: share of right labels, share of right label sets, and the F1 measure
  of each example, averaged, which is 1 where prediction and truth are both empty. Errors are
  standard errors over test rows;
* the paper says "cross-validation" and no more. The rule here: five folds of the training
  rows, drawn once, and for each figure the features and the penalty lam whose left-out
  accuracy in the same measure is largest, for each method by itself. Features are as they are
  or standardised, and of the length they have or divided by one number so that their mean
  squared length is one: edges and the constant are penalised like features, so that the length
  says what edges cost. lam is 3e-05 to 3e-02 times the mean squared length;
* CRANK is restarted 10 times and edges are exchanged in the end, in cross-validation it has one
  start and no exchange. Greedy and MST, which take long, have CRANK's settings, and at most 300
  passes in each of their trainings;
* rows with a star choose one model for all three measures, by the mean of the three left-out
  accuracies. This criterion was settled when test figures had been seen;
* beside them: LinearSVC for each label, chosen alike; ConditionalRiskMinimizer for the loss of
  each measure, with kernel, width and alpha by its leave-one-out on features of length one
  ("kernels"), and as it comes on features as they are ("ours, default"). These two are not linear.

Table 2 is in CPU seconds on one thread, other tasks running beside it. "decoding" starts from given
scores of labels; predict adds the product of inputs and weights and the checks of inputs. The
authors' Full is decoded by linear programs, ours by roof duality: both are printed.

Figure 1: make_label_tree without noise, 10 labels, 4 inputs; lam by three folds of the Full
network for each training set, for all methods alike, by the mean of three accuracies, and 3
restarts of CRANK; errors over trees.

Usage: python papers/max_margin_trees.py [--jobs N] [--sets NAME ...] [--quick]
``--quick``: Emotions, two folds, two restarts, a small figure.
"""

import keeping  # first: it sets the number of threads  # isort: skip

from pathlib import Path

import numpy as np
from published_trees import PAPER, PAPER_TIMES
from tree_choices import FOLDS, FORMS, MEAN, MEASURES, choices, grid_of, left_out
from tree_tasks import by_default, chosen_kernel, figure, fitted, times

METHODS = {
    "Full": "full", "CRANK": "crank", "Greedy": "greedy", "Project": "project", "MST": "mst",
    "Chow-Liu": "chow-liu", "Empty": "empty", "LinearSVC": "LinearSVC",
}  # fmt: skip
TREES = [title for title in METHODS if title != "LinearSVC"]
BORROWED = ("Greedy", "MST")  # take the settings of CRANK
STARRED = ("Full", "CRANK")
TIMED = ("train", "predict", "decoding")
STAR = "* chosen by the mean of three accuracies, which was settled with test figures in sight"


def selections(names, folds):
    """Tasks of cross-validation."""
    return {
        f"{name}/{title}/{form}/fold {fold}": (left_out, name, METHODS[title], form, fold, folds)
        for name in names for title in METHODS if title not in BORROWED
        for form in FORMS for fold in range(folds)
    }  # fmt: skip


def settings_of(found, name, title, folds):
    """{criterion: (form, lam)} by the rule; None where data are missing."""
    source = "CRANK" if title in BORROWED else title
    parts = {
        form: [found.get(f"{name}/{source}/{form}/fold {fold}") for fold in range(folds)]
        for form in FORMS
    }
    if any(part is None for fold in parts.values() for part in fold):
        return None
    return choices(parts, grid_of(METHODS[source]))


def fit_key(name, title, form, lam):
    return f"{name}/{title}/{form}/lam {lam:g}"


def fits(chosen, restarts):
    """Tasks of the test halves: every model that some criterion chose, and ours."""
    tasks = {}
    for (name, title), picks in chosen.items():
        wanted = [pick for what, pick in picks.items() if what != MEAN or title in STARRED]
        for form, lam in dict.fromkeys(wanted):
            key = fit_key(name, title, form, lam)
            tasks[key] = fitted, name, METHODS[title], form, lam, restarts
    for name in dict.fromkeys(name for name, _ in chosen):
        for measure in MEASURES:
            tasks[f"{name}/default/{measure}"] = by_default, name, measure
            tasks[f"{name}/kernels/{measure}"] = chosen_kernel, name, measure
    return tasks


def time_tasks(chosen, restarts):
    """Tasks of Table 2, with what Hamming accuracy chose for each method."""
    tasks = {}
    for title in TREES:
        if ("yeast", title) in chosen:
            form, lam = chosen["yeast", title]["Hamming"]
            tasks[f"times/{title}/{form}/{lam:g}"] = times, METHODS[title], form, lam, restarts
            if title == "CRANK":
                tasks[f"times/CRANK, 1 start/{form}/{lam:g}"] = times, "crank", form, lam, 1
    return tasks


def figure_tasks(sizes, repeats):
    methods = [METHODS[title] for title in TREES]
    return {
        f"figure/{size} rows/tree {repeat}": (figure, methods, repeat, size, max(sizes))
        for size in sizes for repeat in range(repeats)
    }  # fmt: skip


# ---------------------------------------------------------------------- tables


def percent(rows):
    return keeping.Figure.of(100 * np.asarray(rows))


def rows_of(name, chosen, found):
    """{title: a Figure for each measure} of one data set."""
    rows = {}
    for title in METHODS:
        picks = chosen[name, title]
        models = [found[fit_key(name, title, *picks[measure])] for measure in MEASURES]
        rows[title] = [percent(model["rows"][i]) for i, model in enumerate(models)]
        if title in STARRED:
            model = found[fit_key(name, title, *picks[MEAN])]
            rows[title + "*"] = [percent(part) for part in model["rows"]]
    for title, key in (("kernels", "kernels"), ("ours, default", "default")):
        rows[title] = [percent(found[f"{name}/{key}/{measure}"]["rows"]) for measure in MEASURES]
    return rows


def print_choices(chosen, found):
    """What was chosen, and how well it was trained: gaps in percent of the objective."""
    print("Choices: features and lam by each criterion; objective, gap in percent, CPU seconds")
    for (name, title), picks in chosen.items():
        for form, lam in dict.fromkeys(picks.values()):
            model = found.get(fit_key(name, title, form, lam))
            if model is None:
                continue
            by = ", ".join(what for what, pick in picks.items() if pick == (form, lam))
            text = f"{name}, {title} by {by}: {form}, lam {lam:g}"
            if model["objective"] is not None:
                gap = 100 * (1 - model["dual_objective"] / model["objective"])
                text += f", objective {model['objective']:.4f}, gap {gap:.2f} %"
            print(f"{text}, {model['seconds']:.1f} s")
        if title == "LinearSVC":
            whats = [f"{m}: {found[f'{name}/kernels/{m}']['what']}" for m in MEASURES]
            print(f"{name}, kernels, {'; '.join(whats)}")
    print()


def table_1(names, rows):
    """Accuracies with errors, and the paper's."""
    print("Table 1: test accuracies in percent, by the rule; the paper's to the right\n")
    for name in names:
        heads = "".join(f"{measure:>14s}" for measure in MEASURES)
        print(f"{name.upper():16s}{heads}" + "".join(f"{m + ', paper':>18s}" for m in MEASURES))
        for title, figures in rows[name].items():
            ours = "".join(f"{figure.text(1):>14s}" for figure in figures)
            paper = PAPER[name].get(title, ())
            theirs = "".join(f"{figure:18.1f}" for figure in paper)
            print(f"{title:16s}{ours}{theirs}".rstrip(), flush=True)
        print(f"{STAR}\n")


def table_2(found):
    spent = {key.split("/")[1]: value for key, value in found.items() if key.startswith("times/")}
    if "Full" not in spent:
        return
    full = spent["Full"]
    print("Table 2: times on Yeast, relative to Full (seconds in brackets); test: 917 rows")
    print(f"{'':16s}{'train':>18s}{'predict':>20s}{'decoding':>20s}   paper: train, test")
    for title, row in spent.items():
        cells = (f"{row[k] / full[k]:9.3f} ({row[k]:8.3g})" for k in TIMED)
        paper = "{:5.2f} {:5.2f}".format(*PAPER_TIMES[title]) if title in PAPER_TIMES else "NA"
        print(f"{title:16s}{''.join(cells)}   {paper}")
    slow = {"by roof duality": full["decoding"], "by linear programs": full["programs"]}
    crank = spent["CRANK"]
    print(f"Full, decoded by linear programs (HiGHS, from 40 rows): {full['programs']:.3g} s")
    for what, seconds in slow.items():
        print(f"CRANK decodes {seconds / crank['decoding']:.0f} times as fast as Full {what}")
    times_as_fast = full["predict"] / crank["predict"]
    print(f"CRANK predicts {times_as_fast:.0f} times as fast as Full, all included\n")


def figure_1(found, sizes, repeats):
    """Means over trees with their errors; drawn too."""
    means = np.array([
        [found[f"figure/{size} rows/tree {repeat}"]["accuracies"] for size in sizes]
        for repeat in range(repeats)
    ])  # fmt: skip
    print(f"Figure 1: synthetic data, test accuracy, mean of {repeats}; by size of training set")
    for i, measure in enumerate(MEASURES):
        print(f"\n{measure:10s}" + "".join(f"{size:>14d}" for size in sizes))
        for m, title in enumerate(TREES):
            cells = (percent(means[:, s, m, i]).text(1) for s in range(len(sizes)))
            print(f"{title:10s}" + "".join(f"{cell:>14s}" for cell in cells))
    draw(sizes, 100 * means.mean(axis=0))


def draw(sizes, found):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    drawing, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
    for i, (ax, measure) in enumerate(zip(axes, MEASURES)):
        for m, title in enumerate(TREES):
            ax.plot(sizes, found[:, m, i], "o-", label=title, markersize=3)
        ax.set(xlabel="training samples", title=measure, xscale="log")
        ax.set_xticks(sizes, sizes)
        ax.minorticks_off()
    axes[0].set_ylabel("test accuracy, percent")
    axes[0].legend(fontsize="small")
    path = Path("output") / "max_margin_trees.png"
    path.parent.mkdir(exist_ok=True)
    drawing.savefig(path, dpi=120)
    print(f"   drawn to {path}")


def summarise(names, rows):
    lines = [
        (f"{name}, {measure}", 1, PAPER[name]["CRANK"][i], rows[name]["CRANK"][i],
         rows[name]["ours, default"][i])
        for name in names for i, measure in enumerate(MEASURES)
    ]  # fmt: skip
    keeping.summary(lines, lower=False)


def main():
    given = keeping.arguments(
        __doc__,
        ("--sets", {"nargs": "*", "default": list(PAPER), "metavar": "NAME"}),
        ("--quick", {"action": "store_true", "help": "Emotions alone, fewer folds and restarts"}),
    )
    script, folds, restarts = "max_margin_trees", FOLDS, 10
    sizes, repeats = (25, 50, 100, 200, 400), 10
    if given.quick:
        script, given.sets, folds, restarts = "max_margin_trees_quick", ["emotions"], 2, 2
        sizes, repeats = (25, 50), 2
    only, given.only = given.only, None  # chooses among the tasks of the tables, not of the choices
    found = keeping.results(script, selections(given.sets, folds), given)
    given.anew = False
    chosen = {(name, title): settings_of(found, name, title, folds)
              for name in given.sets for title in METHODS}  # fmt: skip
    chosen = {key: picks for key, picks in chosen.items() if picks is not None}
    names = list(dict.fromkeys(name for name, _ in chosen))
    given.only = only
    tasks = time_tasks(chosen, restarts) | fits(chosen, restarts) | figure_tasks(sizes, repeats)
    found = keeping.results(script, tasks, given)
    rows = {name: rows_of(name, chosen, found) for name in names}
    print_choices(chosen, found)
    table_1(names, rows)
    table_2(found)
    figure_1(found, sizes, repeats)
    summarise(names, rows)


if __name__ == "__main__":
    main()
