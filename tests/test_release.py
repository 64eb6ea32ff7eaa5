# SPDX-License-Identifier: BSD-3-Clause
"""Files around a release agree with each other and with the package."""

import importlib.util
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

import skstruct

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
YAML = [*WORKFLOWS, ROOT / ".pre-commit-config.yaml", ROOT / "CITATION.cff"]
TARGET = re.compile(r"^([a-z][\w-]*):(?!=)", re.MULTILINE)


def parsed(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def jobs():
    for path in WORKFLOWS:
        for name, job in parsed(path)["jobs"].items():
            yield pytest.param(job, id=f"{path.stem}-{name}")


def commands(job):
    """Commands of a job, with every value of its matrix in place of the name."""
    values = job.get("strategy", {}).get("matrix", {})
    for command in (step["run"] for step in job["steps"] if "run" in step):
        name = re.search(r"\$\{\{ matrix\.(\w+) \}\}", command)
        chosen = values[name[1]] if name else [""]
        yield from (command.replace(name[0], value) if name else command for value in chosen)


def pythons(job):
    """Versions of Python that a job asks for."""
    for step in job["steps"]:
        if "setup-python" in step.get("uses", ""):
            asked = step["with"]["python-version"]
            yield from job["strategy"]["matrix"]["python"] if "matrix" in asked else [asked]


def tool(name):
    """A module of the folder tools, which is no package."""
    spec = importlib.util.spec_from_file_location(f"tools_{name}", ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", YAML, ids=lambda path: path.name)
def test_yaml_is_a_mapping(path):
    assert isinstance(parsed(path), dict)


def test_the_workflows_are_there():
    assert {path.stem for path in WORKFLOWS} >= {"ci", "nightly", "release"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_ask_for_little(path):
    workflow = parsed(path)
    assert workflow["permissions"] == {"contents": "read"}
    assert "concurrency" in workflow
    for name, job in workflow["jobs"].items():
        extra = job.get("permissions", {})
        allowed = {"publish": {"id-token": "write"}, "describe": {"contents": "write"}}
        assert extra == (allowed.get(name, {}) if path.stem == "release" else {})
        assert job["timeout-minutes"] <= 300


@pytest.mark.parametrize("job", [*jobs()])
def test_workflows_run_targets_of_the_makefile(job):
    targets = set(TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8")))
    for command in commands(job):
        make, target = shlex.split(command)
        assert make == "make"
        assert target in targets


@pytest.mark.parametrize("job", [*jobs()])
def test_actions_are_pinned_to_a_major_version(job):
    for step in job["steps"]:
        if "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w-]+@(release/)?v\d+", step["uses"])


@pytest.mark.parametrize("job", [*jobs()])
def test_pythons_are_supported(job):
    for version in pythons(job):
        assert isinstance(version, str)  # 3.10 without quotes would be 3.1
        assert Version(version) in SpecifierSet(PROJECT["requires-python"])
        assert f"Programming Language :: Python :: {version}" in PROJECT["classifiers"]


def test_every_python_of_the_classifiers_is_tested():
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    tests = parsed(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]["tests"]
    assert list(pythons(tests)) == named
    oldest = parsed(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]["oldest"]
    assert list(pythons(oldest)) == named[:1]


def test_one_version_everywhere():
    citation = parsed(ROOT / "CITATION.cff")
    assert PROJECT["version"] == skstruct.__version__ == citation["version"]
    assert citation["cff-version"] == "1.2.0"
    assert citation["license"] == PROJECT["license"]
    assert citation["authors"] == PROJECT["authors"]


def test_hooks_are_commands_that_exist():
    (local,) = parsed(ROOT / ".pre-commit-config.yaml")["repos"]
    assert local["repo"] == "local"
    beside = Path(sys.executable).parent
    for hook in local["hooks"]:
        program, *rest = shlex.split(hook["entry"])
        assert hook["language"] == "system"
        if program.startswith(".venv/bin/"):
            assert (beside / Path(program).name).exists(), program
        else:
            assert shutil.which(program), program
        for script in (word for word in rest if word.endswith(".py")):
            assert (ROOT / script).is_file()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"a: 1\n", None),
        (b"a: 1", "line end"),
        (b"a: 1\r\n", "Windows"),
        (b"a: 1\n\n", "empty lines"),
        (b"a: [\n", "cannot be read"),
        (b"#" * 500_001 + b"\n", "bytes"),
    ],
)
def test_files_are_looked_at(tmp_path, content, problem):
    path = tmp_path / "some.yml"
    path.write_bytes(content)
    found = tool("check_files").problem(path)
    assert found is None if problem is None else problem in found


@pytest.mark.subprocess
def test_the_changelog_is_what_the_fragments_say():
    changelog = tool("changelog")
    assert changelog.bad_names(ROOT) == []
    written = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert written == changelog.changelog(ROOT)
    assert changelog.next_version(ROOT) in changelog.sections(written)


@pytest.fixture
def small_project(tmp_path):
    """A project of two fragments, with the template and the settings of this one."""
    (tmp_path / "CHANGES").mkdir()
    for name in ("pyproject.toml", "CHANGES/template.md.jinja"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "CHANGES" / "wheel.fixed.md").write_text("- It is round.\n")
    (tmp_path / "CHANGES" / "bell.added.md").write_text("- `ring`\n  rings.\n")
    (tmp_path / "CHANGELOG.md").write_text("# Old\n\n## 0.0.1\n\n- It rolls.\n")
    return tmp_path


@pytest.mark.subprocess
def test_fragments_make_a_section_above_older_ones(small_project):
    changelog = tool("changelog")
    text = changelog.changelog(small_project)
    version = changelog.next_version(small_project)
    expected = f"## {version}\n\n### Added\n\n- `ring`\n  rings.\n\n### Fixed\n\n- It is round.\n"
    assert text == f"{changelog.HEAD}\n{expected}\n## 0.0.1\n\n- It rolls.\n"
    (small_project / "CHANGELOG.md").write_text(text)
    assert changelog.changelog(small_project) == text
    for path in changelog.fragments(small_project):
        path.unlink()  # after the release
    assert changelog.changelog(small_project) == text


@pytest.mark.subprocess
def test_fragments_of_other_names_are_told(small_project):
    (small_project / "CHANGES" / "front_door.md").write_text("- It opens.\n")
    (small_project / "CHANGES" / "lock.mended.md").write_text("- It closes.\n")
    assert tool("changelog").bad_names(small_project) == ["front_door.md", "lock.mended.md"]


def test_the_oldest_version_with_a_wheel_is_taken():
    bounds = tool("lower_bounds")
    versions = [Version(text) for text in ("3.0", "2.2.2", "2.2", "2.1")]
    assert bounds.oldest(Requirement("some>=2.2"), versions) == Version("2.2")
    assert bounds.oldest(Requirement("some>=2.2,!=2.2"), versions) == Version("2.2.2")
    assert bounds.lower_bound(Requirement("some<4,>=2.2")) == Version("2.2")
    assert not bounds.is_version("0.7.0d")


def test_every_requirement_has_a_lower_bound():
    lines = [*PROJECT["dependencies"]]
    lines += [line for extra in PROJECT["optional-dependencies"].values() for line in extra]
    for line in lines:
        assert tool("lower_bounds").lower_bound(Requirement(line))


def wheel(path, files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


GOOD = {
    "skstruct/py.typed": "",
    "skstruct/__init__.py": '__version__ = "0"\n',
    "skstruct-0.dist-info/licenses/LICENSE": "",
    "skstruct/_papers/one.py": "",
    "skstruct/datasets/samples/animals.arff": "",
    "skstruct/reports/templates/report.html": "",
}


def test_a_good_wheel_passes(tmp_path):
    archives = tool("archives")
    archive = archives.read(wheel(tmp_path / "a.whl", GOOD))
    assert archives.check_names(archive).startswith("6 files")
    archives.check_paths(archive, ROOT)
    assert "_papers/one.py" not in archive.package()


@pytest.mark.parametrize(
    "name",
    [
        "skstruct/__pycache__/a.py",
        "skstruct/a.nbi",
        "skstruct/a.nbc",
        "tests/data.csv",
        ".hypothesis/examples",
        "output/figure.png",
        "skstruct/old.skstruct",
        "/etc/passwd",
        "skstruct/../a.py",
    ],
)
def test_what_does_not_belong_is_found(tmp_path, name):
    archives = tool("archives")
    archive = archives.read(wheel(tmp_path / "a.whl", {**GOOD, name: ""}))
    with pytest.raises(AssertionError, match="should not be in"):
        archives.check_names(archive)


@pytest.mark.parametrize("name", [name for name in GOOD if "__init__" not in name])
def test_what_is_missing_is_found(tmp_path, name):
    archives = tool("archives")
    rest = {other: content for other, content in GOOD.items() if other != name}
    with pytest.raises(AssertionError, match="is named like"):
        archives.check_names(archives.read(wheel(tmp_path / "a.whl", rest)))


@pytest.mark.parametrize("content", [f"{ROOT}/src", "/home/ada/x", "C = '/Users/ada'"])
def test_paths_of_a_machine_are_found(tmp_path, content):
    archives = tool("archives")
    archive = archives.read(wheel(tmp_path / "a.whl", {**GOOD, "skstruct/a.py": content}))
    with pytest.raises(AssertionError, match=r"skstruct/a\.py in a\.whl names"):
        archives.check_paths(archive, ROOT)


def test_archives_of_sources_are_read(tmp_path):
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as tar:
        member = tarfile.TarInfo("skstruct-0/src/skstruct/a.py")
        member.size = 3
        tar.addfile(member, io.BytesIO(b"a=1"))
    archive = tool("archives").read(tmp_path / "a.tar.gz")
    assert archive.package() == {"a.py": b"a=1"}


def test_the_package_is_compared_with_the_sources(tmp_path):
    archives = tool("archives")
    source = tmp_path / "src" / "skstruct"
    source.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (source / "a.py").write_text("a=1")
    good = archives.Archive(tmp_path, {"skstruct/a.py": b"a=1"})
    assert archives.check_package(good, tmp_path).startswith("1 files")
    for contents in ({"skstruct/a.py": b"a=2"}, {}, {**good.contents, "skstruct/b.py": b""}):
        with pytest.raises(AssertionError):
            archives.check_package(archives.Archive(tmp_path, contents), tmp_path)


def test_the_readme_is_rendered(tmp_path):
    archives = tool("archives")
    assert archives.check_readme(ROOT)
    good = "# A\n\n## B\n\n| a |\n|---|\n| b |\n\n```\nc\n```\n"
    (tmp_path / "README.md").write_text(good)
    archives.check_readme(tmp_path)
    for bad in ("# D\n", "\n| a |\n| b |\n", "\n[a](b c)\n"):
        (tmp_path / "README.md").write_text(good + bad)
        with pytest.raises(AssertionError, match=r"README\.md renders"):
            archives.check_readme(tmp_path)


def test_a_failing_check_ends_the_program(capsys, monkeypatch):
    monkeypatch.syspath_prepend(os.fspath(ROOT / "tools"))
    check = tool("release_check")
    check.report("good", lambda: "told")

    def bad():
        raise AssertionError("it is square")

    with pytest.raises(SystemExit) as ended:
        check.report("bad", bad)
    lines = capsys.readouterr().out.splitlines()
    assert ended.value.code == 1
    assert re.match(r"good +ok .*told", lines[0])
    assert re.match(r"bad +FAILED .*it is square", lines[1])


def test_quick_tests_exist(monkeypatch):
    monkeypatch.syspath_prepend(os.fspath(ROOT / "tools"))
    for name in tool("release_check").QUICK_TESTS:
        assert (ROOT / name).exists()
