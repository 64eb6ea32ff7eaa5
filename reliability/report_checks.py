# SPDX-License-Identifier: BSD-3-Clause
"""Whether anything in a page is alive, or reaches outside: by parsing it, and in a browser."""

import base64
import re
import shutil
import tempfile
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

TAGS = {
    "html", "head", "meta", "link", "title", "style", "body", "header", "nav", "main", "section",
    "article", "h1", "h2", "h3", "p", "ol", "ul", "li", "a", "b", "i", "span", "div", "table",
    "thead", "tbody", "tr", "th", "td", "details", "summary", "figure", "figcaption", "img",
}  # fmt: skip
ATTRIBUTES = {
    "html": {"lang"}, "meta": {"charset", "http-equiv", "content", "name"}, "link": {"rel", "href"},
    "nav": {"aria-label"}, "section": {"id"}, "a": {"href"}, "b": {"class"}, "p": {"class"},
    "span": {"class"}, "div": {"class"}, "i": {"class", "style"}, "table": {"class"},
    "th": {"class"}, "td": {"class", "style"}, "details": {"open"},
    "img": {"src", "alt", "width"},
}  # fmt: skip
# Drawings within the page, and what they consist of; the parser writes all names small.
DRAWING = {"svg", "title", "desc", "g", "rect", "text", "line", "path", "circle", "polygon"}
GEOMETRY = {
    "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "width", "height", "d", "points",
    "class", "role", "aria-label", "data-part", "text-anchor", "fill-opacity", "stroke-opacity",
    "stroke-width",
}  # fmt: skip
SVG = GEOMETRY | {"xmlns", "viewbox", "direction"}
ONCE = ("html", "head", "body", "title", "style", "main", "nav", "header", "link")
STYLE = re.compile(r"(width:\d+\.\d%|background:rgba\(\d+, \d+, \d+, \d\.\d\d\))\Z")
IMAGE = re.compile(r"data:image/(svg\+xml|png);base64,([A-Za-z0-9+/=]+)\Z")
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
HOW_TO_GET_ONE = "install chromium and `pip install playwright`"
ALIVE = """() => {
  const found = [];
  if (window.hit !== undefined) found.push('ran: ' + window.hit);
  for (const one of document.querySelectorAll('*')) {
    if (/^(script|iframe|object|embed|base|form|foreignobject)$/i.test(one.tagName))
      found.push('element ' + one.tagName);
    if (one.tagName === 'svg' && one.getAttribute('class') !== 'drawing')
      found.push('a strange drawing');
    for (const name of one.getAttributeNames())
      if (name.startsWith('on')) found.push('attribute ' + name);
  }
  for (const image of document.images)
    if (!image.complete || image.naturalWidth === 0) found.push('broken image ' + image.alt);
  return found;
}"""


class _Page(HTMLParser):
    """Collects what is wrong with a page, and its text."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.problems, self.text, self.counts, self.images = [], [], {}, []
        self.drawing = False

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)  # no end that would close a drawing

    def handle_endtag(self, tag):
        self.drawing = self.drawing and tag != "svg"

    def handle_starttag(self, tag, attributes):
        if tag == "svg" and dict(attributes).get("class") == "drawing":
            self.drawing = True
        if self.drawing:
            self._drawn(tag, attributes)
            return
        self.counts[tag] = self.counts.get(tag, 0) + 1
        if tag not in TAGS:
            self.problems.append(f"element {tag}")
        for name, value in attributes:
            if name not in ATTRIBUTES.get(tag, ()):
                self.problems.append(f"attribute {name} of {tag}")
            elif name == "style" and not STYLE.match(value or ""):
                self.problems.append(f"style {value!r}")
            elif name == "href" and not (value == "data:," or re.match(r"#[a-z-]+\Z", value or "")):
                self.problems.append(f"link to {value!r}")
            elif name == "src":
                self._image(value)

    def _drawn(self, tag, attributes):
        """An element of a drawing: shapes and words, without style."""
        if tag not in DRAWING:
            self.problems.append(f"element {tag} in a drawing")
        for name, value in attributes:
            if name not in (SVG if tag == "svg" else GEOMETRY):
                self.problems.append(f"attribute {name} of {tag} in a drawing")
            elif "url(" in (value or "") and name not in ("aria-label", "data-part"):
                self.problems.append(f"{name} of {tag} reaches outside")

    def _image(self, value):
        match = IMAGE.match(value or "")
        if match is None:
            self.problems.append(f"image {str(value)[:60]!r}")
        elif match[1] == "svg+xml":
            self.images.append(base64.b64decode(match[2]))

    def handle_data(self, data):
        self.text.append(data)

    def handle_comment(self, data):
        self.problems.append(f"comment {data[:60]!r}")


def parsed_problems(page: str) -> tuple[list[str], str]:
    """What in a page is not of the kinds that a report consists of; and its text."""
    parser = _Page()
    parser.feed(page)
    parser.close()
    problems = parser.problems
    problems += [f"{tag} comes {parser.counts.get(tag, 0)} times" for tag in ONCE
                 if parser.counts.get(tag, 0) != 1]  # fmt: skip
    for image in parser.images:
        problems += drawing_problems(image)
    if POLICY.search(page) is None:
        problems.append("no content security policy")
    return problems, " ".join(" ".join(parser.text).split())


def drawing_problems(image: bytes) -> list[str]:
    """What in an SVG image is alive, or reaches outside."""
    try:
        root = ElementTree.fromstring(image)
    except ElementTree.ParseError as error:
        return [f"drawing that is no XML: {error}"]
    problems = []
    for element in root.iter():
        tag = str(element.tag).rsplit("}", 1)[-1]
        if tag in ("script", "foreignObject", "iframe", "a", "animate", "set"):
            problems.append(f"{tag} in a drawing")
        for name, value in element.attrib.items():
            short = name.rsplit("}", 1)[-1]
            inside = value.startswith(("#", "data:image/png;base64,"))
            if short.startswith("on") or (short == "href" and not inside):
                problems.append(f"{short}={value[:60]!r} in a drawing")
    return problems


def find_browser() -> str | None:
    """The path of a browser that can be driven, or None."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return None
    return next((found for found in map(shutil.which, BROWSERS) if found), None)


@contextmanager
def opened_browser():
    """A function that opens a page, given as text, and returns what it did that it must not."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver, tempfile.TemporaryDirectory() as folder:
        browser = driver.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        try:
            yield lambda page, strict=False: _visited(browser, Path(folder), page, strict)
        finally:
            browser.close()


def _visited(browser, folder: Path, page: str, strict: bool) -> list[str]:
    """Problems of a page in a browser; its policy is taken out first unless ``strict``."""
    path = folder / "page.html"
    path.write_text(page if strict else POLICY.sub("", page), encoding="utf-8")
    problems: list[str] = []
    tab = browser.new_page(viewport={"width": 1100, "height": 900})

    def guard(route):
        address = route.request.url
        if address == path.as_uri() or address.startswith("data:"):
            route.continue_()
        else:
            problems.append(f"request of {address[:80]}")
            route.abort()

    def dismiss(dialog):
        problems.append("dialog")
        dialog.dismiss()

    tab.route("**/*", guard)
    tab.on("dialog", dismiss)
    tab.on("console", lambda message: problems.append(f"console: {message.text[:100]}"))
    tab.on("pageerror", lambda error: problems.append(f"error: {str(error)[:100]}"))
    try:
        tab.goto(path.as_uri())
        tab.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        tab.wait_for_timeout(50)
        problems += tab.evaluate(ALIVE)
        if tab.evaluate("document.documentElement.scrollWidth") > 1100:
            problems.append("wider than 1100 pixels")
    finally:
        tab.close()
    return problems
