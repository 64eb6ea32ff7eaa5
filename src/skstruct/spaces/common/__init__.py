# SPDX-License-Identifier: BSD-3-Clause
"""What every space may use: formats, graphs of labels, counting, covariances, listing."""
