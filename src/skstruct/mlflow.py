# SPDX-License-Identifier: BSD-3-Clause
"""Models in MLflow: saved, logged and loaded as ``pyfunc`` models with loss and constraints."""
