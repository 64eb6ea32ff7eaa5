# SPDX-License-Identifier: BSD-3-Clause
"""The command ``skstruct``. Everything heavy is imported where it is used."""
