# SPDX-License-Identifier: BSD-3-Clause
"""Assignments: agents to tasks, one to one."""
