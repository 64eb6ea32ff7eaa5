# SPDX-License-Identifier: BSD-3-Clause
"""What a word says by itself: its letters, its ends, its shape."""

import re

_RUNS = re.compile(r"(.)\1{2,}", re.DOTALL)


def shape(word: str) -> str:
    """Capitals, other letters and digits as X, x and d; two at most of a run of the same sign.

    >>> shape("Rolls-Royce"), shape("1,250"), shape("iPhone")
    ('Xxx-Xxx', 'd,dd', 'xXxx')
    """
    return _RUNS.sub(r"\1\1", "".join(map(_kind, word)))


def _kind(sign: str) -> str:
    if sign.isupper():
        return "X"
    if sign.isalpha():
        return "x"
    return "d" if sign.isdigit() else sign


def word_attributes(n_prefixes: int, n_suffixes: int) -> tuple[str, ...]:
    """Names of what :func:`describe_word` tells.

    >>> word_attributes(1, 2)
    ('word', 'written', 'prefix1', 'suffix1', 'suffix2', 'shape', 'digit', 'hyphen')
    """
    prefixes = (f"prefix{k}" for k in range(1, n_prefixes + 1))
    suffixes = (f"suffix{k}" for k in range(1, n_suffixes + 1))
    return ("word", "written", *prefixes, *suffixes, "shape", "digit", "hyphen")


def describe_word(word: str, n_prefixes: int, n_suffixes: int) -> tuple[str | None, ...]:
    """Values of the attributes of a word, None for those that it does not have.

    The word is in small letters, and as written where it has others. An end is shorter than its
    word. Flags have the value "".

    >>> describe_word("X-ray", 1, 2)
    ('x-ray', 'X-ray', 'x', 'y', 'ay', 'X-xx', None, '')
    """
    lower = word.lower()
    n = len(lower)
    return (
        lower,
        word if word != lower else None,
        *(lower[:k] if n > k else None for k in range(1, n_prefixes + 1)),
        *(lower[-k:] if n > k else None for k in range(1, n_suffixes + 1)),
        shape(word),
        "" if any(map(str.isdigit, word)) else None,
        "" if "-" in word else None,
    )
