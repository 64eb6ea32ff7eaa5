# SPDX-License-Identifier: BSD-3-Clause
import pickle
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstruct.streaming import Block, IteratorSource
from skstruct.streaming.blocks import join_rows


def blocks_of(sizes):
    ends = np.cumsum([0, *sizes])
    for a, b in zip(ends, ends[1:]):  # noqa: RUF007
        yield np.arange(a, b)[:, None], [str(i) for i in range(a, b)], np.arange(a, b) / 2


def read(source, rows):
    [part] = source.partitions(5)
    blocks = list(part.blocks(rows))
    assert all(1 <= len(block) <= rows for block in blocks)
    assert [b.start for b in blocks] == list(np.cumsum([0, *map(len, blocks[:-1])]))
    return blocks


sizes_of_blocks = st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(sum)


@given(sizes=sizes_of_blocks, rows=st.integers(1, 10), n=st.integers(1, 30), again=st.booleans())
def test_every_row_comes_once_also_after_a_sample(sizes, rows, n, again):
    source = IteratorSource((lambda: blocks_of(sizes)) if again else blocks_of(sizes))
    assert source.again == again
    sample = source.sample(n, 0)
    chosen = sample.X[:, 0]
    assert len(chosen) == min(n, sum(sizes))
    assert (np.diff(chosen) > 0).all()
    assert sample.y == [str(i) for i in chosen]
    np.testing.assert_array_equal(sample.weight, chosen / 2)
    if not again:
        np.testing.assert_array_equal(chosen, np.arange(len(chosen)))
    blocks = read(source, rows)
    np.testing.assert_array_equal(join_rows([b.X for b in blocks])[:, 0], np.arange(sum(sizes)))
    assert join_rows([b.y for b in blocks]) == [str(i) for i in range(sum(sizes))]


@pytest.mark.slow
def test_a_sample_of_what_can_be_read_again_is_fair():
    # 600 samples of 3 of 10 rows: each row 180 times on average, with deviation 11.2. The largest
    # of ten is beyond 4.5 deviations with probability below 1e-4.
    source = IteratorSource(lambda: blocks_of([1, 4, 0, 5]))
    seen = np.concatenate([source.sample(3, seed).X[:, 0] for seed in range(600)])
    assert np.abs(np.bincount(seen, minlength=10) - 180).max() < 4.5 * 11.2


def test_a_one_shot_iterator_is_read_once():
    source = IteratorSource(blocks_of([2, 2]))
    assert source.sample(1).y == source.sample(1).y == ["0"]
    assert sum(map(len, read(source, 9))) == 4
    with pytest.raises(ValueError, match=r"read before.*give a function"):
        read(source, 9)
    with pytest.raises(ValueError, match="read before"):
        source.sample(1)


@pytest.mark.parametrize("spent", [iter([]), [], [np.zeros((0, 2))]])
def test_an_empty_iterator_says_so(spent):
    with pytest.raises(ValueError, match="no rows: it is empty, or it has been used up"):
        read(IteratorSource(spent), 9)
    with pytest.raises(ValueError, match="no rows"):
        IteratorSource(spent).sample(3)


def test_a_generator_that_was_used_up_before_says_so():
    used = blocks_of([2])
    list(used)
    with pytest.raises(ValueError, match="used up before"):
        read(IteratorSource(used), 9)


def test_inputs_alone_and_lists_of_a_data_loader():
    X = np.zeros((2, 3))
    assert next(iter(read(IteratorSource([X]), 9))).y is None
    assert next(iter(read(IteratorSource([[X, [1, 2]]]), 9))).y == [1, 2]
    assert next(iter(read(IteratorSource([Block(X, [1, 2])]), 9))).y == [1, 2]
    assert next(iter(read(IteratorSource([[[0, 1], [2, 3]]]), 9))).X == [[0, 1], [2, 3]]


def test_blocks_must_be_alike():
    import pandas

    wide, narrow = np.zeros((2, 80)), np.zeros((2, 79))
    cases = [
        ([(wide, [1, 2])] * 7 + [(narrow, [1, 2])], "block 7 has 79 columns, block 0 has 80"),
        ([(wide, [1, 2]), (wide, [1])], "block 1 has 2 rows of X, and 1 of y"),
        ([(wide, [1, 2], [1.0])], "block 0 has 2 rows of X, and 1 of weight"),
        ([(wide, [1, 2]), wide], "block 1 has no y, and block 0 has one"),
        ([(wide, [1, 2]), (wide, [1, 2], [1, 1])], "block 0 has no weight, and block 1 has one"),
        ([(wide, 1, 2, 3)], "block 0 is a tuple of 4"),
        (
            [pandas.DataFrame({"a": [1], "b": [1]}), pandas.DataFrame({"a": [1], "c": [1]})],
            "block 1 has the column 'c' where block 0 has 'b'",
        ),
    ]
    for items, message in cases:
        with pytest.raises(ValueError, match=message):
            read(IteratorSource(items), 9)


def test_blocks_are_of_one_kind():
    import pandas
    from scipy import sparse

    X = np.zeros((2, 3))
    frame, thin = pandas.DataFrame(X), sparse.csr_array(X)
    cases = [
        ([frame, X], "X of block 1 is an array, and of block 0 a pandas DataFrame"),
        ([X, frame], "X of block 1 is a pandas DataFrame, and of block 0 an array"),
        ([X, X, thin], "X of block 2 is a sparse matrix, and of block 0 an array"),
        ([X, X.tolist()], "X of block 1 is a list, and of block 0 an array"),
        (
            [(X, frame), (X, X)],
            "y of block 1 is an array or a list, and of block 0 a pandas DataFrame",
        ),
    ]
    for items, message in cases:
        for source in (IteratorSource(items), IteratorSource(iter(items))):
            with pytest.raises(ValueError, match=message):
                read(source, 9)
    alike = [(X, np.array([1, 2])), (X, [3, 4])]
    assert IteratorSource(alike).sample(4).y.tolist() == [1, 2, 3, 4]
    assert IteratorSource(alike[::-1]).sample(4).y == [3, 4, 1, 2]


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"X": np.zeros((2, 3))}, "block 1: X is of type dict, not rows"),
        (None, "block 1: X is of type NoneType, not rows"),
        (7, "block 1: X is of type int, not rows"),
        ("rows", "block 1: X is of type str, not rows"),
        (np.float64(1), "block 1: X is a single value, not rows"),
        ((np.zeros((2, 3)), 5), "block 1: y is of type int, not rows"),
        (
            (np.zeros((2, 3)), [1, 2], 2.0),
            "block 1: weight is a single value, not rows; one for each",
        ),
    ],
)
def test_blocks_without_rows_are_named(item, message):
    with pytest.raises(ValueError, match=message):
        read(IteratorSource(iter([np.zeros((2, 3)), item])), 9)


def test_an_iterator_is_not_sent_anywhere():
    [part] = IteratorSource(iter([np.zeros((1, 1))])).partitions()
    with pytest.raises(TypeError, match="cannot be sent to a worker"):
        pickle.dumps(part)
    [part] = pickle.loads(pickle.dumps(IteratorSource([np.zeros((1, 1))]).partitions()))
    assert len(list(part.blocks(1))) == 1


def test_no_more_than_a_block_is_held():
    alive = []

    def one_at_a_time():
        for _ in range(5):
            X = np.zeros((2, 1))
            alive.append(weakref.ref(X))
            yield X
            del X

    for source in (IteratorSource(one_at_a_time), IteratorSource(one_at_a_time())):
        alive.clear()
        [part] = source.partitions()
        for _ in part.blocks(9):
            assert sum(X() is not None for X in alive) <= 2


def test_an_error_of_the_iterator_comes_through():
    def broken():
        yield np.zeros((1, 1))
        raise OSError("the line went dead")

    with pytest.raises(OSError, match="went dead"):
        read(IteratorSource(broken), 9)
