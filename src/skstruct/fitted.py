# SPDX-License-Identifier: BSD-3-Clause
"""What there is to know of a fitted model: what decides, what its fit found, what rows pass."""

from inspect import signature
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from skstruct.facets import Facet


def _left(name: str) -> Any:
    """What a fit has left under a name, by scikit-learn's convention; None where it left none."""
    return property(lambda fitted: getattr(fitted.learner, name, None))


def _given(name: str) -> Any:
    """What a model knows of its inputs; of a pipeline, its first step does."""
    return property(lambda fitted: getattr(fitted.model, name, None))


class Fitted(Facet):
    """A fitted model: what decides in it, what its fit found, and what rows pass before.

    ``Fitted.of(model)`` looks through pipelines and other models that hold a learner: ``learner``
    is the one that they end in, and what a fit has found is that of the learner, None where it has
    no such thing. Inputs are those of the model.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skstruct import ConditionalRiskMinimizer
    >>> model = make_pipeline(StandardScaler(), ConditionalRiskMinimizer(alpha=0.1))
    >>> fitted = Fitted.of(model.fit([[0.0], [2.0]], ["no", "yes"]))
    >>> fitted.learner is model[-1], fitted.space, fitted.loss, fitted.can("explain")
    (True, Classes(), ZeroOne(), True)
    >>> fitted.width, fitted.inputs([[3.0]])
    (1, array([[2.]]))
    """

    __slots__ = ("learner", "model")
    space: Any = _left("space_")
    loss: Any = _left("loss_")
    outputs: Any = _left("outputs_")  # of training, in canonical form
    problem: Any = _left("problem_")  # how decisions follow from means
    smoother: Any = _left("smoother_")
    search: Any = _left("search_")  # for penalties and kernels
    calibration: Any = _left("calibration_")  # by rows that were left out
    temperature: Any = _left("temperature_")  # by which scores were calibrated
    features: Any = _left("features_")  # of strings
    tokens: Any = _left("tokens_")  # reader of sequences of tokens
    starts: Any = _left("starts_")  # where the tokens of each sequence of training begin
    partial: Any = _left("partial_")  # what was known of outputs of training, if that was not all
    several_outputs: Any = _left("several_outputs_")  # whether rows have several correct outputs
    unit_inputs: Any = _left("unit_inputs_")  # whether k(x, x) = 1 for all inputs
    converged: Any = _left("converged_")
    verbose: Any = _left("verbose")
    encoder: Any = _left("encoder_")  # of tables
    scores_alone: Any = False  # whether it has scores, and does not know how sure these are

    names: Any = _given("feature_names_in_")  # of the columns of training
    width: Any = _given("n_features_in_")  # how many columns there are
    task: Any = None  # of a model that was fitted to a data file, as all below
    about: Any = MappingProxyType({})
    targets: Any = None  # names of the items or numbers that are predicted
    predicted_columns: Any = None
    token_columns: Any = None  # of inputs that are sequences of tokens
    control: Any = None  # what was calibrated: sets of outputs, or a risk
    abstention: Any = None  # and when to withhold an answer

    def __init__(self, model: Any) -> None:
        self.model = self.learner = model

    def __reduce__(self) -> tuple[Any, ...]:
        return Fitted.of, (self.model,)

    @property
    def name(self) -> str:
        """The class of the learner."""
        return type(self.learner).__name__

    def can(self, method: str) -> bool:
        """Whether the learner has a method, as it was fitted."""
        return hasattr(self.learner, method)

    def takes(self, option: str) -> bool:
        """Whether ``predict`` of the learner has an option, such as ``loss``."""
        return option in signature(self.learner.predict).parameters

    @property
    def estimates_risks(self) -> bool:
        """Whether values of decisions are estimated risks, and not costs on no known scale."""
        return self.can("predict_risk")

    @property
    def value_name(self) -> str:
        """What values of decisions are called."""
        return "risk" if self.estimates_risks else "cost"

    @property
    def constraints(self) -> list[str]:
        """What ``predict`` can restrict outputs by."""
        if not (self.takes("restrict") and hasattr(self.space, "restrict")):
            return []
        return list(signature(self.space.restrict).parameters)

    @property
    def kept_inputs(self) -> Any:
        """Inputs of training that the smoother keeps; None where it keeps none."""
        return getattr(self.smoother, "X_fit_", None)

    # ------------------------------------------------------------- inputs
    def decider(self, X: Any) -> tuple[Any, Any]:
        """What decides, and rows as it takes them."""
        return self.learner, self.inputs(X)

    def inputs(self, X: Any) -> Any:
        """Rows as the learner takes them."""
        return X

    def encode(self, X: Any) -> Any:
        """Rows that were read already, as from a file, as the learner takes them."""
        return self.inputs(X)

    @property
    def of_sequences(self) -> bool:
        """Whether an input is a list of words or of rows of features."""
        return self.tokens is not None or self.features is not None


class FittedScores(Fitted):
    """A learner whose scores are no probabilities before ``calibrate`` has learned from rows."""

    __slots__ = ()
    scores_alone = property(lambda fitted: fitted.temperature is None)


class _Encoder(Fitted):
    __slots__ = ()
    encoder = property(attrgetter("model"))


class Holding(Fitted):
    """A model that holds a learner, and something that reads rows before it."""

    __slots__ = ("first",)
    encoder = property(attrgetter("first.encoder"))
    token_columns = property(attrgetter("first.token_columns"))

    def __init__(self, model: Any, first: Any, learner: Any) -> None:
        self.model, self.first, self.learner = model, Fitted.of(first), learner

    @property
    def of_sequences(self) -> bool:
        return self.first.of_sequences


class _Steps(Holding):
    """A pipeline."""

    __slots__ = ()
    names = property(attrgetter("first.names"))
    width = property(attrgetter("first.width"))

    def __init__(self, model: Any) -> None:
        super().__init__(model, model.steps[0][1], Fitted.of(model.steps[-1][1]).learner)

    def inputs(self, X: Any) -> Any:
        read = self.model[:-1].transform(X) if len(self.model) > 1 else X
        return Fitted.of(self.model.steps[-1][1]).inputs(read)


class Staged(Facet):
    """How a model is asked for batches of rows: for whole predictions, unless it says more."""

    __slots__ = ("model",)
    in_stages: bool = False  # whether means of a batch are found before it is decided

    def __init__(self, model: Any) -> None:
        self.model = model

    def stages(self, choices: dict[str, Any]) -> Any:
        """What begins and finishes the predictions for a batch; None where there are no stages."""
        return None

    def columns(self, choices: dict[str, Any]) -> Any:
        """What a block of rows becomes in a file, with risks; None for outputs alone."""
        return None


Fitted.at("sklearn.pipeline:Pipeline", _Steps)
Fitted.at("skstruct.encoding.encoder:TableEncoder", _Encoder)
