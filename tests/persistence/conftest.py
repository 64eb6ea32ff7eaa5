# SPDX-License-Identifier: BSD-3-Clause
"""Hundreds of small files are written here, which need not survive a loss of power."""

import os

import pytest


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda handle: None)
