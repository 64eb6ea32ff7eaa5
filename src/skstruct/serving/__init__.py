# SPDX-License-Identifier: BSD-3-Clause
"""Fitted models behind a few questions, in JSON, and a server of them."""

from skstruct._arrays.imports import lazy_names

HOMES = {
    "Asked": "asked",
    "Column": "served",
    "Served": "served",
    "Settings": "settings",
    "decode": "answers",
    "explain": "answers",
    "kbest": "answers",
    "make_app": "app",
    "marginals": "answers",
    "predict": "answers",
}
__all__ = list(HOMES)
__getattr__, __dir__ = lazy_names("skstruct.serving", HOMES)
