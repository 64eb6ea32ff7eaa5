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
    "skstruct.learners.conditional_risk": "ConditionalRiskMinimizer",
    "skstruct.learners.constraint_classification": "ConstraintClassification",
    "skstruct.learners.counting.functions": "ScoreFunction",
    "skstruct.learners.counting.online": "OnlineState",
    "skstruct.learners.counting.problem": "CountingProblem",
    "skstruct.learners.counting.ridge": "CountingRidge",
    "skstruct.learners.exponential.chain_problem": "ChainExponentialProblem",
    "skstruct.learners.exponential.family": "ExponentialFamily",
    "skstruct.learners.exponential.features": "InputFeatures",
    "skstruct.learners.exponential.laws": "ModelLaws",
    "skstruct.learners.exponential.prediction": "LinearScores",
    "skstruct.learners.exponential.problem": "ExponentialProblem",
    "skstruct.learners.feature_maps": "FourierFeatures NystroemFeatures",
    "skstruct.learners.kernel_candidates": "KernelCandidates",
    "skstruct.learners.kernel_problem": "InducedLoss KernelProblem",
    "skstruct.learners.label_ranking_boosting": "LabelRankingBoosting",
    "skstruct.learners.label_ranking_svm": "LabelRankingSVM",
    "skstruct.learners.leave_out": "LeaveOutSearch",
    "skstruct.learners.margins.chains": "ChainMargins",
    "skstruct.learners.margins.network": "MaxMarginNetwork NetworkMargins",
    "skstruct.learners.margins.perceptron": "StructuredPerceptron",
    "skstruct.learners.margins.problem": "MarginProblem",
    "skstruct.learners.margins.scores": "Scores",
    "skstruct.learners.margins.structured_svm": "StructuredSVM",
    "skstruct.learners.margins.tree": "MaxMarginTree",
    "skstruct.learners.neighbor_label_ranker": "NeighborLabelRanker RiskReduction",
    "skstruct.learners.online_label_ranker": "OnlineLabelRanker",
    "skstruct.learners.output_kernel": "OutputKernelRegressor",
    "skstruct.learners.pairwise_comparison": "PairwiseComparison",
    "skstruct.learners.problem": "RiskProblem WeightProblem",
    "skstruct.learners.reductions": "KeslerReduction PairwiseReduction PreferenceReduction",
    "skstruct.learners.subgraphs": "SubgraphReduction",
    "skstruct.learners.token_names": "NameVocabulary",
    "skstruct.learners.token_problem": "TokenProblem",
    "skstruct.learners.tokens": "NamedFeatures TokenBatch TokenReader",
    "skstruct.smoothing.additive": "AdditiveKernelRidge",
    "skstruct.smoothing.classifiers": "ClassifierMeans",
    "skstruct.smoothing.forest": "Forest",
    "skstruct.smoothing.kernel_ridge": "KernelRidge",
    "skstruct.smoothing.linear": "LinearRidge",
    "skstruct.smoothing.nadaraya_watson": "NadarayaWatson",
    "skstruct.smoothing.neighbors": "Neighbors",
    "skstruct.smoothing.onepass.maps": "FourierMap LinearMap NystroemMap",
    "skstruct.smoothing.onepass.ridge": "NystroemRidge",
    "skstruct.smoothing.onepass.stats": "Stats",
    "skstruct.smoothing.sample_compression": "SampleCompression",
    "skstruct.smoothing.systems.cholesky": "CholeskySystem",
    "skstruct.smoothing.systems.compression": "CompressionSystem",
    "skstruct.smoothing.systems.mixed": "MixedSystem",
    "skstruct.smoothing.systems.packed": "PackedCholeskySystem",
    "skstruct.smoothing.systems.spectral": "SpectralSystem",
    "skstruct.losses.diffusion": "Diffusion ExponentialHeat SpectralHeat",
    "skstruct.losses.f_measures": "F1 FBeta",
    "skstruct.losses.hamming": "Hamming",
    "skstruct.losses.hierarchical": "HierarchicalLoss",
    "skstruct.losses.histograms": "ChiSquare RootAbsolute SquaredHellinger",
    "skstruct.losses.kernel_induced": "KernelLoss",
    "skstruct.losses.piecewise": "Absolute EpsilonInsensitive Hinge Huber Pinball",
    "skstruct.losses.preimage_search": "PreImages",
    "skstruct.losses.ranking_pairs": "Kendall RankLoss",
    "skstruct.losses.ranking_positions": "Footrule PositionLoss Spearman",
    "skstruct.losses.sequences": "SequenceHamming",
    "skstruct.losses.smooth": "Cauchy Fair GemanMcClure L2L1 Logistic",
    "skstruct.losses.squared": "Squared",
    "skstruct.losses.states": "StateHamming",
    "skstruct.losses.zero_one": "Listed ZeroOne",
    "skstruct.kernels.extensions": "ExtensionKernel",
    "skstruct.kernels.inputs": "InputKernel",
    "skstruct.kernels.orders": "EdgeKernel PositionKernel SignedEdgeKernel",
    "skstruct.kernels.outputs.combined": "ProductKernel SumKernel",
    "skstruct.kernels.outputs.dirac": "Dirac",
    "skstruct.kernels.outputs.functions": "FunctionKernel MatrixKernel",
    "skstruct.kernels.outputs.hamming": "HammingKernel",
    "skstruct.kernels.outputs.paths": "PathKernel",
    "skstruct.kernels.outputs.precomputed": "PrecomputedKernel",
    "skstruct.kernels.outputs.rows": "LinearKernel",
    "skstruct.kernels.outputs.scaled": "GaussianKernel PolynomialKernel",
    "skstruct.kernels.strings.ngrams": "Level NGrams",
    "skstruct.kernels.strings.spectrum": "BlendedSpectrumKernel SpectrumKernel",
    "skstruct.kernels.strings.weighted_degree": "WeightedDegreeKernel",
    "skstruct.spaces.base": "Decoded Guarantee",
    "skstruct.spaces.candidates": "Candidates _Catalogue",
    "skstruct.spaces.classes": "Classes",
    "skstruct.spaces.covariances": "DenseCovariance Exchangeable GridScheme PairScheme Scalar",
    "skstruct.spaces.elements": "OtherEmbedding",
    "skstruct.spaces.forms": "LabelSetForm",
    "skstruct.spaces.graph_nodes": "GraphNodes",
    "skstruct.spaces.graphs.cliques": "Cliques",
    "skstruct.spaces.graphs.cycle_counts": "ArcScheme",
    "skstruct.spaces.graphs.cycle_forms": "TourForm",
    "skstruct.spaces.graphs.cycle_limits": "CycleLimits",
    "skstruct.spaces.graphs.cycles": "Cycles",
    "skstruct.spaces.graphs.forms": "GraphForm",
    "skstruct.spaces.graphs.graphs": "Graphs",
    "skstruct.spaces.graphs.matchings": "Matchings",
    "skstruct.spaces.graphs.spanning_trees": "SpanningTrees",
    "skstruct.spaces.graphs.tournament_states": "SignLimits TournamentStates",
    "skstruct.spaces.graphs.tournaments": "Tournaments",
    "skstruct.spaces.hierarchies": "Hierarchy",
    "skstruct.spaces.label_graph": "LabelGraph",
    "skstruct.spaces.label_sets": "LabelSets",
    "skstruct.spaces.limits": "Limits",
    "skstruct.spaces.listed": "ListedOutputs",
    "skstruct.spaces.ordinal": "Ordinal",
    "skstruct.spaces.pairwise.labels": "PairwiseLabels",
    "skstruct.spaces.pairwise.state_forms": "StateForm",
    "skstruct.spaces.pairwise.states": "PairwiseStates",
    "skstruct.spaces.pairwise.uniform_states": "StateLimits",
    "skstruct.spaces.parent_products": "ParentProducts",
    "skstruct.spaces.polytopes": "BinaryPolytope",
    "skstruct.spaces.poset": "Poset",
    "skstruct.spaces.quantities.boxes": "Box Interval Range",
    "skstruct.spaces.quantities.constrained": "LinearSystem",
    "skstruct.spaces.quantities.flow_forms": "FlowForm",
    "skstruct.spaces.quantities.flows": "Flows",
    "skstruct.spaces.quantities.forms": "QuantityForm",
    "skstruct.spaces.quantities.networks": "Network",
    "skstruct.spaces.quantities.polytopes": "Polytope",
    "skstruct.spaces.quantities.simplices": "Simplex",
    "skstruct.spaces.quantities.spheres": "Sphere",
    "skstruct.spaces.rankings.forms": "RankingForm",
    "skstruct.spaces.rankings.limits": "RankLimits",
    "skstruct.spaces.rankings.space": "Rankings",
    "skstruct.spaces.sequences.forms": "SequenceForm",
    "skstruct.spaces.sequences.limits": "SequenceLimits",
    "skstruct.spaces.sequences.listed": "ListedSequences",
    "skstruct.spaces.sequences.space": "Sequences",
    "skstruct.spaces.sequences.strings": "Strings",
    "skstruct.spaces.single_names": "SingleNameForm",
    "skstruct.spaces.sized": "SizedSets",
    "skstruct.decoding.dag": "Dag",
    "skstruct.decoding.polytopes.constraints": "LinearConstraints",
    "skstruct.tasks.table_encoder": "TableEncoder",
    "skstruct.tasks.token_encoder": "TokenEncoder",
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
