# SPDX-License-Identifier: BSD-3-Clause
"""``python -m skstruct.cli`` is the command ``skstruct``."""

from skstruct.cli.main import main

main()
