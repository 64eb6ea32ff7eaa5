# SPDX-License-Identifier: BSD-3-Clause
"""Max-margin learners: structured SVM, perceptron, Markov networks, and trees of labels."""
