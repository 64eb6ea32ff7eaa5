# SPDX-License-Identifier: BSD-3-Clause
"""How sure a learner is of each part of an output: probabilities, by name, and for scikit-learn."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from sklearn import get_config
from sklearn.base import clone
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skstruct._arrays.memory import row_blocks
from skstruct._arrays.methods import warn_caller
from skstruct._arrays.rows import dense
from skstruct.exceptions import InfeasibleError
from skstruct.learners.inputs import rows_of
from skstruct.losses import Observed, resolve_loss
from skstruct.spaces import Classes, Known, Marginals, SklearnTarget, Targets
from skstruct.spaces.infer_space import infer_space
from skstruct.spaces.truth import read_truth

NUMBERS = ("squares", "weights")  # embeddings of losses of quantities


def estimator_type(learner: Any) -> str | None:
    """What a learner is to scikit-learn, by its space: "classifier", "regressor" or None.

    Where the space will be learned from outputs, a loss of quantities says that these are
    quantities; without one, they are taken for labels, whose folds are stratified.
    """
    if learner.space is None and not learner.infers_labels:
        return None
    space = space_of(learner)
    if space is not None and learner.loss is not None:
        space = Observed.of(resolve_loss(learner.loss)).space_of(space)
    if space is not None:  # which may be anything as long as it is not checked
        return SklearnTarget.of(space).estimator_type
    numbers = learner.loss is not None and resolve_loss(learner.loss).embedding in NUMBERS
    return "regressor" if numbers else "classifier"


def space_of(learner: Any) -> Any:
    """The fitted space of a learner, or the one that was given, which may be None."""
    return getattr(learner, "space_", learner.space)


def _classifies(learner: Any) -> bool:
    return learner._has_means and estimator_type(learner) == "classifier"


def opened_space(learner: Any, y: Any) -> Any:
    """The space that was given, of the classes that are expected, or of outputs y."""
    if learner.space is not None:
        return clone(learner.space)
    check_outputs_observed(None if learner.loss is None else resolve_loss(learner.loss))
    return infer_space(y) if learner._expected is None else Classes(learner._expected)


def check_outputs_observed(loss: Any) -> None:
    """Raise where a space would be learned from ``y``, and that has no outputs."""
    if loss is not None and Observed.of(loss).what != "outputs":
        raise ValueError(
            f"{type(loss).__name__} judges decisions: give the space that these are from, since y "
            f"holds {Observed.of(loss).what}."
        )


@contextmanager
def expecting(learner: Any, classes: Any) -> Iterator[None]:
    """Classes that ``partial_fit`` is told of, as long as its first call reads outputs."""
    if classes is not None:
        learner._expected = classes
    try:
        yield
    finally:
        learner.__dict__.pop("_expected", None)


class MarginalPredictor:
    """Probabilities of the parts of outputs.

    A child brings ``_telling(parts, told)``: a problem whose means tell of such parts, and a
    smoother of them; ``told`` says whether the means that were fitted do.
    """

    space: Any
    space_: Any
    _expected: Any = None  # classes that further rows may have
    _has_means = True  # whether means are estimated at all
    infers_labels = True  # outputs are taken for labels, where no space is given

    def _tag(self, tags: Any) -> None:
        """What scikit-learn wants to know of outputs."""
        tags.estimator_type = estimator_type(self)
        tags.target_tags.multi_output = SklearnTarget.of(self.space).multi_output
        if tags.estimator_type == "classifier":
            tags.classifier_tags = ClassifierTags(multi_label=True)
        elif tags.estimator_type == "regressor":
            tags.regressor_tags = RegressorTags(poor_score=True)  # which is minus a mean loss

    @property
    def classes_(self) -> Any:
        """Names of the classes, or of the labels of label sets and hierarchies: of the columns of
        ``predict_proba``. Of up to two labels [0, 1] for each, as scikit-learn would take two
        names for two classes.
        """
        check_is_fitted(self)
        classes = SklearnTarget.of(self.space_).classes()
        if classes is None:
            raise AttributeError(f"classes_: outputs of {type(self.space_).__name__} have none.")
        return classes

    def set_output(self, *, transform: str | None = None) -> Self:
        """``"pandas"`` for marginals as a DataFrame, whatever inputs are; ``"default"``."""
        if transform not in (None, "default", "pandas"):
            raise ValueError(f'transform is "default" or "pandas"; got {transform!r}.')
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}
        return self

    def predict_marginals(
        self: Any,
        X: Any,
        *,
        restrict: dict[str, Any] | None = None,
        parts: str | None = None,
        raw: bool = False,
        calibrated: str | None = "auto",
    ) -> Any:
        """How probable the parts of outputs are, as estimated: E[psi(Y) | x], made coherent.

        Numbers are those that some distribution over outputs of the space has: from 0 to 1, a
        label no more than its parents, classes and symbols of a position summing to one,
        positions of a ranking doubly stochastic. They are the nearest such numbers to the means
        that were estimated. (Pairs of a ranking are looked at one by one:
        P(a before b) + P(b before a) = 1.)

        Parameters
        ----------
        restrict : dict, default=None
            What is known of the outputs, as in ``predict``: probabilities given that.
        parts : str, default=None
            Of rankings ``"pairs"``, which None stands for, or ``"positions"``; others have one
            kind of parts.
        raw : bool, default=False
            The means as they were estimated, below 0 and above 1 too.
        calibrated : "auto", "logistic", "isotonic" or None, default="auto"
            Move probabilities to what happened on rows that were left out in ``fit``, or kept
            apart for ``calibrate``, by rising maps, which differ by a shift of each part; where
            neither is known, they stay, as do those of parts that the loss does not look at: of
            pairs of a ranking under ``"footrule"``. ``"auto"`` is isotonic from 1,000 rows.

        Returns
        -------
        marginals : array, DataFrame or list
            Label sets, hierarchies (n, d); classes, levels (n, k); rankings (n, d, d), of item i
            before j or at position j; sequences (n, T, q), or a list of (T, q) where inputs have
            a row per position; quantities (n, d), their means. A DataFrame with the user's
            names, and two levels of columns where there are two axes, when X is one or
            ``set_output`` says so.
        """
        parts, told = told_parts(self, parts)
        problem, smoother = self._telling(parts, told)
        X, index = self._checked(X)
        self._check_constraints(problem, X.shape[0])
        within = problem.restricted(restrict) if restrict else None
        if within is not None:
            self._check_constraints(within, X.shape[0])
        maps, blocks = getattr(self, "calibration_", None), []
        recalibrate = None if maps is None or raw else maps.of_marginals(calibrated, parts)
        for rows in row_blocks(X.shape[0], problem.bytes_per_row(), self.memory):
            means = problem.smooth(smoother, rows_of(X, rows))
            try:
                blocks.append(problem.marginals(means, rows, parts, within, raw, recalibrate))
            except InfeasibleError as error:
                raise error.shifted(rows.start) from None
        return named_marginals(self, blocks, problem.space, parts, index)

    def true_marginals(self: Any, y: Any, parts: str | None = None) -> Any:
        """Known outputs ``y`` in the form of ``predict_marginals``: zeros and ones, one half where
        rankings leave a pair open, NaN where parts are missing.
        """
        check_is_fitted(self)
        truth = read_truth(self.observation_space_, y)
        if self.tokens_ is not None:
            q = len(self.space_.symbols_)
            table = np.vstack([np.eye(q), np.full((1, q), np.nan)])
            marked = np.where(truth.known, truth.outputs, q)
            return [table[row[here]] for row, here in zip(marked, truth.parts)]
        parts = asked_parts(self.observation_space_, parts)
        space = Marginals.of(self.space_).view(parts)
        estimates = Known.of(space).estimates_targets
        psi = space.embed if estimates else Targets.of(space).targets
        found = Marginals.of(space).marginals(dense(psi(truth.outputs)), parts, raw=True)
        if truth.partial is None:
            return found
        return Known.of(space).where_known(found, truth.partial.known)

    @available_if(_classifies)  # type: ignore[untyped-decorator]
    def predict_proba(self: Any, X: Any) -> np.ndarray:
        """Probabilities of the classes (n, k), or of every label (n, d), as scikit-learn has them:
        ``predict_marginals`` as an array.
        """
        return np.asarray(self.predict_marginals(X))

    @available_if(_classifies)  # type: ignore[untyped-decorator]
    def predict_log_proba(self: Any, X: Any) -> np.ndarray:
        """Logarithms of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            logarithms: np.ndarray = np.log(self.predict_proba(X))
        return logarithms


def named_marginals(
    learner: Any, blocks: list[Any], space: Any, parts: str | None, index: Any
) -> Any:
    """Blocks of marginals of such parts as one, with names where the user works with names."""
    config = getattr(learner, "_sklearn_output_config", {}).get("transform")
    frames = index is not None or (config or get_config()["transform_output"]) == "pandas"
    if isinstance(blocks[0], list):  # sequences of tokens
        symbols = space.symbols_
        arrays = [array for block in blocks for array in block]
        return [_frame(array, [symbols], None) for array in arrays] if frames else arrays
    marginals = np.concatenate(blocks)
    if not frames:
        return marginals
    axes = Marginals.of(space).axes(marginals.shape[-1], parts)
    return _frame(marginals, axes, index)


def _frame(marginals: np.ndarray, axes: list[Any], index: Any) -> Any:
    import pandas

    if len(axes) == 1:
        columns = pandas.Index(list(axes[0]), tupleize_cols=False)
    else:
        columns = pandas.MultiIndex.from_product([list(axis) for axis in axes])
    return pandas.DataFrame(marginals.reshape(len(marginals), -1), index=index, columns=columns)


def told_parts(learner: Any, parts: str | None) -> tuple[str, bool]:
    """Which parts are asked for, and whether means that were fitted tell of them."""
    check_is_fitted(learner)
    seen = learner.observation_space_
    asked = asked_parts(seen, parts)
    if asked is None:
        raise ValueError(
            f"predict_marginals: {type(seen).__name__}, which y holds, have no parts with "
            "probabilities."
        )
    return asked, asked in Marginals.of(learner.problem_.observations).parts()


def asked_parts(space: Any, parts: str | None) -> str | None:
    """The parts that are asked for: by default the first that a space has, whatever the loss."""
    known = Marginals.of(space).losses
    if parts is None or parts in known:
        return next(iter(known), None) if parts is None else parts
    raise ValueError(
        f"predict_marginals: parts is one of {', '.join(map(repr, known)) or 'None'}; got "
        f"{parts!r}."
    )


def leaves_pairs_open(space: Any, outputs: np.ndarray) -> bool:
    """Whether some of these rankings do not order all pairs, under an embedding by pairs."""
    return space.embedding == "pairs" and bool((Targets.of(space).targets(outputs) == 0).any())


def warn_of_open_pairs(space: Any, outputs: np.ndarray) -> None:
    """Warn where means of such a space are those of both orders, by half, of pairs left open."""
    if leaves_pairs_open(space, outputs):
        warn_caller(
            "Some rankings of training leave pairs open, and count one half for these here, which "
            "draws probabilities towards one half: ConditionalRiskMinimizer leaves such pairs out "
            'where fit has arrays and a loss of pairs, "kendall".'
        )
