# SPDX-License-Identifier: BSD-3-Clause
"""Tags of words: how many are right, and files that go out as they came, with other tags."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from skstruct import save_model
from skstruct.datasets import read_data, write_data
from skstruct.model_selection import chunk_f1_score, token_accuracy
from skstruct.tasks import TaskModel

SAMPLES = Path(__file__).parents[2] / "src" / "skstruct" / "datasets" / "samples"
CONLLU = """\
# newdoc id = a
# text = vamonos al mar
1-2\tvamonos\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
1\tvamos\tir\tVERB\t_\tMood=Imp\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\tP\t_\t1\tobj\t_\tGloss=us|Conf=0.1
3\tmar\tmar\tNOUN\t_\t_\t1\tobl\t_\t_

# sent_id = 2
1\tnos\tnosotros\tPRON\t_\t_\t0\troot\t_\t_
1.1\tvamos\tir\tVERB\t_\t_\t_\t_\t0:root\t_
2\tvamos\tir\tVERB\t_\t_\t1\tadvmod\t_\t_

"""


@pytest.fixture(scope="module")
def phrases(tmp_path_factory):
    """A model of some of the sentences, which errs on others; tags of every tenth are changed."""
    folder = tmp_path_factory.mktemp("phrases")
    text = (SAMPLES / "phrases.txt").read_text(encoding="utf-8")
    sentences = text.strip().split("\n\n")
    rng = random.Random(0)
    for i in range(0, len(sentences), 10):
        lines = sentences[i].split("\n")
        sentences[i] = "\n".join(f"{line.rsplit(' ', 1)[0]} {rng.choice(['O', 'I-NP'])}"
                                 for line in lines)  # fmt: skip
    (folder / "train.txt").write_text("\n\n".join(sentences[:30]) + "\n")
    (folder / "test.txt").write_text("\n\n".join(sentences[30:]) + "\n")
    model = TaskModel("exponential", parameters={"alpha": 0.1}).fit(read_data(folder / "train.txt"))
    save_model(model, folder / "p.model")
    return folder


def test_chunks_are_evaluated(run, phrases):
    model, data = phrases / "p.model", phrases / "test.txt"
    run("predict", model, data, "-o", "out.conll")
    truth, found = read_data(data).outputs, read_data("out.conll").outputs
    told = json.loads(run("evaluate", "-q", model, data, "--json").out)["tags"]
    by_name = {(m["measure"], m["type"]): m for m in told["measures"]}
    assert told["scheme"] == "IOB1"  # of the tags that were changed, I-NP begins chunks
    assert by_name["f1", None]["value"] == pytest.approx(chunk_f1_score(found, truth))
    assert by_name["token_accuracy", None]["value"] == pytest.approx(token_accuracy(found, truth))
    by_type = chunk_f1_score(found, truth, average=None)
    assert by_name["f1", "NP"]["value"] == pytest.approx(by_type["NP"])
    assert by_name["f1", None]["low"] < by_name["f1", None]["value"] < by_name["f1", None]["high"]
    shown = run("evaluate", "-q", model, data).out
    assert "chunks as IOB1" in shown
    for word in ("token accuracy", "sentence accuracy", "chunk F1", "PP"):
        assert word in shown


def test_tags_that_are_no_chunks_have_no_f1(run, phrases):
    run("fit", "-q", phrases / "train.txt", "--target", 2, "-o", "pos.model", "--set", "alpha=0.1")
    shown = run("evaluate", "-q", "pos.model", phrases / "test.txt", "--target", 2).out
    assert "token accuracy" in shown
    assert "chunk" not in shown


@pytest.fixture
def spanish(run):
    Path("es.conllu").write_text(CONLLU, encoding="utf-8")
    run("fit", "-q", "es.conllu", "-o", "u.model", "--set", "alpha=0.001")
    return "u.model"


def test_conll_u_goes_out_as_it_came(run, spanish):
    run("predict", spanish, "es.conllu", "-o", "out.conllu")
    assert Path("out.conllu").read_text() == CONLLU
    bare = CONLLU
    for tag in ("VERB", "PRON", "NOUN"):
        bare = bare.replace(f"\t{tag}\t", "\t_\t")
    Path("new.conllu").write_text(bare, encoding="utf-8")  # no tag is known: the same
    run("predict", spanish, "new.conllu", "-o", "again.conllu")
    node = "1.1\tvamos\tir\t{}\t_\t_\t_\t_\t0:root\t_"
    assert Path("again.conllu").read_text() == CONLLU.replace(node.format("VERB"), node.format("_"))
    run("predict", spanish, "es.conllu", "-o", "out.conllu.gz", "--first", 1)
    assert len(read_data("out.conllu.gz")) == 1


def test_confidence_in_misc(run, spanish):
    run("predict", spanish, "es.conllu", "--marginals", "-o", "out.conllu")
    lines = Path("out.conllu").read_text().splitlines()
    assert lines[:3] == CONLLU.splitlines()[:3]  # a range of words has no tag
    name, sure = lines[4].split("\t")[-1].rsplit("=", 1)
    assert name == "Gloss=us|Conf"
    assert 0.5 < float(sure) <= 1
    records = [
        json.loads(line)
        for line in run("predict", spanish, "es.conllu", "--marginals", "--json").out.splitlines()
    ]
    assert sure == f"{records[0]['confidence'][1]:.4g}"


def test_tags_in_misc_leave_no_room_for_confidence(run):
    Path("es.conllu").write_text(CONLLU, encoding="utf-8")
    run("fit", "-q", "es.conllu", "--target", "MISC", "-o", "m.model", "--set", "alpha=0.001")
    said = run("predict", "m.model", "es.conllu", "--marginals", "-o", "out.conllu", code=3)
    assert "MISC holds the tags" in said.err
    assert not Path("out.conllu").exists()


def test_another_column_of_conll_u(run):
    Path("es.conllu").write_text(CONLLU, encoding="utf-8")
    run("fit", "-q", "es.conllu", "--target", "DEPREL", "-o", "u.model", "--set", "alpha=0.001")
    run("predict", "u.model", "es.conllu", "-o", "out.conllu")
    assert Path("out.conllu").read_text() == CONLLU


def test_confidence_in_a_last_column(run, phrases):
    run("predict", phrases / "p.model", phrases / "test.txt", "--marginals", "-o", "sure.conll")
    run("predict", phrases / "p.model", phrases / "test.txt", "-o", "out.conll")
    sure = Path("sure.conll").read_text().splitlines()
    plain = Path("out.conll").read_text().splitlines()
    assert [line.rsplit(" ", 1)[0] if line else "" for line in sure] == plain
    assert all(0 < float(line.rsplit(" ", 1)[1]) <= 1 for line in sure if line)


def test_words_without_tags_are_of_the_format_of_the_model(run, phrases):
    """Nothing in such a file tells its format; an empty one and one with a format of its own do."""
    text = (phrases / "train.txt").read_text()
    words_and_tags = [" ".join(line.split()[::2]) for line in text.splitlines()]
    Path("train.txt").write_text("\n".join(words_and_tags) + "\n")
    run("fit", "-q", "train.txt", "-o", "words.model", "--set", "alpha=1")
    Path("new").write_text("the\ndog\n\nhe\n")
    run("predict", "-q", "words.model", "new", "-o", "new.conll")
    assert [len(tags) for tags in read_data("new.conll").outputs] == [2, 1]
    said = run("predict", "-q", "words.model", "new", "--restrict", 'known={"0": "I-NP"}').out
    assert [row.split(",")[1].split()[0] for row in said.splitlines()[1:]] == ["I-NP", "I-NP"]
    told = run("evaluate", "-q", "words.model", "new", code=3).err
    assert "there is no tag" in told
    Path("none").write_text("")
    assert "empty" in run("predict", "-q", "words.model", "none", code=3).err


def test_marks_and_places_of_tags_are_kept(run):
    text = "-DOCSTART- -X- O\n\nthe\tB\t7\ndog\tI\t8\n\nit\tB\t9\nruns\tO\t1\n"
    Path("t.conll").write_text(text)
    run("fit", "-q", "t.conll", "--target", 2, "-o", "m.model", "--set", "alpha=0.001")
    run("predict", "m.model", "t.conll", "-o", "out.conll")
    assert Path("out.conll").read_text() == text + "\n"


def test_words_of_other_files_become_conll_u(run, phrases):
    run("predict", phrases / "p.model", phrases / "test.txt", "-o", "out.conllu")
    given, made = read_data(phrases / "test.txt"), read_data("out.conllu")
    assert [[t[0] for t in s] for s in made.inputs] == [[t[0] for t in s] for s in given.inputs]
    run("predict", phrases / "p.model", phrases / "test.txt", "-o", "out.conll")
    assert made.outputs == read_data("out.conll").outputs
    run("data", "convert", "-q", "out.conllu", "back.conll")
    assert read_data("back.conll").outputs == made.outputs


def test_changed_words_are_not_written_as_they_came(run):
    Path("t.conll").write_text("The DT\ndog NN\n\n")
    data = read_data("t.conll")
    write_data(replace(data, inputs=[[("the",), ("dog",)]]), "low.conll")
    assert Path("low.conll").read_text() == "the DT\ndog NN\n\n"
