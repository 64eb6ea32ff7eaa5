# SPDX-License-Identifier: BSD-3-Clause
"""Decoding chains: the Viterbi recursion over many short rows."""

from __future__ import annotations

from functools import partial

import numpy as np
from chain_peers import CrfTagger, chains_by_length, chains_row_by_row, window
from harness import Table, at_least, at_most, compare, median, ratio

from skstruct.datasets.sequences import load_conll2000
from skstruct.exceptions import MissingDataError
from skstruct.spaces.sequence_sets.chains.viterbi import best_chains

FEW = 300  # rows that the plain loop decodes


def random_chains(n, q, everywhere, rng):
    """Rows of 3 to 14 positions, as words have letters."""
    starts = np.concatenate([[0], np.cumsum(rng.integers(3, 15, n))])
    N = starts[-1]
    return (
        rng.standard_normal((N, q)),
        starts,
        rng.standard_normal((1 if everywhere else N, q, q)),
    )


def first_rows(chains, few):
    unary, starts, transitions = chains
    end = starts[few]
    return unary[:end], starts[: few + 1], transitions[:end]


def bench_random():
    table = Table("Minimum-cost chains, per position", "loop: peer / ours; by length: ours / peer")
    rng = np.random.default_rng(0)
    for q in (10, 26, 45):
        for everywhere in (True, False):
            chains = random_chains(6000 if everywhere else 1500, q, everywhere, rng)
            compare_with_numpy(table, f"{q} symbols", chains)


def compare_with_numpy(table, name, chains):
    unary, _, transitions = chains
    name += ", one matrix" if len(transitions) == 1 else ", a matrix per position"
    few = first_rows(chains, FEW)
    symbols, _ = best_chains(*chains)
    np.testing.assert_array_equal(symbols, chains_by_length(*chains))
    np.testing.assert_array_equal(symbols[: len(few[0])], chains_row_by_row(*few))
    calls = {
        "ours": partial(best_chains, *chains),
        "lengths": partial(chains_by_length, *chains),
        "loop": partial(chains_row_by_row, *few),
    }
    rows = {"ours": len(unary), "lengths": len(unary), "loop": len(few[0])}
    times = compare(calls, rows, budget=8.0)
    table.add(f"{name}: best_chains", median(times, "ours"))
    table.add(f"{name}: NumPy, row by row", median(times, "loop"),
              ratio(times, "loop", "ours"), at_least(50))  # fmt: skip
    table.add(f"{name}: NumPy, length by length", median(times, "lengths"),
              ratio(times, "ours", "lengths"), at_most(0.6))  # fmt: skip


def bench_sentences(n_train=1500):
    try:
        data = load_conll2000()
    except MissingDataError as error:
        print(f"\nSentences are left out: {error}")
        return
    table = Table("Chunk tags of 2,012 sentences, per token", "loop, crfsuite: peer / ours")
    X = [window(sentence) for sentence in data.test]
    starts = np.concatenate([[0], np.cumsum([len(x) for x in X])])
    try:
        tagger = CrfTagger(map(window, data.train[:n_train]), data.train_tags[:n_train])
    except ImportError:
        table.note("python-crfsuite is not installed: left out")
        return
    unary, transitions = tagger.costs(X)
    sequences = tagger.prepare(X)
    tags = np.array(tagger.labels)[best_chains(unary, starts, transitions)[0]]
    theirs = np.array([tag for row in tagger.tag(sequences) for tag in row])
    table.note(f"{(tags == theirs).mean():.2%} of the tags agree: the same scores, decoded twice")
    compare_with_numpy(table, f"{unary.shape[1]} tags", (unary, starts, transitions))
    calls = {
        "ours": partial(best_chains, unary, starts, transitions),
        "tag": partial(tagger.tag, sequences),
        "score": partial(tagger.score, sequences),
    }
    times = compare(calls, dict.fromkeys(calls, len(unary)), budget=8.0)
    table.add("best_chains, from given scores", median(times, "ours"))
    table.add("crfsuite Tagger.tag: scores from features, then Viterbi", median(times, "tag"),
              ratio(times, "tag", "ours"))  # fmt: skip
    table.add("crfsuite Tagger.set: scores alone", median(times, "score"),
              ratio(times, "score", "ours"))  # fmt: skip
    viterbi = {**times, "rest": [a - b for a, b in zip(times["tag"], times["score"])]}
    table.add("crfsuite, the difference: about its Viterbi", median(viterbi, "rest"),
              ratio(viterbi, "rest", "ours"), at_least(1))  # fmt: skip


if __name__ == "__main__":
    bench_random()
    bench_sentences()
