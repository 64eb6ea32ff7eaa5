# SPDX-License-Identifier: BSD-3-Clause
"""What the library read, against what the second readers read: names, numbers and labels.

A file that the library accepts and the definition does not allow is a misreading, too.
"""

from __future__ import annotations

import codecs
import tomllib
from collections.abc import Callable
from typing import Any

import oracle_lines
import oracle_tables
from arff_judges import judge_arff, judge_mulan, plain, plain_outputs, same
from oracle_readers import Refused

# Tables of text.


def judge_csv(raw: bytes, data: Any) -> None:
    names, rows = oracle_tables.read_csv(raw)
    texts = {name: [row[j] for row in rows] for j, name in enumerate(names)}
    others = [name for name in names if name not in data.inputs.names]
    if data.index is not None:
        same("index", list(data.index), [oracle_tables.meant(t) for t in texts[others.pop(0)]])
    kept = {name: oracle_tables.column(texts[name]) for name in names if name in data.inputs.names}
    same("names", list(data.inputs.names), list(kept))
    same("inputs", plain(data.inputs), kept)
    if data.outputs is None:
        same("targets", others, [])
        return
    same("targets", len(others), 1)
    found = [oracle_tables.output(data.task, text) for text in texts[others[0]]]
    if data.task == "regression":
        found = [[x] for x in found]
    if data.task in ("classes", "ordinal"):
        found = oracle_tables.class_names(found)
    same("outputs", plain_outputs(data), found)


def judge_libsvm(raw: bytes, data: Any) -> None:
    rows = oracle_tables.read_libsvm(raw)
    names, X = data.inputs.names, data.inputs.data.tocsr()
    ours = [
        {int(names[j]): x for j, x in zip(X.indices[a:b].tolist(), X.data[a:b].tolist())}
        for a, b in zip(X.indptr, X.indptr[1:])
    ]
    same("inputs", ours, [{j: x for j, x in row.items() if x} for _, row in rows])
    labels = [head for head, _ in rows]
    if data.outputs is None:
        same("labels", labels, [[]] * len(rows))
    elif data.task == "classes":
        same("classes", plain_outputs(data), [head[0] for head in labels])
    elif data.task == "regression":
        same("numbers", plain_outputs(data), [[float(head[0])] for head in labels])
    else:
        same("labels", plain_outputs(data), labels)


def judge_label_ranking(raw: bytes, data: Any) -> None:
    features, ranks = oracle_tables.read_label_ranking(raw)
    same("features", data.inputs.data.tolist(), features)
    same("ranks", data.outputs.tolist(), ranks)


def judge_parquet(raw: bytes, data: Any) -> None:
    """Columns as pyarrow gives them, cell by cell, without pandas in between."""
    import io

    from pyarrow import parquet

    columns = parquet.read_table(io.BytesIO(raw)).to_pydict()
    ours = plain(data.inputs)
    for name in (name for name in columns if name in ours):
        cells = columns[name]
        texts = any(isinstance(cell, (str, bool)) for cell in cells)
        if texts:
            shown = [None if c is None else str(c) for c in cells]
            shown = [None if c is None or c.strip(oracle_tables.BLANKS) in oracle_tables.MISSING
                     else c for c in shown]  # fmt: skip
        else:
            shown = [None if c is None or c != c else float(c) for c in cells]
        same(f"column {name!r}", ours[name], shown)
    same("rows", len(data), len(next(iter(columns.values()), ())))


# Tokens and lists.


def judge_tokens(raw: bytes, data: Any) -> None:
    sentences = oracle_lines.read_tokens(raw)
    same("tokens", [list(words) for words in data.inputs], [[w for w, _ in s] for s in sentences])
    same("tags", plain_outputs(data), [[tag for _, tag in s] for s in sentences])


def judge_conllu(raw: bytes, data: Any) -> None:
    sentences = oracle_lines.read_conllu(raw)
    same("tokens", [list(words) for words in data.inputs], [[w for w, _ in s] for s in sentences])
    same("tags", plain_outputs(data), [[tag for _, tag in s] for s in sentences])


def judge_edges(raw: bytes, found: Any) -> None:
    same("edges", list(found), oracle_lines.read_edges(raw))


def judge_list(raw: bytes, found: Any) -> None:
    same("list of labels", tuple(map(list, found)), oracle_lines.read_label_list(raw))


# Options.


_CALLED = {
    "target": "targets",
    "set": "settings",
    "format": "format_",
    "json": "as_json",
    "q": "quiet",
}
_CALLED |= {"as-json": "as_json"}


def judge_toml(raw: bytes, found: Any) -> None:
    """Every entry of the file is the option of that name, as it would be typed."""
    _judge_options(tomllib.loads(raw.decode()), found)


def _judge_options(table: dict[str, Any], found: dict[str, Any]) -> None:
    for key, value in table.items():
        if isinstance(value, dict):
            _judge_options(value, found[key])
            continue
        key = key.replace("_", "-")
        ours = found[_CALLED.get(key, key.replace("-", "_"))]
        if key == "encoding":
            value = codecs.lookup(str(value)).name  # its usual name
        if isinstance(value, bool) or ours == value:
            same(key, ours, value)
        elif isinstance(ours, tuple):
            same(key, list(ours), [str(v) for v in (value if isinstance(value, list) else [value])])
        else:
            said = ",".join(map(str, value)) if isinstance(value, list) else str(value)
            same(key, ours if isinstance(ours, str) else float(ours),
                 said if isinstance(ours, str) else float(said))  # fmt: skip


JUDGES: dict[str, Callable[[bytes, Any], None]] = {
    "arff": judge_arff,
    "clus": judge_arff,
    "mulan": judge_mulan,
    "label list": judge_list,
    "libsvm": judge_libsvm,
    "conll": judge_tokens,
    "conllu": judge_conllu,
    "edges": judge_edges,
    "label-ranking": judge_label_ranking,
    "csv": judge_csv,
    "parquet": judge_parquet,
    "toml": judge_toml,
}


def judge(name: str, raw: bytes, found: Any) -> None:
    """An AssertionError says in what a file was read otherwise than it stands there."""
    try:
        JUDGES[name](raw, found)
    except Refused as error:
        raise AssertionError(f"read, though the format does not allow it: {error}") from None
