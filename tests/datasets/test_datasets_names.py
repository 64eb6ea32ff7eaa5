# SPDX-License-Identifier: BSD-3-Clause
"""The list of public names is sorted and true."""

import skstruct.datasets


def test_all():
    names = skstruct.datasets.__all__
    assert names == sorted(names)
    assert all(hasattr(skstruct.datasets, name) for name in names)
