# SPDX-License-Identifier: BSD-3-Clause
"""Fitted models behind a few questions, in JSON: for servers and whoever asks like one."""

from skstruct._arrays.imports import lazy_names

__all__ = ["Asked", "Column", "Served", "decode", "explain", "kbest", "marginals", "predict"]

__getattr__ = lazy_names(
    "skstruct.serving",
    {"Asked": "answers", "Column": "served", "Served": "served", "decode": "answers",
     "explain": "answers", "kbest": "answers", "marginals": "answers", "predict": "answers"},
)  # fmt: skip
