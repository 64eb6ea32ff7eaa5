# SPDX-License-Identifier: BSD-3-Clause
"""One function loads every public data set."""

import numpy as np
import pytest

from skstruct.datasets import load, names
from skstruct.datasets.catalogue import KNOWN, on_this_machine
from skstruct.datasets.hierarchical import load_hierarchical
from skstruct.datasets.images import load_digit_shapes
from skstruct.datasets.rankings import NAMES
from skstruct.datasets.tours import load_flickr_tours
from skstruct.exceptions import MissingDataError

HERE = [known.name for known in KNOWN if on_this_machine(known)]


@pytest.fixture
def no_data(monkeypatch, tmp_path):
    monkeypatch.setenv("SKSTRUCT_DATA", str(tmp_path))


def test_names_are_grouped_and_none_is_there_twice():
    listed = [name for group in names().values() for name in group]
    assert sorted(listed) == sorted({known.name for known in KNOWN})
    assert names()["ranking"] == NAMES
    assert {"enzymes", "pheno_go", "reuters"} <= set(names()["hierarchy"])
    assert names()["sequence"] == ("conll2000", "ocr_words")


def test_what_needs_no_file_is_there_without_data(no_data):
    data, same = load("digit_shapes"), load_digit_shapes()
    assert np.array_equal(data.X_train, same.X_train)
    assert data.labels == same.labels
    assert [known.name for known in KNOWN if on_this_machine(known)] == ["digit_shapes"]


@pytest.mark.parametrize(
    "name", [known.name for known in KNOWN if known.file is not None], ids=lambda name: name
)
def test_missing_files_are_named(name, no_data, tmp_path):
    with pytest.raises(MissingDataError, match="get them from") as caught:
        load(name)
    assert str(tmp_path) in str(caught.value)


def test_an_unknown_name_hears_of_the_nearest_and_of_all():
    with pytest.raises(ValueError, match="Did you mean 'yeast'") as caught:
        load("yaest")
    for task, group in names().items():
        assert f"{task}: {', '.join(group)}" in str(caught.value)


def test_a_name_like_no_other_hears_of_all_only():
    with pytest.raises(ValueError, match=r"no data set 'qqqq'\. There are") as caught:
        load("qqqq")
    assert "Did you mean" not in str(caught.value)
    with pytest.raises(ValueError, match="no data set 3"):
        load(3)


@pytest.mark.parametrize(
    ("name", "option"), [("usps", "part"), ("enzymes", "subset"), ("iris", "fetch")]
)
def test_options_of_other_data_sets_are_refused(name, option, no_data):
    with pytest.raises(TypeError, match=f"'{name}'.*'{option}'"):
        load(name, **{option: 3})


def test_options_reach_the_reader(monkeypatch, no_data):
    with pytest.raises(MissingDataError, match=r"poi-Glas\.csv"):
        load("flickr_tours", city="Glas")
    with pytest.raises(ValueError, match="fetch_multilabel knows"):
        load("medical", fetch=True)
    seen = {}
    monkeypatch.setattr(
        "skstruct.datasets.catalogue.fetch_multilabel",
        lambda name, **options: seen.update(options, name=name),
    )
    load("yeast", fetch=True, return_X_y=True)
    assert seen == {"name": "yeast", "return_X_y": True}


@pytest.mark.skipif("pheno_fun" not in HERE, reason="the data set is not on this machine")
def test_a_subset_is_that_of_the_family():
    data, same = load("pheno_fun", subset=7), load_hierarchical("pheno_fun", subset=7)
    assert type(data) is type(same)
    assert np.array_equal(data.X_train, same.X_train, equal_nan=True)
    assert len(data.Y_train) == 7


@pytest.mark.skipif("flickr_tours" not in HERE, reason="the data set is not on this machine")
def test_tours_are_those_of_the_city():
    assert load("flickr_tours", city="Toro").tours == load_flickr_tours("Toro").tours
