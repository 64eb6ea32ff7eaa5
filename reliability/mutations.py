# SPDX-License-Identifier: BSD-3-Clause
"""Broken files made of sound ones: bytes flipped, inserted, cut out, doubled and spliced.

A reader is fuzzed by handing it such files. Most of them have one change and the others up to
eight, since a file that is broken at many bytes is refused at its first lines and tells
nothing about the rest. ``random.Random`` makes all choices, so that a seed names a run.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

MOST_BYTES = 1 << 16

TOKENS: tuple[bytes, ...] = (
    *(b"", b",", b";", b":", b"\t", b" ", b"\n", b"\r\n", b"\r", b"\x00", b"\xef\xbb\xbf", b"\xff"),
    *(b"'", b'"', b"\\", b"{", b"}", b"%", b"#", b"?", b"@", b"/", b"<", b">", b"=", b"&", b"_"),
    *(b"-1", b"0", b"1", b"99999999999999999999", b"1e999", b"-1e-999", b"nan", b"inf", b"0x10"),
    *(b"1_0", b"1.5.2", b"+-1", b"\xc3\xa9", "٣".encode(), "\u2028".encode(), b"\x0b", b"\x1c"),
)
"""What breaks readers of text: separators, quotes, odd spaces, odd numbers, wrong bytes."""


def mutants(
    seeds: Sequence[bytes],
    n: int,
    rng: random.Random,
    tokens: Sequence[bytes] = (),
    max_bytes: int = MOST_BYTES,
) -> Iterator[bytes]:
    """Yield ``n`` broken copies of the seeds.

    Parameters
    ----------
    seeds : sequence of bytes
        Sound files, better short: a change in a long one is rarely where it matters.
    n : int
    rng : random.Random
    tokens : sequence of bytes
        Words of the format, such as ``b"@data"``; :data:`TOKENS` are always used.
    max_bytes : int
        What is longer is cut off.

    Examples
    --------
    >>> broken = list(mutants([b"1,2\\n3,4\\n"], 1000, random.Random(0)))
    >>> len(broken), sum(text != b"1,2\\n3,4\\n" for text in broken) > 900
    (1000, True)
    """
    words = [*TOKENS, *tokens]
    for _ in range(n):
        yield mutant(rng.choice(seeds), rng, words, seeds, max_bytes)


def mutant(
    text: bytes,
    rng: random.Random,
    words: Sequence[bytes],
    seeds: Sequence[bytes],
    max_bytes: int = MOST_BYTES,
) -> bytes:
    """One broken copy of a file; ``seeds`` are others that an end may be taken of."""
    broken = bytearray(text)
    for _ in range(1 if rng.random() < 0.6 else rng.randint(2, 8)):
        rng.choice(CHANGES)(broken, rng, words, seeds)
    return bytes(broken[:max_bytes])


def _flip(text, rng, words, seeds):
    """One bit of one byte, the other way round."""
    if text:
        text[rng.randrange(len(text))] ^= 1 << rng.randrange(8)


def _put(text, rng, words, seeds):
    """Any byte instead of another."""
    if text:
        text[rng.randrange(len(text))] = rng.randrange(256)


def _insert(text, rng, words, seeds):
    """Some random bytes in between."""
    at = rng.randint(0, len(text))
    text[at:at] = rng.randbytes(rng.randint(1, 4))


def _insert_word(text, rng, words, seeds):
    at = rng.randint(0, len(text))
    text[at:at] = rng.choice(words)


def _put_word(text, rng, words, seeds):
    """A word instead of up to eight bytes."""
    start = rng.randint(0, len(text))
    text[start : start + rng.randint(0, 8)] = rng.choice(words)


def _cut(text, rng, words, seeds):
    start, end = _span(text, rng)
    del text[start:end]


def _truncate(text, rng, words, seeds):
    del text[rng.randint(0, len(text)) :]


def _double(text, rng, words, seeds):
    """A piece once more, some way behind; rarely a hundred times."""
    start, end = _span(text, rng)
    at = rng.randint(0, len(text))
    text[at:at] = text[start:end] * (100 if rng.random() < 0.02 else 1)


def _splice(text, rng, words, seeds):
    """The beginning of this file and the end of another."""
    other = rng.choice(seeds)
    text[rng.randint(0, len(text)) :] = other[rng.randint(0, len(other)) :]


def _swap_lines(text, rng, words, seeds):
    lines = text.split(b"\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[i], lines[j] = lines[j], lines[i]
    text[:] = b"\n".join(lines)


def _span(text, rng) -> tuple[int, int]:
    """A piece of the file, of any length but mostly short."""
    start = rng.randint(0, len(text))
    length = rng.choice((1, 4, 16, 64, len(text)))
    return start, start + rng.randint(0, length)


CHANGES: tuple[Callable, ...] = (
    *(_flip, _put, _insert, _insert_word, _insert_word, _put_word, _put_word),
    *(_cut, _truncate, _double, _splice, _swap_lines),
)
