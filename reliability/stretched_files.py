# SPDX-License-Identifier: BSD-3-Clause
"""Files of 64 KiB that are all of one thing: names, columns, labels, items, levels, quotes.

Mutants of small files are small. What takes time or memory by the square of a file shows here.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

SIZE = 1 << 16


def _full(piece: Callable[[int], str], start: str = "", end: str = "") -> bytes:
    """As many pieces as there is room for."""
    parts, left = [start], SIZE - len(start) - len(end)
    for k in count():
        text = piece(k)
        if left < len(text):
            return "".join([*parts, end]).encode()
        parts.append(text)
        left -= len(text)
    raise AssertionError


_ARFF = "@relation r\n@attribute x numeric\n"
_MANY = "".join(f"@attribute a{k} {{0,1}}\n" for k in range(1400))

STRETCHED: dict[str, list[bytes]] = {
    "arff": [
        _full(lambda k: f"@attribute a{k} numeric\n", "@relation r\n", "@data\n"),
        _full(lambda k: "@attribute a numeric\n", "@relation r\n", "@data\n"),
        _full(lambda k: f"v{k},", _ARFF + "@attribute c {", "z}\n@data\n1,z\n"),
        _full(lambda k: "1,'\n" if k % 2 else "1,a\n", _ARFF + "@attribute s string\n@data\n"),
        _full(lambda k: f"{k},t{k}\n", _ARFF + "@attribute s string\n@data\n"),
        _full(lambda k: "{}\n", f"@relation '-C 1400'\n{_MANY}@data\n{{0 1}}\n"),
        _full(lambda k: "\\'", _ARFF + "@attribute s string\n@data\n1,'", "'\n"),
    ],
    "clus": [
        _full(lambda k: f"a{k},", "@relation r\n@attribute c hierarchical ", "z\n@data\nz\n"),
        _full(lambda k: "a/", "@relation r\n@attribute c hierarchical ", "z\n@data\nz\n"),
        _full(lambda k: f"root/a{k},a{k}/a{k + 1},", "@relation r\n@attribute c hierarchical ",
              "root/z\n@data\nz\n"),
        _full(lambda k: f"a{k % 2000}@", "@relation r\n@attribute c hierarchical "
              + ",".join(f"a{k}" for k in range(2000)) + "\n@data\n", "a1\n"),
    ],
    "label list": [
        _full(lambda k: f'<label name="a{k}"/>', "<labels>", "</labels>"),
        _full(lambda k: f'<label name="a{k}">', "<labels>"),
        _full(lambda k: "&amp;", '<labels><label name="', '"/></labels>'),
        _full(lambda k: "<x>"),
    ],
    "libsvm": [
        _full(lambda k: f"{k},", "", "-1 1:1\n"),
        _full(lambda k: f"{k} {999999999 - k}:1\n"),
        _full(lambda k: f" {k + 1}:1", "1"),
        _full(lambda k: "1\n"),
    ],
    "conll": [_full(lambda k: f"w{k} O\n\n"), _full(lambda k: " a"), _full(lambda k: "\n")],
    "conllu": [_full(lambda k: f"{k}\tw\tw\tX{k}\t_\t_\t_\t_\t_\t_\n"), _full(lambda k: "#\n")],
    "edges": [
        _full(lambda k: f"a{k}\ta{k + 1}\n"),
        _full(lambda k: f"a\tb{k}\n"),
        _full(lambda k: f"a{k % 90}\ta{k % 91 + 90}\n"),
        _full(lambda k: f"a{k}\ta{k + 1}\n", "", "a9\ta0\n"),
    ],
    "csv": [
        _full(lambda k: f"a{k},", "", "y\n"),
        _full(lambda k: ",", "y"),
        # Rankings are a table of rows by items, which takes the square in any case: a quarter.
        _full(lambda k: f"{k},a{k}>b{k}\n", "x,ranking\n")[: SIZE // 4],
        _full(lambda k: f"a{k}>", "x,ranking\n1,", "z\n"),
        _full(lambda k: f"a{k};", "x,labels\n1,", "z\n"),
        _full(lambda k: f"{k},a{k};b{k}\n", "x,labels\n"),
        _full(lambda k: "\\;", "x,labels\n1,", "z\n"),
        _full(lambda k: "a ", "x,tags\n1,", "\n"),
        _full(lambda k: '"a\n', "x,y\n1,"),
        _full(lambda k: '""', 'x,y\n1,"', '"\n'),
        _full(lambda k: f"n{k},c{k}\n", "x,class\n"),
    ],
    "toml": [
        _full(lambda k: "[", "[fit]\nset = "),
        _full(lambda k: "1", "[fit]\nfirst = "),
        _full(lambda k: f"'a={k}', ", "[fit]\nset = [", "]\n"),
        _full(lambda k: "a."),
    ],
    "label-ranking": [_full(lambda k: f"{k + 1},", "1,1,9999\n0,", "1\n")],
}  # fmt: skip
