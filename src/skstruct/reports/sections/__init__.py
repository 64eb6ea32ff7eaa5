# SPDX-License-Identifier: BSD-3-Clause
"""The parts of a report, one file for each: ``section(subject)`` fills it or says why not."""
