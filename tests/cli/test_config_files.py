# SPDX-License-Identifier: BSD-3-Clause
"""Options of a TOML file are read as if they were typed, or refused in one line."""

import click
import pytest

from skstruct.cli.main import _read_config


def config(tmp_path, text):
    path = tmp_path / "options.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return _read_config(str(path))


def test_values_become_texts_as_on_the_command_line(tmp_path):
    found = config(tmp_path, "[fit]\ntarget = 'y'\nfirst = 3\nquiet = true\nset = ['a=1', 'b=2']\n")
    assert found == {"fit": {"targets": ["y"], "first": "3", "quiet": True,
                             "settings": ["a=1", "b=2"]}}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[fit]\nquiet = 1e999\n", "fit quiet is true or false; got inf."),
        ("[fit]\nquiet = 'yes'\n", "true or false"),
        ("[fit]\nloss = {a = 1}\n", "a text, a number or a list"),
        ("[fit]\nloss = true\n", "a text, a number or a list"),
        ("[fit]\nloss = 1979-05-27\n", "a text, a number or a list"),
        ("[fit]\ntarget = [['y']]\n", "a text, a number or a list"),
        ('[fit]\nedges-file = "a\\u0000"\n', "NUL"),
        ("[fit]\nid-column = 'a'\nid_column = 'b'\n", "fit id_column is given twice."),
        ("a = " + "[" * 5000, "too deep"),
        ("a." * 30_000, "too deep"),
        ("[fit]\nfirst = 1" + "0" * 5000, "not TOML"),
        (b"[fit]\nloss = '\xff'\n", "not TOML"),
    ],
)
def test_what_nobody_can_type_is_refused(tmp_path, text, said):
    with pytest.raises(click.UsageError) as refused:
        config(tmp_path, text)
    message = refused.value.message
    assert said in message
    assert message.endswith(".")
    assert "\n" not in message
