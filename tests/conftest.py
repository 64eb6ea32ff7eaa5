# SPDX-License-Identifier: BSD-3-Clause
"""Hypothesis settings for all tests: cases are chosen the same way in every run."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "skstruct",
    deadline=None,
    derandomize=True,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("skstruct")
