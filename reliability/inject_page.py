# SPDX-License-Identifier: BSD-3-Clause
"""Hostile names as labels, columns, categories, rows and title of the live page: none is live.

One browser and one server; every page shows some hundred names, without its content security
policy, so that escaping alone has to hold. Rows are chosen, parts are fixed, all that can be opened
is opened. Before that, a page whose code reads texts as markup must be caught. A case is a name.

    python reliability/inject_page.py [--cases 10000] [--minutes M] [--seed 0]
"""

import sys
from contextlib import contextmanager

from hostile_names import hostile_names
from hostile_pages import hostile_app, n_names, served
from hostile_reports import KINDS
from report_checks import HOW_TO_GET_ONE, find_browser
from summary import Tries, arguments, finish

OWN = ("/page/", "/api/")
ESCAPES = "element.append(...children.filter("
READS_MARKUP = """for (const one of children) if (typeof one === "string")
    element.insertAdjacentHTML("beforeend", one);
  element.append(...children.filter(one => typeof one !== "string").filter("""
ALIVE = """(title) => {
  const found = [];
  if (window.hit !== undefined) found.push('ran: ' + window.hit);
  const strange = /^(iframe|object|embed|base|form|foreignobject|img|image|video|audio|math|use)$/i;
  for (const one of document.querySelectorAll('*')) {
    if (strange.test(one.tagName)) found.push('element ' + one.tagName);
    if (one.tagName === 'SCRIPT' && !one.src.startsWith(location.origin + '/page/'))
      found.push('a strange script');
    if (/^(style|link|meta|title)$/i.test(one.tagName) && !one.closest('head, svg'))
      found.push('element ' + one.tagName + ' in the body');
    for (const name of one.getAttributeNames()) {
      if (name.startsWith('on') || name === 'srcdoc') found.push('attribute ' + name);
      if (/^(xlink:)?href$/.test(name) && /^\\s*(javascript|data):/i.test(one.getAttribute(name))
          && one.tagName !== 'LINK') found.push('a link that runs');
    }
  }
  if (document.getElementById('model-name')?.textContent !== title) found.push('another title');
  return found;
}"""
OPENED = "document.querySelectorAll('details').forEach(one => one.open = true)"
IDLE = (
    "() => !document.querySelector('#decision[aria-busy]')"
    " && document.querySelector('#drawing > *') && document.querySelector('#rows-table tbody tr')"
)


class Visitor:
    """A tab, and what it did that it must not."""

    def __init__(self, browser, address):
        self.address, self.problems, self.planted = address, [], False
        context = browser.new_context(bypass_csp=True, viewport={"width": 1200, "height": 900})
        self.tab = context.new_page()
        self.tab.set_default_timeout(120_000)  # code may be compiled first
        self.tab.route("**/*", self._guard)
        self.tab.on("dialog", self._dismiss)
        self.tab.on("pageerror", lambda error: self.problems.append(f"error: {str(error)[:100]}"))
        self.tab.on("popup", lambda page: self.problems.append("a window"))

    def _guard(self, route):
        asked = route.request.url
        path = asked.removeprefix(self.address.rstrip("/"))
        if path == asked or not (path == "/" or path.startswith(OWN)):
            if not asked.startswith("data:") and path != "/favicon.ico":
                self.problems.append(f"request of {asked[:80]}")
            route.abort()
        elif self.planted and path == "/page/dom.js":
            answer = route.fetch()
            assert ESCAPES in answer.text(), "the page makes its elements in another way"
            route.fulfill(response=answer, body=answer.text().replace(ESCAPES, READS_MARKUP))
        else:
            route.continue_()

    def _dismiss(self, dialog):
        self.problems.append("dialog")
        dialog.dismiss()

    def visit(self, title) -> list[str]:
        """What a page did, from its beginning to some questions."""
        tab, self.problems = self.tab, []
        tab.goto("about:blank")
        tab.goto(self.address)
        tab.wait_for_function(IDLE)
        tab.evaluate(OPENED)
        tab.wait_for_selector("#slices .chart")
        problems = tab.evaluate(ALIVE, title)
        tab.locator("#rows-table tbody tr").nth(2).dispatch_event("click")
        part = tab.locator("#drawing [data-part][role=button]")
        if part.count():
            part.first.dispatch_event("click")
            tab.wait_for_selector("#chips li, #constraint-error:not([hidden])")
        tab.wait_for_function(IDLE)
        tab.evaluate(OPENED)
        return list(dict.fromkeys([*self.problems, *problems, *tab.evaluate(ALIVE, title)]))


@contextmanager
def visitor(holder_and_address):
    """A tab of a browser of its own."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        try:
            yield Visitor(browser, holder_and_address[1])
        finally:
            browser.close()


def planted_is_caught(holder, tab) -> bool:
    """Whether a page that reads names as markup is noticed, and one that does not is not."""
    kind = next(iter(KINDS))
    plain = [f"name {k}" for k in range(n_names(kind))]
    # Of one kind that runs and leaves the page as it is otherwise: others would lead it away.
    hostile = [f'<img src=x onerror="window.hit={k}">' for k in range(n_names(kind))]
    holder.app = hostile_app(plain, kind)
    clean = tab.visit(plain[-1])
    holder.app, tab.planted = hostile_app(hostile, kind), True
    try:
        found = tab.visit(hostile[-1])
    finally:
        tab.planted = False
    ran = any(one.startswith(("ran", "request", "element")) for one in found)
    if clean or not ran:
        print(f"a clean page: {clean}; a planted bug: {found}", file=sys.stderr)
    return ran and not clean


def inject(tries: Tries, holder, tab) -> int:
    """Open pages until so many names have been used; how many pages."""
    kinds, used, pages = list(KINDS), 0, 0
    for _ in tries:
        kind = kinds[pages % len(kinds)]
        names = hostile_names(n_names(kind), tries.given.seed, used)
        again = (
            f"hostile_app(hostile_names({len(names)}, {tries.given.seed}, {used}), {kind.__name__})"
        )
        try:
            holder.app = hostile_app(names, kind)
            found = tab.visit(names[-1])
        except Exception as error:  # a name must never stop the page
            found = [f"{type(error).__name__}: {error}"[:300]]
        for problem in found:
            tries.fail(used, f"{kind.__name__}: {problem}", again)
        used, pages = used + len(names), pages + 1
        tries.tried = min(used, tries.given.cases) - 1  # the loop adds the last
    return pages


def main():
    """Run what the command line asks for."""
    given = arguments(__doc__, 10_000)
    if find_browser() is None:
        sys.exit(f"There is no browser: {HOW_TO_GET_ONE}.")
    with served() as page, visitor(page) as tab:
        caught = planted_is_caught(page[0], tab)
        tries = Tries(given)
        pages = inject(tries, page[0], tab)
    sys.exit(finish("inject_page", tries.counts(planted_caught=caught, pages=pages)))


if __name__ == "__main__":
    main()
