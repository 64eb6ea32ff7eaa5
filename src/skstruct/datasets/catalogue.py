# SPDX-License-Identifier: BSD-3-Clause
"""The data sets that loaders know, and which of them are on this machine."""

from dataclasses import dataclass

from skstruct.datasets.files import data_home
from skstruct.datasets.hierarchical import CLUS_FILES


@dataclass(frozen=True)
class KnownData:
    """A public data set: its name, who loads it, what is predicted, a file that it needs."""

    name: str
    loader: str
    task: str
    file: tuple[str, str]


def _rankings() -> list[KnownData]:
    from skstruct.datasets.rankings import NAMES

    return [
        KnownData(name, "load_label_ranking", "ranking", ("label_ranking", f"{name}.csv"))
        for name in NAMES
    ]


KNOWN = [
    *(
        KnownData(name, "load_hierarchical", "hierarchy", (files.folder, files.test))
        for name, files in CLUS_FILES.items()
    ),
    KnownData("reuters", "load_hierarchical", "hierarchy", ("rcv1_subset1", "topics.tsv")),
    KnownData("wipo", "load_hierarchical", "hierarchy", ("wipo_d_reduced", "train_label-D.txt")),
    *(
        KnownData(name, "load_multilabel", "labels", (name, f"{name}.xml"))
        for name in ("emotions", "medical", "scene", "yeast")
    ),
    *_rankings(),
    KnownData("ocr_letters", "load_ocr_words", "sequence", ("ocr_letters", "letter.data")),
    KnownData("conll2000", "load_conll2000", "sequence", ("conll2000", "train.txt")),
    KnownData("usps", "load_usps", "images", ("usps", "zip.train")),
    KnownData("enzymes", "load_enzymes", "hierarchy", ("enzyme_ec", "split10.csv")),
    KnownData("flickr_tours", "load_flickr_tours", "tours", ("flickr_tours", "poi-Edin.csv")),
]


def on_this_machine(known: KnownData) -> bool:
    """Whether its file is there, as it is or compressed by xz."""
    path = data_home().joinpath(*known.file)
    return path.is_file() or path.with_name(path.name + ".xz").is_file()
