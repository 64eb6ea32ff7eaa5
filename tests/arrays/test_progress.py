# SPDX-License-Identifier: BSD-3-Clause
"""What is shown of long work, by a clock that the tests move."""

import io
import threading

import pytest
from rich.console import Console

from skstruct._arrays import progress
from skstruct._arrays.progress import announce, reported, ticker, track, watching, working
from skstruct._arrays.progress_bars import Bars


class Clock:
    """Stands still but for ``tick``."""

    now = 100.0

    def __call__(self):
        return self.now

    def tick(self, seconds):
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(progress, "clock", clock)
    monkeypatch.setattr(progress, "BEAT", None)
    return clock


def lines(capsys):
    printed = capsys.readouterr()
    assert printed.out == ""
    return printed.err.splitlines()


def test_nothing_is_shown_of_what_is_quick(clock, capsys):
    with watching(1):
        announce("This takes a moment.")
        for _ in track(range(10), "steps"):
            clock.tick(0.19)
    assert lines(capsys) == []


def test_plan_and_lines_after_two_seconds(clock, capsys):
    shown = []
    with watching(1):
        announce("100 rows x 3 targets.")
        for _ in track(range(10), "alphas"):
            clock.tick(1.5)
            shown += lines(capsys)
    shown += lines(capsys)
    assert shown == [
        "100 rows x 3 targets.",
        "alphas: 2 of 10 (20%), 3 s so far, about 12 s left",  # the first look after two seconds
        "alphas: 6 of 10 (60%), 9 s so far, about 6 s left",  # the first after five seconds more
        "alphas: 10 of 10 (100%), 15 s so far, about 0 s left",
        "alphas: 10 in 15 s",
    ]


def test_at_most_one_line_every_few_seconds(clock, capsys):
    with watching(1):
        clock.tick(3)
        for _ in track(range(1000), "steps"):
            clock.tick(0.01)
    assert len(lines(capsys)) == 3  # after 4 and 9 seconds, and the end


def test_a_verbose_of_two_shows_at_once(clock, capsys):
    with watching(2):
        announce("Quick.")
    assert lines(capsys) == ["Quick."]


def test_silence(clock, capsys):
    with watching(0):
        announce("Nobody asked.")
        for _ in track(range(10), "steps"):
            clock.tick(10)
        with ticker(3, "more") as tick:
            tick()
            clock.tick(10)
            tick()
    steps = [1, 2]
    assert track(steps, "steps") is steps
    assert lines(capsys) == []


def test_stages_stand_in_one_another(clock, capsys):
    with watching(1):
        clock.tick(3)
        with working("kernels", 4) as outer:
            clock.tick(6)
            outer.advance()
            with working("eigendecomposition"):
                clock.tick(6)
                for _ in track(range(2), "alphas"):
                    clock.tick(6)
    printed = lines(capsys)
    assert printed[0] == "kernels: 1 of 4 (25%), 6 s so far, about 18 s left"
    assert printed[1].startswith("kernels: 1 of 4 (25%), 12 s so far")
    assert printed[1].endswith("; eigendecomposition: 6 s so far; alphas: 0 of 2 (0%), 0 s so far")
    assert printed[-1] == "kernels: 1 in 24 s"  # one line for what is over, of the outer one
    assert sum("in 24 s" in line or "alphas: 2 in" in line for line in printed) == 1


def test_fewer_steps_than_were_allowed(clock, capsys):
    """A method that converges ends its bar."""
    with ticker(1000, "L-BFGS", verbose=1) as tick:
        for _ in range(17):
            clock.tick(1)
            tick()
    assert lines(capsys)[-1] == "L-BFGS: 17 in 17 s"


def test_a_loop_that_is_left_early(clock, capsys):
    for step in track(range(1000), "training", 1):
        clock.tick(1)
        if step == 16:
            break
    assert lines(capsys)[-1] == "training: 16 in 17 s"


def test_methods_of_an_object(clock, capsys):
    class Model:
        verbose = 1

        @reported
        def fit(self, X):
            announce(f"{len(X)} rows.")
            clock.tick(2.5)
            return list(track(X, "rows"))

    assert Model().fit([1, 2]) == [1, 2]
    assert lines(capsys)[0] == "2 rows."
    Model.verbose = 0
    assert Model().fit([1, 2]) == [1, 2]
    assert lines(capsys) == []


def test_inner_work_is_a_part_of_the_outer(clock, capsys):
    """Two seconds count from the call of the user, and what is silent itself is shown within."""
    with watching(1):
        clock.tick(2.5)
        with watching(0):
            announce("Within.")
    assert lines(capsys) == ["Within."]
    with watching(1):
        pass
    announce("Outside.")
    assert lines(capsys) == []


def test_steps_taken_in_another_thread(clock, capsys):
    with watching(1):
        clock.tick(3)
        steps = track(range(3), "reading")
        thread = threading.Thread(target=lambda: [clock.tick(2 * (step == 0)) for step in steps])
        thread.start()
        thread.join()
    assert lines(capsys) == [
        "reading: 1 of 3 (33%), 2 s so far, about 4 s left",
        "reading: 3 in 2 s",
    ]


def test_a_step_that_does_not_end_is_shown(monkeypatch, capsys):
    """Somebody looks at the clock meanwhile."""
    monkeypatch.setattr(progress, "AFTER", 0.0)
    monkeypatch.setattr(progress, "EVERY", 0.0)
    monkeypatch.setattr(progress, "BEAT", 0.001)
    printed = threading.Event()
    monkeypatch.setattr(progress.Work, "_print", lambda *_: printed.set())
    with watching(1), working("eigendecomposition"):
        printed.clear()
        assert printed.wait(60)


def test_what_will_take_long_is_shown_before_it(clock, capsys):
    """A call that holds the interpreter lets nobody look at the clock."""
    with watching(1):
        announce(lambda: "100 rows.")
        with working("quick", expected=lambda: 1.9):
            assert lines(capsys) == []
        with working("decomposing", expected=lambda: 2.1):
            assert lines(capsys) == ["100 rows.", "decomposing: 0 s so far"]
    with watching(0), working("decomposing", expected=None) as stage:
        assert stage is None


def test_errors_pass_and_end_the_work(clock, capsys):
    def divide():
        with watching(1), working("dividing"):
            clock.tick(3)
            announce("Now.")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        divide()
    assert lines(capsys) == ["Now.", "dividing: 3 s so far", "dividing: 3 s"]
    assert progress._WORK.get() is None


def test_a_closed_stderr_stops_nobody(clock, monkeypatch):
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr("sys.stderr", closed)
    with watching(2), working("steps", 2) as stage:
        announce("Nobody reads.")
        stage.advance()
    monkeypatch.setattr("sys.stderr", None)
    with watching(2), working("steps", 2) as stage:
        stage.advance()


def test_bars_are_drawn_and_filled(clock, monkeypatch, capsys):
    text = io.StringIO()
    console = Console(file=text, force_terminal=True, width=120)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("skstruct._arrays.progress_bars.Console", lambda **_: console)
    with watching(1):
        announce("100 rows.")
        with working("summing", 1000, unit=" rows") as rows, ticker(10, "L-BFGS") as tick:
            clock.tick(1)
            tick()
            assert text.getvalue() == ""
            clock.tick(2)
            tick()
            rows.advance(5)
    assert capsys.readouterr().err == "100 rows.\n"  # before there was a bar
    last = text.getvalue()
    last = last[last.rindex("summing") :]
    assert "100%" in last
    assert "5 rows" in last
    assert "L-BFGS" not in last  # a part of it, which is over


def test_bars_leave_stdout_alone(capsys):
    text = io.StringIO()
    bars = Bars(Console(file=text, force_terminal=True))
    print("output")
    bars.stop()
    assert capsys.readouterr().out == "output\n"
    assert "output" not in text.getvalue()
