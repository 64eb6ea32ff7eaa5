# SPDX-License-Identifier: BSD-3-Clause
"""Checks built pages offline: links lead somewhere, and nothing is loaded from outside.

Links of pages to other sites are left alone; what a browser would *load* from there, such as
scripts, styles, fonts and pictures, is an error, since pages must be readable without a network.

Usage: python docs/scripts/check_links.py FOLDER
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {  # element: attribute that a browser follows by itself
    "script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src",
    "audio": "src", "embed": "src", "object": "data", "link": "href",
}  # fmt: skip
NOT_LOADED = {"canonical", "next", "prev", "search", "index", "author", "help", "license"}
OUTSIDE_CSS = re.compile(r"""(?:url\(|@import)\s*['"]?\s*((?:https?:)?//[^'")\s]+)""")


class Page(HTMLParser):
    """Anchors of a page, what it links to, and what it loads."""

    def __init__(self):
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if attributes.get("id"):
            self.anchors.add(attributes["id"])
        if tag == "a":
            if attributes.get("name"):
                self.anchors.add(attributes["name"])
            if attributes.get("href"):
                self.links.append(attributes["href"])
        target = attributes.get(LOADED.get(tag, ""))
        if target and not (tag == "link" and attributes.get("rel") in NOT_LOADED):
            self.loaded.append(target)


def read_pages(folder: Path) -> dict[Path, Page]:
    pages = {}
    for path in sorted(folder.rglob("*.html")):
        if "_static" in path.relative_to(folder).parts:  # templates of the theme, no pages
            continue
        pages[path.resolve()] = page = Page()
        page.feed(path.read_text(encoding="utf-8"))
    return pages


def problems(folder: Path) -> list[str]:
    """One line for everything that leads nowhere or needs a network."""
    folder = folder.resolve()
    pages = read_pages(folder)
    found = []
    for path, page in pages.items():
        here = path.relative_to(folder)
        for target in page.loaded:
            parts = urlsplit(target)
            if parts.netloc or parts.scheme in ("http", "https"):
                found.append(f"{here}: loads {target} from outside")
        for target in [*page.links, *page.loaded]:
            problem = _problem(target, path, pages)
            if problem:
                found.append(f"{here}: {problem}")
    for path in sorted(folder.rglob("*.css")):
        for target in OUTSIDE_CSS.findall(path.read_text(encoding="utf-8")):
            found.append(f"{path.relative_to(folder)}: loads {target} from outside")
    return found


def _problem(target: str, path: Path, pages: dict[Path, Page]) -> str | None:
    """What is wrong with one link of one page, if it stays within the folder."""
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return None
    there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if there.is_dir():
        there = there / "index.html"
    if not there.exists():
        return f"{target} does not exist"
    anchor = unquote(parts.fragment)
    if anchor and there in pages and anchor not in pages[there].anchors:
        return f"{target} has no such anchor"
    return None


def main(folder: Path) -> int:
    if not any(folder.rglob("*.html")):
        print(f"{folder} has no pages.")
        return 1
    found = problems(folder)
    for line in found:
        print(line)
    print(f"{len(list(folder.rglob('*.html')))} pages, {len(found)} broken links.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
