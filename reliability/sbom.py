# SPDX-License-Identifier: BSD-3-Clause
"""A bill of materials in the CycloneDX format, of installed packages, and what it must look like.

The same packages give the same bytes: there is no date, and the serial number is made of the rest.
"""

import hashlib
import json
import re
import uuid
from importlib.metadata import distributions

from licences import UNKNOWN, licence
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

SPACE = uuid.uuid5(uuid.NAMESPACE_URL, "skstruct:sbom")
PURL = re.compile(r"pkg:pypi/[a-z0-9-]+@[A-Za-z0-9.+!%-]+")


def installed(path=None):
    """Distributions by canonical name, the first of each name as Python would import it."""
    found = {}
    for one in distributions(**({} if path is None else {"path": [str(path)]})):
        found.setdefault(canonicalize_name(one.metadata["Name"]), one)
    return dict(sorted(found.items()))


def needed(found, root="skstruct", extras=()):
    """Names of what a package needs, and of what that needs, with what each asks for."""
    edges, open_ = {}, [(root, frozenset(extras))]
    while open_:
        name, extra = open_.pop()
        direct = edges.setdefault(name, set())
        for text in found[name].requires or []:
            want = Requirement(text)
            other = canonicalize_name(want.name)
            told = [{**default_environment(), "extra": e} for e in extra or ("",)]
            if other in found and (not want.marker or any(map(want.marker.evaluate, told))):
                direct.add(other)
                if other not in edges or want.extras:
                    edges.setdefault(other, set())
                    open_.append((other, frozenset(want.extras)))
    return edges


def reference(distribution):
    name = canonicalize_name(distribution.metadata["Name"])
    return f"pkg:pypi/{name}@{distribution.version}"


def component(distribution, kind="library"):
    """One package: name, version, licence, and the digest of its own list of files."""
    stated = licence(distribution.metadata)
    record = (distribution.read_text("RECORD") or "").encode()
    at = reference(distribution)
    return {
        "type": kind,
        "bom-ref": at,
        "name": distribution.metadata["Name"],
        "version": distribution.version,
        "purl": at,
        "licenses": [] if stated == UNKNOWN else [{"expression": stated}],
        "properties": [{"name": "RECORD:sha256", "value": hashlib.sha256(record).hexdigest()}],
    }


def bill(found, root="skstruct"):
    """All installed packages; edges where one asks for the other."""
    others = [component(one) for name, one in found.items() if name != root]
    edges = {}
    for name in found:
        edges |= {n: to for n, to in needed(found, name).items() if n not in edges}
    made = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": component(found[root], "application")},
        "components": others,
        "dependencies": [
            {"ref": reference(found[name]), "dependsOn": sorted(reference(found[n]) for n in to)}
            for name, to in sorted(edges.items())
        ],
    }
    serial = uuid.uuid5(SPACE, json.dumps(made, sort_keys=True))
    return {**made, "serialNumber": f"urn:uuid:{serial}"}


def faults(made):
    """What is wrong with the shape of a bill; one sentence each."""
    if (made.get("bomFormat"), made.get("specVersion")) != ("CycloneDX", "1.6"):
        yield "bomFormat and specVersion are not CycloneDX 1.6"
    if not re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", made.get("serialNumber", "")):
        yield "serialNumber is no UUID"
    if not (isinstance(made.get("version"), int) and made["version"] >= 1):
        yield "version is no whole number from 1"
    parts = [made.get("metadata", {}).get("component", {}), *made.get("components", [])]
    seen = set()
    for part in parts:
        name = part.get("name", "?")
        missing = [key for key in ("type", "name", "version", "bom-ref") if not part.get(key)]
        if missing:
            yield f"{name} has no {', '.join(missing)}"
        if not PURL.fullmatch(part.get("purl", "")):
            yield f"{name} has the purl {part.get('purl')!r}"
        if part.get("bom-ref") in seen:
            yield f"{name} is there twice"
        if not all(set(one) == {"expression"} for one in part.get("licenses", [])):
            yield f"{name} has a licence that is no expression"
        seen.add(part.get("bom-ref"))
    for edge in made.get("dependencies", []):
        unknown = {edge.get("ref"), *edge.get("dependsOn", [])} - seen
        if unknown:
            yield f"{edge.get('ref')} refers to {sorted(map(str, unknown))}, not in the bill"
