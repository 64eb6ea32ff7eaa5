# SPDX-License-Identifier: BSD-3-Clause
"""ARFF files: their attributes and rows, and the dialects of Weka, MEKA, MULAN and CLUS."""
