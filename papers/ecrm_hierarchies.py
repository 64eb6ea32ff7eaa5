# SPDX-License-Identifier: BSD-3-Clause
"""Table 1 and Figure 2(a) of Goh & Jaillet: hierarchical label sets.

"Structured prediction by conditional risk minimization", section 6.1. Protocol:

* kernels as in the paper: Gaussian on the two image sets, linear on the others. The paper does not
  say how features were scaled. Here features of images and of SPO, whose scales differ by a factor
  of thousands, are standardised on the training half; all others but ENRON's are used as they are;
* "ours": whatever is open is what training data choose, by the loss itself on left-out rows, in
  closed form: alpha everywhere, the width of the Gaussian kernel on images (seven around the
  default), and on ENRON the weights of words (raw; unit length; tf-idf, that is log(n / document
  frequency) of the training half, then unit length). Each row is left out by itself; on the two
  image sets, whose first 2,000 rows are sorted by label and hold a third of the label paths, all
  rows of a label path together, and widths and penalties compared on 1,000 of them, as the library
  does unless told otherwise; elsewhere on all rows. Nothing was chosen by test figures. "Ours, raw"
  and the like are what one of the candidates gives;
* "ours, scaling chosen too": among raw, standardised and unit length by the same rule, where that
  is not ours anyway;
* "ours, default": ConditionalRiskMinimizer(space, loss, random_state=0) on raw features;
* "ours, chosen among more" (images): by the same left-out paths among all of the above, kernel
  ridge regressions without intercept, which answer with nothing far from the training rows, and
  the default's stack of smoothers with label paths left out;
* the hierarchical loss has sibling weights; on the two gene ontologies, which are not trees,
  predictions are made for the exact loss and judged by it;
* beside ours: the paper's three columns; one support vector machine per label with its predictions
  repaired from the bottom up (C by three-fold cross-validation on three labels of middling
  frequency); a forest of 100 trees as the smoother of the same learner; a structured support vector
  machine over the hierarchy (HM3N), trained for the loss it is judged by, its penalty by three-fold
  cross-validation on that loss (on the image sets a label path is in one fold). Kernels and
  features are as above; on ENRON each method chooses its weights of words by its own
  cross-validation (the forest has raw ones). On the gene ontologies the structured machine is
  trained for the Hamming loss alone, and judged by both;
* ± is the standard error over test rows; "less ours" the paired difference of a row with ours over
  the same test rows, and its standard error. Nothing is known of the errors of the paper's figures;
* seconds are CPU seconds of one thread.

Usage: python papers/ecrm_hierarchies.py [--jobs N] [--only WORD] [--anew]
"""

import hierarchy_times
import numpy as np
from hierarchy_data import ALL_SCALINGS, IMAGES, LOSSES, ONTOLOGIES, SCALINGS
from hierarchy_ours import by_default, by_forest, by_ridge, by_stack, least_risk, one_path
from hierarchy_peers import chosen_structured, per_label, structured_tasks
from keeping import Figure, arguments, results, summary

# Hamming and hierarchical loss of ECRM, HM3N and BR-SVM; None: not in the paper.
PAPER = {
    "enron": [(3.079, 0.194), (3.785, 0.212), (3.400, 0.196)],
    "reuters": [(1.507, 0.079), (1.480, 0.082), (1.386, 0.075)],
    "wipo": [(2.011, 0.049), (1.659, 0.048), (1.687, 0.051)],
    "imclef07a": [(2.689, 0.119), (3.053, 0.134), (2.933, 0.132)],
    "imclef07d": [(3.246, 0.246), (3.413, 0.247), (3.250, 0.253)],
    "pheno_fun": [(8.811, 0.152), (8.833, 0.152), (8.878, 0.153)],
    "pheno_go": [(4.315, 0.101), None, (4.329, 0.101)],
    "spo_fun": [(8.806, 0.137), (8.845, 0.137), (8.867, 0.138)],
    "spo_go": [(4.530, 0.083), None, (4.621, 0.085)],
}
STAND_IN = "wipo"  # other features and labels than the paper's: figures say nothing of it
COPIES = {"reuters": " (repaired)"}
PREDICTION = {"ours": 7.0, "structured SVM (HM3N)": 4.5, "BR-SVM": 10.4}  # ms per REUTERS document
DIGITS = {"hamming": 3, "hierarchical": 4}
SHOWN = {"hamming": "Hamming", "hierarchical": "hierarchical"}
NO_INTERCEPT = {"fit_intercept": False}


def scalings_of(name):
    """All that are run with ridge regression: those of the rule, and those it may choose too."""
    more = () if name in ("enron", "reuters") else ALL_SCALINGS  # words have weights already
    return tuple(dict.fromkeys((*SCALINGS[name], *more)))


def tasks_of(name):
    """Every task is one learner on one data set, single-threaded."""
    tasks, first = {}, SCALINGS[name][0]
    for loss in LOSSES:
        for scaling in scalings_of(name):
            tasks[f"{name}/ridge/{loss}/{scaling}"] = (by_ridge, name, scaling, loss, {})
        tasks[f"{name}/default/{loss}"] = (by_default, name, loss)
        tasks[f"{name}/forest/{loss}"] = (by_forest, name, first, loss)
        if name in IMAGES:
            fixed = {"kernel": "rbf"}
            tasks[f"{name}/default width/{loss}"] = (by_ridge, name, first, loss, fixed)
            tasks[f"{name}/one path/{loss}"] = (one_path, name, first, loss)
            tasks[f"{name}/stack/{loss}"] = (by_stack, name, "raw", loss, "output")
            for scaling in scalings_of(name):
                key = f"{name}/no intercept/{loss}/{scaling}"
                tasks[key] = (by_ridge, name, scaling, loss, NO_INTERCEPT)
    for scaling in SCALINGS[name]:
        tasks[f"{name}/BR-SVM/{scaling}"] = (per_label, name, scaling)
    losses = ("hamming",) if name in ONTOLOGIES else tuple(LOSSES)
    return {**tasks, **structured_tasks(name, SCALINGS[name], losses)}


# ---------------------------------------------------------------------- rows of the table
def our_keys(name, loss, scalings):
    return [f"{name}/ridge/{loss}/{scaling}" for scaling in scalings]


def answers(found, name):
    """{title: {loss: answer or None}} of what is run here; the first is ours."""
    rows = {"ours": {}}
    for loss in LOSSES:
        pick = found.get
        rule, every = SCALINGS[name], scalings_of(name)
        rows["ours"][loss] = pick(least_risk(found, our_keys(name, loss, rule)))
        fill(rows, "ours, default", loss, pick(f"{name}/default/{loss}"))
        if len(every) > 1:
            for scaling in every if len(rule) > 1 else every[1:]:  # the first is ours
                fill(rows, f"ours, {scaling}", loss, pick(f"{name}/ridge/{loss}/{scaling}"))
        if len(every) > len(rule):
            chosen = least_risk(found, our_keys(name, loss, every))
            fill(rows, "ours, scaling chosen too", loss, pick(chosen))
        if name in IMAGES:
            fill(rows, "ours, default width", loss, pick(f"{name}/default width/{loss}"))
            fill(rows, "ours, exactly one path", loss, pick(f"{name}/one path/{loss}"))
            more = [f"{name}/no intercept/{loss}/{scaling}" for scaling in every]
            best = least_risk(found, more)
            fill(rows, "ours, without intercept", loss, pick(best))
            fill(rows, "ours, stack by paths", loss, pick(f"{name}/stack/{loss}"))
            among = [*our_keys(name, loss, every), *more, f"{name}/stack/{loss}"]
            fill(rows, "ours, chosen among more", loss, pick(least_risk(found, among)))
        fill(rows, "ours, forest smoother", loss, pick(f"{name}/forest/{loss}"))
        one_each = least_risk(found, [f"{name}/BR-SVM/{scaling}" for scaling in rule])
        fill(rows, "BR-SVM, run here", loss, pick(one_each))
        trained = "hamming" if name in ONTOLOGIES else loss
        fill(rows, "structured SVM (HM3N), here", loss, chosen_structured(found, name, trained))
    return rows


def fill(rows, title, loss, told):
    if told is not None:
        rows.setdefault(title, {})[loss] = told


def losses_of(told, loss):
    return np.array(told["losses"][loss])


def cells(told, ours, loss, digits):
    """Figure and paired difference with ours, as wide as the names of their columns."""
    wide, more = (16, 17) if loss == "hamming" else (17, 18)
    if told is None or ours is None:
        return f"{'–':>{wide}s} {'':{more}s}"
    own = losses_of(told, loss)
    less = "" if told is ours else signed(Figure.of(own - losses_of(ours, loss)), digits)
    return f"{Figure.of(own).text(digits):>{wide}s} {less:>{more}s}"


def signed(figure, digits):
    return f"{figure.mean:+.{digits}f} ± {figure.error:.{digits}f}"


def table(told):
    print(f"   {'':28s} {'Hamming':>16s} {'less ours':>17s} "
          f"{'hierarchical':>17s} {'less ours':>18s}")  # fmt: skip
    for name, rows in told.items():
        note = next(iter(rows["ours"].values()))["note"]
        print(f"{name.upper()}{': ' + note if note else ''}")
        for who, pair in zip(("ECRM", "HM3N", "BR-SVM"), PAPER[name]):
            texts = [f"{value:.3f}" for value in pair] if pair else ["–", "–"]
            print(f"   {'paper: ' + who:28s} {texts[0]:>16s} {'':17s} {texts[1]:>17s}")
        for title, pair in rows.items():
            both = (cells(pair.get(loss), rows["ours"].get(loss), loss, DIGITS[loss])
                    for loss in LOSSES)  # fmt: skip
            print(f"   {title:28s} {' '.join(both)}".rstrip())


def show_choices(told):
    """What training data chose, of every row, and what it took."""
    print("\nChosen on training data: loss of left-out rows (of BR-SVM, share of errors on three "
          "labels)")  # fmt: skip
    print(f"   {'':41s} {'left out':>9s} {'fit, s':>9s} {'ms per row':>11s}   chosen")
    for name, rows in told.items():
        print(name.upper())
        for title, pair in rows.items():
            for loss, one in pair.items():
                risk = "–" if one["risk"] is None else f"{one['risk']:.4f}"
                print(f"   {title + ', ' + SHOWN[loss]:41s} {risk:>9s} {one['fit_seconds']:9.1f} "
                      f"{one['predict_ms']:11.2f}   ({chosen_text(one['chosen'])})")  # fmt: skip


def chosen_text(chosen):
    parts = []
    for what, value in chosen.items():
        if isinstance(value, float):
            value = f"{value:.2%}" if what == "gap" else f"{value:.3g}"
        if value is not None:
            parts.append(f"{value}" if what in ("scaling", "smoother") else f"{what} {value}")
    return ", ".join(parts)


def summary_rows(told):
    """The paper's ECRM, ours by the rule and by default; not where data are not the paper's."""
    for name, rows in told.items():
        if name == STAND_IN:
            continue
        for loss, published in zip(LOSSES, PAPER[name][0]):
            figures = [
                Figure.of(losses_of(rows[who][loss], loss)) if loss in rows.get(who, {}) else None
                for who in ("ours", "ours, default")
            ]
            if figures[0] is not None:
                what = f"{name.upper()}{COPIES.get(name, '')}, {SHOWN[loss]}"
                yield what, DIGITS[loss], published, *figures


def prediction_rows(told):
    titles = ("ours", "structured SVM (HM3N), here", "BR-SVM, run here")
    for title, (who, published) in zip(titles, PREDICTION.items()):
        one = told.get("reuters", {}).get(title, {}).get("hamming")
        yield who, published, one and one["predict_ms"]


def main():
    given = arguments(__doc__)
    tasks = {key: task for name in PAPER for key, task in tasks_of(name).items()}
    found = results("ecrm_hierarchies", {**hierarchy_times.tasks(), **tasks}, given)
    told = {name: answers(found, name) for name in PAPER}
    told = {name: rows for name, rows in told.items() if any(rows["ours"].values())}
    table(told)
    show_choices(told)
    hierarchy_times.show(found)
    hierarchy_times.show_prediction(list(prediction_rows(told)))
    print(f"\n{STAND_IN.upper()} is not in the summary: its data are not those of the paper.")
    summary(list(summary_rows(told)))


if __name__ == "__main__":
    main()
