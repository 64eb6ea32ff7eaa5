# SPDX-License-Identifier: BSD-3-Clause
"""The classes that a model file may name, fixed here: no file can add to them.

A file names a class by the short name below, and this list knows its home. A class that moves
to another module keeps its name here, so that files written before the move are still read.
"""

from __future__ import annotations

from importlib import import_module

import numpy as np

# Module: names of its classes.
HOMES = {
    "skstruct.learners.conditional_risk.learner": "ConditionalRiskMinimizer",
    "skstruct.learners.label_ranking.classification": "ConstraintClassification PairwiseComparison",
    "skstruct.learners.counting_ridge.score_functions": "ScoreFunction",
    "skstruct.learners.counting_ridge.online": "OnlineState",
    "skstruct.learners.counting_ridge.prediction": "CountingProblem",
    "skstruct.learners.counting_ridge.learner": "CountingRidge",
    "skstruct.learners.exponential_family.problem": "ChainExponentialProblem ExponentialProblem",
    "skstruct.learners.exponential_family.learner": "ExponentialFamily",
    "skstruct.learners.features": "FourierFeatures InputFeatures NystroemFeatures",
    "skstruct.learners.exponential_family.distribution": "ModelLaws",
    "skstruct.learners.exponential_family.prediction": "LinearScores",
    "skstruct.learners.output_kernel.problem": "InducedLoss KernelCandidates KernelProblem",
    "skstruct.learners.label_ranking.boosting": "LabelRankingBoosting SubgraphReduction",
    "skstruct.learners.label_ranking.svm": "LabelRankingSVM",
    "skstruct.learners.leave_out": "LeaveOutSearch",
    "skstruct.learners.max_margin.problem": "ChainMargins MarginProblem",
    "skstruct.learners.max_margin.network": "MaxMarginNetwork NetworkMargins",
    "skstruct.learners.max_margin.perceptron": "StructuredPerceptron",
    "skstruct.learners.max_margin.scores": "Scores",
    "skstruct.learners.max_margin.structured_svm": "StructuredSVM",
    "skstruct.learners.max_margin.tree": "MaxMarginTree",
    "skstruct.learners.label_ranking.neighbors": "NeighborLabelRanker RiskReduction",
    "skstruct.learners.label_ranking.online": "OnlineLabelRanker",
    "skstruct.learners.output_kernel.learner": "OutputKernelRegressor",
    "skstruct.learners.problem": "RiskProblem WeightProblem",
    "skstruct.learners.label_ranking.reductions": (
        "KeslerReduction PairwiseReduction PreferenceReduction"
    ),
    "skstruct.learners.tokens": "NamedFeatures NameVocabulary TokenBatch TokenReader",
    "skstruct.learners.token_problem": "TokenProblem",
    "skstruct.smoothing.additive": "AdditiveKernelRidge",
    "skstruct.smoothing.classifiers": "ClassifierMeans",
    "skstruct.smoothing.forest": "Forest",
    "skstruct.smoothing.kernel_ridge": "KernelRidge",
    "skstruct.smoothing.linear": "LinearRidge",
    "skstruct.smoothing.local_averages": "NadarayaWatson Neighbors",
    "skstruct.smoothing.nystroem.feature_maps": "FourierMap LinearMap NystroemMap",
    "skstruct.smoothing.nystroem.ridge": "NystroemRidge",
    "skstruct.smoothing.nystroem.sums": "Stats",
    "skstruct.smoothing.sample_compression": "SampleCompression",
    "skstruct.smoothing.systems.direct": "CholeskySystem PackedCholeskySystem SpectralSystem",
    "skstruct.smoothing.systems.compression": "CompressionSystem",
    "skstruct.smoothing.systems.mixed_precision": "MixedSystem",
    "skstruct.losses.diffusion": "Diffusion ExponentialHeat SpectralHeat",
    "skstruct.losses.f_measures": "F1 FBeta",
    "skstruct.losses.hamming": "Hamming SequenceHamming StateHamming",
    "skstruct.losses.hierarchical": "HierarchicalLoss",
    "skstruct.losses.histograms": "ChiSquare RootAbsolute SquaredHellinger",
    "skstruct.losses.kernel_induced": "KernelLoss PreImages",
    "skstruct.losses.piecewise": "Absolute EpsilonInsensitive Hinge Huber Pinball",
    "skstruct.losses.rankings": "Footrule Kendall PositionLoss RankLoss Spearman",
    "skstruct.losses.smooth": "Cauchy Fair GemanMcClure L2L1 Logistic",
    "skstruct.losses.squared": "Squared",
    "skstruct.losses.zero_one": "Listed ZeroOne",
    "skstruct.kernels.orders": "EdgeKernel ExtensionKernel PositionKernel SignedEdgeKernel",
    "skstruct.kernels.inputs": "InputKernel",
    "skstruct.kernels.outputs.base": "FunctionKernel MatrixKernel ProductKernel SumKernel",
    "skstruct.kernels.outputs.matches": "Dirac HammingKernel",
    "skstruct.kernels.outputs.paths": "PathKernel",
    "skstruct.kernels.outputs.precomputed": "PrecomputedKernel",
    "skstruct.kernels.outputs.vectors": "GaussianKernel LinearKernel PolynomialKernel",
    "skstruct.kernels.strings.ngrams": "Level NGrams",
    "skstruct.kernels.strings.kernels": "BlendedSpectrumKernel SpectrumKernel WeightedDegreeKernel",
    "skstruct.spaces.base": "Decoded Guarantee ListedOutputs",
    "skstruct.spaces.candidates": "_Catalogue Candidates",
    "skstruct.spaces.classes": "Classes",
    "skstruct.spaces.common.covariances": (
        "DenseCovariance Exchangeable GridScheme PairScheme Scalar"
    ),
    "skstruct.spaces.poset": "OtherEmbedding Poset",
    "skstruct.spaces.common.formats": "LabelSetForm SingleNameForm",
    "skstruct.spaces.graph_nodes": "GraphNodes",
    "skstruct.spaces.cliques.space": "Cliques",
    "skstruct.spaces.cycles.tours": "ArcScheme",
    "skstruct.spaces.cycles.formats": "TourForm",
    "skstruct.spaces.cycles.constraints": "CycleLimits",
    "skstruct.spaces.cycles.space": "Cycles",
    "skstruct.spaces.edge_sets.formats": "GraphForm",
    "skstruct.spaces.graphs.space": "Graphs",
    "skstruct.spaces.matchings.space": "Matchings",
    "skstruct.spaces.spanning_trees.space": "SpanningTrees",
    "skstruct.spaces.tournaments.signs": "SignLimits TournamentStates",
    "skstruct.spaces.tournaments.space": "Tournaments",
    "skstruct.spaces.hierarchies": "Hierarchy",
    "skstruct.spaces.common.label_graph": "LabelGraph",
    "skstruct.spaces.label_sets": "LabelSets",
    "skstruct.spaces.constraints": "Limits",
    "skstruct.spaces.ordinal": "Ordinal",
    "skstruct.spaces.pairwise.labels": "PairwiseLabels",
    "skstruct.spaces.pairwise.state_formats": "StateForm",
    "skstruct.spaces.pairwise.states": "PairwiseStates",
    "skstruct.spaces.common.counting": "StateLimits",
    "skstruct.spaces.indicator_sets.embeddings": "ParentProducts SizedSets",
    "skstruct.spaces.binary_polytope": "BinaryPolytope",
    "skstruct.spaces.quantities.boxes": "Box Interval Range",
    "skstruct.spaces.quantities.constrained": "LinearSystem",
    "skstruct.spaces.quantities.flows": "FlowForm Flows",
    "skstruct.spaces.quantities.base": "QuantityForm",
    "skstruct.spaces.quantities.networks": "Network",
    "skstruct.spaces.quantities.polytopes": "Polytope",
    "skstruct.spaces.quantities.simplices": "Simplex",
    "skstruct.spaces.quantities.spheres": "Sphere",
    "skstruct.spaces.rankings.formats": "RankingForm",
    "skstruct.spaces.rankings.constraints": "RankLimits",
    "skstruct.spaces.rankings.space": "Rankings",
    "skstruct.spaces.sequence_sets.formats": "SequenceForm",
    "skstruct.spaces.sequence_sets.constraints": "SequenceLimits",
    "skstruct.spaces.sequence_sets.base": "ListedSequences",
    "skstruct.spaces.sequences": "Sequences",
    "skstruct.spaces.strings.space": "Strings",
    "skstruct.solvers.dags": "Dag",
    "skstruct.solvers.linear_constraints": "LinearConstraints",
    "skstruct.tasks.encoders": "TableEncoder TokenEncoder",
    "skstruct.tasks.model": "TaskModel",
    "sklearn.ensemble": "ExtraTreesRegressor RandomForestRegressor",
    "sklearn.feature_extraction": "DictVectorizer",
    "sklearn.impute": "SimpleImputer",
    "sklearn.kernel_approximation": "RBFSampler",
    "sklearn.linear_model": "LinearRegression LogisticRegression Ridge RidgeClassifier",
    "sklearn.neighbors": "NearestNeighbors",
    "sklearn.pipeline": "Pipeline",
    "sklearn.preprocessing": "MaxAbsScaler MinMaxScaler OneHotEncoder StandardScaler",
    "sklearn.svm": "LinearSVC",
    "sklearn.tree": "DecisionTreeRegressor ExtraTreeRegressor",
    "sklearn.tree._tree": "Tree",
}
PREFIX = "sklearn."  # of classes that are not ours

# Functions and types that are named, never written out.
KERNEL_FUNCTIONS = (
    "additive_chi2_kernel", "chi2_kernel", "cosine_similarity", "laplacian_kernel",
    "linear_kernel", "polynomial_kernel", "rbf_kernel", "sigmoid_kernel",
)  # fmt: skip
TYPES = {
    kind.__name__: kind
    for kind in (bool, bytes, complex, dict, float, frozenset, int, list, object, set, str, tuple)
} | {
    f"numpy.{kind.__name__}": kind
    for kind in (
        np.bool_, np.float16, np.float32, np.float64, np.int8, np.int16, np.int32, np.int64,
        np.uint8, np.uint16, np.uint32, np.uint64, np.str_, np.bytes_, np.object_, np.ndarray,
    )
}  # fmt: skip


def _homes() -> dict[str, str]:
    """The module of every class, by the name that files use."""
    found = {}
    for module, classes in HOMES.items():
        prefix = PREFIX if module.startswith(PREFIX) else ""
        found.update({prefix + name: module for name in classes.split()})
    return found


MODULE_OF = _homes()


def class_named(name: str) -> type:
    """The class of a name in a file; KeyError for a name that is not on the list."""
    return getattr(import_module(MODULE_OF[name]), name.removeprefix(PREFIX))


def name_of(kind: type) -> str | None:
    """What files call a class; None for one that is not on the list."""
    foreign = not kind.__module__.startswith("skstruct.")
    name = (PREFIX if foreign else "") + kind.__name__
    return name if name in MODULE_OF and class_named(name) is kind else None


def function_named(name: str):
    """A kernel function of scikit-learn; KeyError for a name that is not on the list."""
    if name not in KERNEL_FUNCTIONS:
        raise KeyError(name)
    return getattr(import_module("sklearn.metrics.pairwise"), name)
