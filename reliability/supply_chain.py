# SPDX-License-Identifier: BSD-3-Clause
"""Packages that are installed: pins, licences, hashes of all files, a bill, wheels twice the same.

    python reliability/supply_chain.py [--cases N] [--minutes M] [--seed 0]

A case is a pinned version, a licence, an entry of the bill, a file of the two builds, or an
installed file against its hash; files come in random order. A package under the GPL, a changed
file, a bill with a hole and a build with a clock must be caught first. What is not clean stands in
supply_chain_listed.json with the reason; whatever could not be asked is under "not_checked".
"""

import base64
import hashlib
import importlib.util
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from licences import is_free, licence
from packaging.utils import canonicalize_name
from packaging.version import Version
from sbom import bill, faults, installed
from summary import Tries, arguments, finish

ROOT = Path(__file__).resolve().parents[1]
LISTED = Path(__file__).with_name("supply_chain_listed.json")
BILL = ROOT / "output" / "reliability" / "sbom.json"
SOURCES = ("src", "papers", "examples", "pyproject.toml", "README.md", "LICENSE",
           "CHANGELOG.md", "CITATION.cff")  # fmt: skip
ALL = 10_000_000
AUDIT_SECONDS = 300


def pins(text):
    """Pinned versions by canonical name."""
    lines = (line.split("==") for line in text.split())
    return {canonicalize_name(name): Version(version) for name, version in lines}


def wrong_pins(found, pinned):
    """(package, why) of installed packages that are not those pinned."""
    for name, version in pinned.items():
        have = found.get(name)
        if have is not None and Version(Version(have.version).public) != version:
            yield name, f"{have.version} is installed, {version} is pinned"


def wrong_licences(found, listed):
    """(package, why) of licences that are not free, or unknown, and of lists nobody needs."""
    for name, one in found.items():
        stated, known = licence(one.metadata), listed.get(name)
        if not is_free(stated) and (known is None or known["licence"] != stated):
            yield name, f"the licence is {stated!r}"
        if known is not None and is_free(stated):
            yield name, "is listed for its licence, which is free by now"


def recorded(one):
    """(path, digest) of the files of a package that its RECORD has a hash of."""
    for file in one.files or []:
        if file.hash is not None:
            yield Path(file.locate()), file.hash.mode, file.hash.value


def wrong_file(path, mode, expected):
    """Why an installed file is not the recorded one; empty where it is."""
    try:
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, mode).digest()
    except OSError as error:
        return f"{path}: {error.strerror}"
    found = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    return "" if found == expected else f"{path}: the hash is {found}, recorded is {expected}"


def build(folder, environment):
    """The members of a wheel that is built in a copy of the sources, with digests."""
    folder.mkdir()
    for name in SOURCES:
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copyfile
        more = {"ignore": shutil.ignore_patterns("__pycache__")} if source.is_dir() else {}
        copy(source, folder / name, **more)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", "out"]
    known = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(command, cwd=folder, check=True, capture_output=True, env=known | environment)
    return next((folder / "out").glob("*.whl"))


def digests(wheel):
    """Digest of each member with its date and rights, and of the whole file."""
    with zipfile.ZipFile(wheel) as file:
        each = {
            info.filename: (hashlib.sha256(file.read(info)).hexdigest(), info.date_time,
                            info.external_attr)
            for info in file.infolist()
        }  # fmt: skip
    return {**each, "the whole file": hashlib.sha256(wheel.read_bytes()).hexdigest()}


def differences(one, other):
    """Names of members that two wheels do not share to the last bit."""
    return [name for name in sorted({*one, *other}) if one.get(name) != other.get(name)]


def two_builds(folder):
    """Digests of two wheels, built in other folders, time zones, locales and hash seeds."""
    ways = (
        {"TZ": "UTC", "PYTHONHASHSEED": "1", "LC_ALL": "C"},
        {"TZ": "Asia/Tokyo", "PYTHONHASHSEED": "2", "LC_ALL": "C.UTF-8"},
    )
    places = (Path(folder) / "a", Path(folder) / "another place")
    epoch = {"SOURCE_DATE_EPOCH": "1700000000"}
    return [digests(build(place, way | epoch)) for place, way in zip(places, ways)]


def audit():
    """Known vulnerabilities by pip-audit: entries of packages, or why nobody could be asked."""
    if importlib.util.find_spec("pip_audit") is None:
        return None, "not checked: pip-audit is not installed"
    command = [sys.executable, "-m", "pip_audit", "--format", "json", "--progress-spinner", "off"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=AUDIT_SECONDS
        )
        asked = json.loads(done.stdout)["dependencies"]
        if not any("vulns" in entry for entry in asked):  # such as of a mirror that knows nothing
            why = next((entry.get("skip_reason") for entry in asked), "it was asked of none")
            return None, f"not reachable: none of {len(asked)} packages is known: {why}"
        return asked, ""
    except subprocess.TimeoutExpired:
        return None, f"not reachable: no answer within {AUDIT_SECONDS} seconds"
    except (ValueError, KeyError):
        last = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        return None, f"not reachable: {last[-200:]}"


def planted_are_caught(folder):
    """Four planted bugs: a licence, a byte, a hole in the bill, a clock in a build."""
    place = Path(folder) / "planted"
    info = place / "bad-1.0.dist-info"
    info.mkdir(parents=True)
    (place / "bad.py").write_text("x = 1\n")
    digest = base64.urlsafe_b64encode(hashlib.sha256(b"x = 1\n").digest()).rstrip(b"=").decode()
    (info / "RECORD").write_text(f"bad.py,sha256={digest},6\nbad-1.0.dist-info/RECORD,,\n")
    text = "Metadata-Version: 2.1\nName: bad\nVersion: 1.0\n"
    gnu = "Classifier: License :: OSI Approved :: GNU General Public License v3 (GPLv3)\n"
    (info / "METADATA").write_text(text + gnu)
    bad = installed(place)
    clean = [wrong_file(*file) for file in recorded(bad["bad"])]
    (place / "bad.py").write_text("x = 2\n")
    changed = [wrong_file(*file) for file in recorded(bad["bad"])]
    made = bill(installed())
    holed = {**made, "components": made["components"][1:]}
    return {
        "licence": [name for name, _ in wrong_licences(bad, {})] == ["bad"],
        "changed file": clean == [""] and all(changed),
        "pin": [*wrong_pins(bad, pins("bad==1.1"))] != [],
        "bill": bool([*faults(holed)]) and not [*faults(made)],
        "build": differences({"a": ("1", 0)}, {"a": ("1", 1)}) == ["a"],
    }


def main():
    given = arguments(__doc__, ALL)
    found, listed = installed(), json.loads(LISTED.read_text(encoding="utf-8"))
    pinned = pins((ROOT / "constraints.txt").read_text(encoding="utf-8"))
    tries = Tries(given)
    with tempfile.TemporaryDirectory() as folder:
        planted = planted_are_caught(folder)
        one, other = two_builds(folder)
    made, again = bill(found), "python reliability/supply_chain.py"
    BILL.parent.mkdir(parents=True, exist_ok=True)
    BILL.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    wrong = [*wrong_pins(found, pinned), *wrong_licences(found, listed)]
    wrong += [("bill", fault) for fault in faults(made)]
    wrong += [("wheel", f"two builds differ in {name}") for name in differences(one, other)]
    asked, reason = audit()
    audited = [entry for entry in asked or [] if "vulns" in entry]
    wrong += [(entry["name"], str(entry["vulns"])) for entry in audited if entry["vulns"]]
    for name, why in wrong:
        tries.fail(name, why, again)
    fixed = len(found.keys() & pinned.keys()) + len(found) + len(made["components"]) + len(one)
    fixed += len(audited)
    files = [file for package in found.values() for file in recorded(package)]
    random.Random(given.seed).shuffle(files)
    for number in tries:
        if number >= len(files):
            break
        why = wrong_file(*files[number])
        if why:
            tries.fail(number, why, again)
    hashed = min(tries.tried, len(files))
    silent = [name for name, package in found.items() if not package.files]
    missing = {"vulnerabilities": reason} if reason else {}
    missing |= {f"{entry['name']}: vulnerabilities": entry["skip_reason"]
                for entry in asked or [] if "skip_reason" in entry}  # fmt: skip
    missing |= {f"{name}: hashes": "it has no RECORD" for name in silent}
    missing |= {f"{name}: pin": "not installed" for name in pinned if name not in found}
    more = {"tried": fixed + hashed, "files_hashed": hashed, "files": len(files),
            "packages": len(found), "packages_audited": len(audited),
            "members_of_wheel": len(one) - 1, "planted": planted, "listed": listed,
            "not_checked": missing}  # fmt: skip
    counts = tries.counts(planted_caught=all(planted.values()), **more)
    return finish("supply_chain", counts)


if __name__ == "__main__":
    sys.exit(main())
