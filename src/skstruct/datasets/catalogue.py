# SPDX-License-Identifier: BSD-3-Clause
"""The public data sets: what each is called, how it is read, and which are on this machine."""

import difflib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from skstruct.datasets.files import data_home
from skstruct.datasets.hierarchical import CLUS_FILES, load_hierarchical
from skstruct.datasets.images import load_digit_shapes, load_ocr_words, load_usps
from skstruct.datasets.knapsacks import load_energy_knapsack
from skstruct.datasets.multilabel import fetch_multilabel, load_multilabel
from skstruct.datasets.rankings import NAMES, load_label_ranking
from skstruct.datasets.sequences import load_conll2000, load_enzymes
from skstruct.datasets.tours import load_flickr_tours


@dataclass(frozen=True)
class KnownData:
    """A public data set: its name, what is predicted, who reads it, a file that it needs."""

    name: str
    task: str
    read: Callable[..., Any]
    file: tuple[str, str] | None = None  # None if it comes with scikit-learn


def _hierarchy(name: str, *file: Any) -> Any:
    return KnownData(name, "hierarchy", partial(load_hierarchical, name), file)


def _labels(name: str) -> Any:
    def read(*, fetch: bool = False, **options: Any) -> Any:
        return fetch_multilabel(name, **options) if fetch else load_multilabel(name, **options)

    return KnownData(name, "labels", read, (name, f"{name}.xml"))


def _ranking(name: str) -> Any:
    file = "label_ranking", f"{name}.csv"
    return KnownData(name, "ranking", partial(load_label_ranking, name), file)


KNOWN = [
    *(_hierarchy(name, files.folder, files.test) for name, files in CLUS_FILES.items()),
    _hierarchy("reuters", "rcv1_subset1", "topics.tsv"),
    _hierarchy("wipo", "wipo_d_reduced", "train_label-D.txt"),
    KnownData("enzymes", "hierarchy", load_enzymes, ("enzyme_ec", "split10.csv")),
    KnownData("digit_shapes", "hierarchy", load_digit_shapes),
    *map(_labels, ("emotions", "medical", "scene", "yeast")),
    *map(_ranking, NAMES),
    KnownData("conll2000", "sequence", load_conll2000, ("conll2000", "train.txt")),
    KnownData("ocr_words", "sequence", load_ocr_words, ("ocr_letters", "letter.data")),
    KnownData("usps", "images", load_usps, ("usps", "zip.train")),
    KnownData("flickr_tours", "tours", load_flickr_tours, ("flickr_tours", "poi-Edin.csv")),
    KnownData(
        "energy_knapsack", "decisions", load_energy_knapsack, ("energy_knapsack", "Data.npz")
    ),
]


def on_this_machine(known: KnownData) -> bool:
    """Whether its file is there, as it is or compressed by xz; always if it needs none."""
    if known.file is None:
        return True
    path = data_home().joinpath(*known.file)
    return path.is_file() or path.with_name(path.name + ".xz").is_file()


def names() -> dict[str, tuple[str, ...]]:
    """Names that :func:`load` takes, by what is predicted.

    Returns
    -------
    dict of str to tuple of str

    Examples
    --------
    >>> names()["labels"]
    ('emotions', 'medical', 'scene', 'yeast')
    """
    tasks = dict.fromkeys(known.task for known in KNOWN)
    return {task: tuple(known.name for known in KNOWN if known.task == task) for task in tasks}


def load(name: str, **options: Any) -> Any:
    """Load a public data set by its name.

    Files are looked for in the folder of :func:`data_home`; ``"digit_shapes"`` needs none. What
    comes back is made for the data set, with these attributes:

    ================================= ===========================================================
    names                             attributes
    ================================= ===========================================================
    of hierarchies (not ``enzymes``)  ``X_train``, ``Y_train``, ``X_test``, ``Y_test``, ``edges``,
                                      ``labels``, ``note``
    of label sets                     ``X_train``, ``Y_train``, ``X_test``, ``Y_test``, ``labels``
    of rankings                       ``X``, ``Y`` (ranks, 1 is best), ``labels``
    ``enzymes``                       ``entries``, ``sequences``, ``numbers``, ``paths``
    ``conll2000``                     ``train``, ``train_tags``, ``test``, ``test_tags``
    ``ocr_words``                     ``images``, ``words``, ``folds``, ``padded()``
    ``usps``                          ``train``, ``train_digits``, ``test``, ``test_digits``
    ``flickr_tours``                  ``places``, ``themes``, ``coordinates``, ``tours``,
                                      ``starts``, ``durations``, ``users``, ``distances()``
    ``energy_knapsack``               ``X``, ``values``, ``weights``
    ================================= ===========================================================

    Parameters
    ----------
    name : str
        One of :func:`names`.
    **options
        Of hierarchies other than ``digit_shapes`` and ``enzymes``: ``subset``, which training
        rows to keep, the first ones if an int. Of label sets: ``fetch=True`` gets those that are
        not on this machine from OpenML, as a Bunch with all rows in ``data`` and ``target``;
        ``return_X_y=True`` gives these two only, and further options are those of
        ``sklearn.datasets.fetch_openml``. Of ``enzymes``: ``part``, ``"split10"`` or ``"new"``,
        and ``single=True`` for enzymes of one EC number only. Of ``flickr_tours``: ``city``,
        ``"Edin"``, ``"Glas"``, ``"Melb"``, ``"Osak"`` or ``"Toro"``, and ``min_places``, which
        leaves out shorter tours. Others have none.

    Raises
    ------
    ValueError
        If no data set has this name; lists those that there are.
    TypeError
        If the data set does not have such an option.
    MissingDataError
        If its files are not on this machine; the message says where to get them.

    Examples
    --------
    >>> data = load("digit_shapes")
    >>> data.X_train.shape, data.labels[:4]
    ((900, 64), ('digit', 'round', 'straight', 'open'))
    >>> tours = load("flickr_tours", city="Glas")  # doctest: +SKIP
    """
    known = next((known for known in KNOWN if known.name == name), None)
    if known is None:
        raise ValueError(_unknown(name))
    try:
        inspect.signature(known.read).bind(**options)
    except TypeError as error:
        raise TypeError(f"load({name!r}): {error}.") from None
    return known.read(**options)


def _unknown(name: str) -> str:
    """What there is instead, the nearest names first."""
    near = difflib.get_close_matches(str(name), [known.name for known in KNOWN], n=3)
    meant = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    groups = "; ".join(f"{task}: {', '.join(group)}" for task, group in names().items())
    return f"load knows no data set {name!r}.{meant} There are, by task, {groups}."
