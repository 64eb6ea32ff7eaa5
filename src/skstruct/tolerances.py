# SPDX-License-Identifier: BSD-3-Clause
"""Every tolerance of the library: its name, its meaning, and where it enters a result.

A tolerance is a share of the size that its description names, unless that says otherwise. No
other module has such numbers of its own, but for defaults of public parameters; a test reads the
source for that, and another keeps the table of ``docs/trust.md`` the same as this module.

Compiled kernels keep a number as it was when they were compiled, and numba does not see that this
file has changed: whoever changes a number here empties the cache of compiled kernels too.
"""

# Rounding of sums

SUM_ROUNDING = 1e-15
"""Of the terms of a sum, what adding them may lose; bounds on curves are lower by it."""

CANCELED = 1e-14
"""Of the terms of a difference: what is left of coefficients and squared lengths counts as zero."""

ROW_SUM_ROUNDING = 1e-14
"""Of the largest terms of a row: added to the gap at which refined linear programs are exact."""

BOUND_ROUNDING = 1e-13
"""Of all terms together: bounds that were computed by subtraction are lower by it."""

ENVELOPE_ROUNDING = 1e-13
"""Of the largest terms of a row: added to the gap at which convex envelopes are exact."""

RESIDUAL_ROUNDING = 1e-13
"""Of the terms of all constraints: what is left of one is rounding; ends a quadratic program."""

CONSTANT_RANGE = 1e-13
"""Of the largest value of a trace: a range up to it is none, and the trace is constant."""

DIFFERENCE_ROUNDING = 1e-12
"""Of the numbers that are subtracted: lengths, areas, kernel values that are left count as zero."""

COHERENT = 1e-12
"""Of one: probabilities that a step towards coherent ones moves by no more have settled."""

SURE = 1e-12
"""Of one: probabilities are kept that far from 0 and 1 where logarithms of them are taken."""

CORRELATION_ROUNDING = 1e-12
"""Of the variance: correlations up to it are rounding of the Fourier transform."""

SPLIT_RESIDUAL = 1e-5
"""Of the lengths of two vectors: products of split halves that miss by more are computed again."""

# Ties: which costs are equal

TIE = 1e-12
"""Of the terms of costs, risks or values: closer ones are equal, and no step is taken for less."""

BOOSTED_TARGET = 1e-10
"""Absolute: targets of boosted trees are multiples of it, so that splits tie wherever sums do."""

LOSS_LEVEL = 1e-10
"""Of a loss: searches for the most violating output take levels this close for the same."""

OPTIMAL_COST = 1e-9
"""Of an optimum, or of one if it is less: a decision that costs more by less counts as optimal."""

SAME_RISK = 1e-9
"""Of the risk of the best constant: a model that is better by less gets a warning."""

SAME_EIGENVALUE = 1e-9
"""Of the largest eigenvalue: closer ones are one eigenvalue with one common space."""

SAME_MEAN = 1e-9
"""Absolute, beside the standard errors: means of chains that differ by less have not moved."""

# Constraints: what counts as met

FEASIBLE = 1e-9
"""Of the size of a constraint: a point that breaks it by less meets it; of answers and supplies."""

OUTPUT_RANGE = 1e-9
"""Of the size of a limit: entries of given outputs and probabilities may be beyond by this much."""

UNIT_SQUARE = 1e-9
"""Absolute: squared lengths on the sphere that are missing less are complete."""

OUTPUT_FEASIBLE = 1e-6
"""Of the size of a constraint: given outputs that break one by more are an error."""

TRUSTED_VIOLATION = 1e-6
"""Of the size of a constraint: a solver's answer that breaks one by more is an error."""

INTEGRAL = 1e-6
"""Absolute: a solver's coordinates this close to 0 or 1 are rounded; cuts are broken by more."""

SOLVER_FEASIBILITY = 1e-10
"""Absolute: primal and dual feasibility that HiGHS is asked for, the least that it accepts."""

FLAT_WIDTH = 1e-9
"""Of its size: a polytope that is narrower in some direction has width zero there."""

TIGHT_INEQUALITY = 1e-9
"""Of the most that an inequality is loose: vertices with less hold it with equality."""

PROPAGATION_MARGIN = 1e-6
"""Of the largest bound: implied ranges are wider by it, so that single points stay within."""

# Gaps between value and bound that count as closed

CHI_SQUARE_GAP = 1e-12
"""Of the sum of absolute weights and the upper end: where the search of a chi-square risk ends."""

STEPS_GAP = 1e-11
"""Of the size or range of costs: gap below which local steps and allocations end."""

CURVE_GAP = 1e-10
"""Of the size of a risk in one dimension: where the global search of its minimum ends."""

REFINEMENT_GAP = 1e-10
"""Of the value: where the rounds of refined linear programs end."""

ROUNDING_GAP = 1e-9
"""Of the size of all costs: a gap up to it is rounding, is closed, or is not searched further."""

CYCLE_GAP = 1e-8
"""Of the largest cost of an arc: where rounds of cuts for cycles end."""

SOLVER_GAP = 1e-7
"""Of the largest cost or the value: a gap left by HiGHS up to it is rounding, and is closed."""

PROVEN_GAP = 1e-7
"""Of the value: where branch and bound over curves ends; what is left stands in the bounds."""

PROVEN_GAP_OF_TERMS = 1e-10
"""Of the largest terms, added to PROVEN_GAP: a sum of both signs may be next to nothing."""

PREIMAGE_GAP = 1e-7
"""Of the sum of a row: where the search in cells for an output of Gaussians ends."""

REPORTED_GAP = 1e-6
"""Of the largest value: the command line warns of predictions with a wider gap."""

# Convergence of iterations

ROOT_ACCURACY = 1e-14
"""Of the unknown or of what it has to reach: where the search of a root ends."""

LINE_SEARCH_ACCURACY = 1e-13
"""Of the first slope or of the step: where a line search ends."""

CONVERGED = 1e-12
"""Of the value: where ascents and descents end that gain less by a step."""

SYSTEM_RESIDUAL = 1e-12
"""Of the right-hand side: where conjugate gradients and refinements of a system end."""

SMALLEST_STEP = 1e-9
"""Of the size of the space or the range: shorter steps are not taken."""

PASSIVE_AGGRESSIVE_ACCURACY = 1e-7
"""In units of the margin: where the sweeps of a passive-aggressive step end."""

EIGENSOLVER_ACCURACY = 1e-6
"""Of an eigenvalue: accuracy of the next one, which must be none of the low ones."""

GRADIENT_ACCURACY = 1e-5
"""Absolute: the largest entry of an exact gradient at which training ends where tol is None."""

CHAIN_GRADIENT_ACCURACY = 1e-4
"""Absolute: the same for sequences with a row of features per position, over which entries add."""

DIFFERENCE_STEP = 1e-5
"""Of the size of the space or the coordinate: step of slopes that are computed by differences."""

# Kernels and linear algebra

EIGENVALUE_NOISE = 1e-14
"""Of the number of rows times the largest diagonal entry: eigenvalues up to it are zero."""

SINGULAR_VALUE_ZERO = 1e-13
"""Of the largest one: singular values of score functions below it are rounding."""

EIGENVALUE_ZERO = 1e-12
"""Of the largest one, or of a row's own kernel value: what is left below it is zero."""

GRAM_EIGENVALUE_ZERO = 1e-10
"""Of the largest one: eigenvalues of kernel matrices below it, and negative ones, are zero."""

SYMMETRY_ABSOLUTE = 1e-12
"""Absolute, beside GRAM_SYMMETRY: kernel values next to zero that are symmetric."""

TABLE_SYMMETRY = 1e-10
"""Of the largest entry: tables that users give (label kernels, weights) are symmetric up to it."""

TABLE_DEFINITENESS = 1e-10
"""Of the largest eigenvalue: tables that users give may have negative ones up to it."""

GRAM_SYMMETRY = 1e-8
"""Of the kernel values: kernel matrices that differ from their transpose by more are an error."""

GRAM_DEFINITENESS = 1e-8
"""Of the largest eigenvalue: kernel matrices with a negative one beyond it are an error."""

NEGATIVE_NORM = 1e-9
"""Of the terms of a squared norm: a negative one beyond it says that a kernel is not definite."""

DIAGONAL_SHIFT = 1e-11
"""Of the largest diagonal entry, added to it: redundant constraints are usual."""

SMALLEST_PENALTY = 1e-12
"""Absolute: penalty of a constant for which a Cholesky factor is tried first."""

SMALL_PENALTY = 1e-11
"""Of the kernel: with smaller penalties Cholesky factors would be rounding."""

SMALLEST_ALPHA = 0.5e-7
"""Of the trace of all inputs: lower end of the penalties that linear smoothers try."""

SINGULAR_PIVOT = 1e-10
"""Absolute: pivots of a basis that count as zero."""

ZERO_PIVOT = 1e-9
"""Absolute: entries of the entering column that count as zero."""

ZERO_SLOPE = 1e-11
"""Of the steepest slope of a row: slopes that count as zero."""

BEND_FLOOR = 1e-6
"""Of the steepest slope over the total: least curvature of the quadratic models of allocations."""

# Probabilities and bounds of generalization

BELOW_ONE = 1e-15
"""Absolute: the largest rate below one where the bound of a rate is sought."""

ZERO_PROBABILITY = 1e-15
"""Absolute: probabilities up to it count as zero, so that 0 log 0 is 0."""

STATED_BOUND = 1e-9
"""Of a bound or a norm that a user states: numbers that exceed it by more are an error."""

WHOLE_NUMBER = 1e-9
"""Absolute: counts that were computed as a product may be above a whole number by it."""

OMITTED_EIGENPAIRS = 1e-10
"""Absolute: what leaving out eigenpairs may change in a diffusion loss."""

OMITTED_IN_SMALL = 1e-6
"""Of OMITTED_EIGENPAIRS: as little is left out where all eigenpairs are known anyway."""

SMALLEST_COOLING = 1e-9
"""Of the whole way: least step of an annealing schedule."""

DUALITY_VIOLATION = 1e-6
"""Of the objective: an objective further below its lower bound is an error."""

VOLUME_AGREEMENT = 1e-6
"""Of a volume: two ways of measuring it that differ by more are an error."""

# Distances, cells and samples of curves

NARROWEST_CELL = 1e-10
"""Of the range of a coordinate: narrower cells are not cut any more."""

SAMPLES_APART = 1e-8
"""Of the range of a coordinate: closer samples of a curve are one."""

NARROWEST_SPREAD = 1e-6
"""Of the range of a coordinate: new samples of a curve lie at least this wide."""

CELL_MARGIN = 1e-9
"""Of the radius: cells of outputs that are further away hold no better one; bounds are safe."""

NEAR_ROW = 1e-6
"""Of the length of a row: shorter distances are computed anew, without cancellation."""

REDUCED_COST_MARGIN = 1e-9
"""Of the largest cost, per arc of the tour: arcs that are more expensive by more are left out."""

OPEN_CAPACITY = 1e-9
"""Of the largest capacity, which is about one: arcs with less left are full."""

CONNECTED_WEIGHT = 1e-6
"""Absolute: nodes joined by arcs of less weight are in different parts."""

ALLOCATED = 1e-6
"""Of the total: allocations that add up to it so far are scaled to it and tried."""

DRAWN_FLOW = 1e-9
"""In points: thinner arcs are not drawn."""

# Stacks of smoothers

EQUAL_PARTS = 1e-10
"""Of the trace: added to the products of a stack, so that equal smoothers share their weight."""

NO_WEIGHT = 1e-9
"""Of the largest weight in a stack of smoothers: a smoother with less has none."""

CONSTANT_COLUMN = 1e-7
"""Of the size of a column: with less standard deviation it is not scaled."""

# Comparisons with what is stored or tested

STORED_PREDICTION = 1e-6
"""Of a prediction kept in a model file: other builds of the linear algebra differ by far less."""

CHECKED_EXACTLY = 1e-12
"""In `skstruct.testing`: sizes, moments and losses that are computed in two ways."""

CHECKED_BATCH = 1e-10
"""In `skstruct.testing`: a prediction alone and in a batch."""

CHECKED_COST = 1e-9
"""In `skstruct.testing`: values, bounds, probabilities and losses by cost vectors."""

CHECKED_RISK = 1e-8
"""In `skstruct.testing`: least risks, solutions of systems, and what smoothers promise."""

EMPTY_CELL = 1e-9
"""In `skstruct.testing`: expected counts up to it are left out of a chi-square test."""

CHECK_LEVEL = 1e-6
"""In `skstruct.testing`: probability that one right sampler fails one test."""

FILLING_RESIDUAL = 1e-5
"""Relative, of ridge regressions of targets with gaps by which others are filled."""

PASSES_RESIDUAL = 1e-6
"""Relative, at which passes over rows in blocks end: decisions need no more."""
