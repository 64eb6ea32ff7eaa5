# SPDX-License-Identifier: BSD-3-Clause
"""What label sets, hierarchies, graphs and 0/1 polytopes share: decoding to proposals."""
