# SPDX-License-Identifier: BSD-3-Clause
"""The licence of a package by its metadata, and whether it may be a dependency."""

import re

# What classifiers and older metadata say, as SPDX names.
NAMES = {
    "MIT License": "MIT",
    "MIT": "MIT",
    "BSD License": "BSD-3-Clause",
    "BSD": "BSD-3-Clause",
    "BSD 3-Clause": "BSD-3-Clause",
    "BSD 3-Clause License": "BSD-3-Clause",
    "3-Clause BSD License": "BSD-3-Clause",
    "3-clause BSD": "BSD-3-Clause",
    "Apache Software License": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "Public Domain": "CC0-1.0",
    "ISC License (ISCL)": "ISC",
}
FREE = {
    "0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "HPND", "ISC",
    "MIT", "MIT-0", "MIT-CMU", "MPL-2.0", "PSF-2.0", "Python-2.0", "Unlicense", "Zlib",
}  # fmt: skip
# Exceptions that let whatever is linked have any licence.
LINKING = {"GCC-exception-3.1", "LLVM-exception"}
UNKNOWN = "unknown"


def licence(metadata):
    """An SPDX expression, or "unknown"; several classifiers all count."""
    stated = metadata.get("License-Expression")
    if stated:
        return stated
    classifiers = [
        line.split("::")[-1].strip()
        for line in metadata.get_all("Classifier") or []
        if line.startswith("License ::")
    ]
    named = [name for name in classifiers if name != "OSI Approved"]
    if named:
        return " AND ".join(NAMES.get(name, _gnu(name)) for name in named)
    text = (metadata.get("License") or "").strip()
    return NAMES.get(text, text if text in FREE else _gnu(text))


def _gnu(text):
    """The GNU licences are told apart; whatever else is not known by name stays unknown."""
    if re.search(r"lesser|LGPL", text, re.IGNORECASE):
        return "LGPL"
    if re.search(r"affero|AGPL", text, re.IGNORECASE):
        return "AGPL"
    return "GPL" if re.search(r"\bGPL|general public", text, re.IGNORECASE) else UNKNOWN


def is_free(expression):
    """Whether one of the alternatives of an SPDX expression has only parts that are free.

    >>> is_free("MIT AND (GPL-3.0-only OR BSD-3-Clause)"), is_free("MIT AND GPL-3.0-only")
    (True, False)
    >>> is_free("Apache-2.0 WITH LLVM-exception"), is_free("unknown"), is_free("(MIT")
    (True, False, False)
    """
    words = re.findall(r"[()]|[^\s()]+", expression)
    try:
        value, rest = _either(words)
    except IndexError:
        return False
    return value and not rest


def _either(words):
    value, words = _both(words)
    while words and words[0].upper() == "OR":
        other, words = _both(words[1:])
        value = value or other
    return value, words


def _both(words):
    value, words = _one(words)
    while words and words[0].upper() == "AND":
        other, words = _one(words[1:])
        value = value and other
    return value, words


def _one(words):
    if words[0] == "(":
        value, rest = _either(words[1:])
        if rest[0] != ")":
            return False, rest
        return value, rest[1:]
    name, rest = words[0], words[1:]
    if rest and rest[0].upper() == "WITH":
        return rest[1] in LINKING, rest[2:]
    return name in FREE, rest
