# SPDX-License-Identifier: BSD-3-Clause
"""A browser for the tests of the page, that notes everything a page must not do."""

from contextlib import contextmanager

from reliability.report_checks import find_browser

# Broken policies are told as events of the page; they are kept where a test can read them.
WATCH = """
window.violations = [];
document.addEventListener('securitypolicyviolation', (event) =>
  window.violations.push(event.violatedDirective + ' ' + event.blockedURI));
"""


@contextmanager
def opened_browser():
    """A browser, without a page."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


class Watched:
    """Pages of a browser; ``problems`` are what they did that they must not."""

    def __init__(self, browser):
        self.browser, self.problems, self.pages = browser, [], []
        self.plain = self._context({})

    def _context(self, options):
        context = self.browser.new_context(**options)
        context.add_init_script(WATCH)
        return context

    def open(self, address, *, width=1300, height=900, allowed=(), wait=True, **options):
        """A page at an address, with its decision shown. ``allowed``: what its console may say."""
        context = self._context(options) if options else self.plain
        page = context.new_page()
        self.pages.append(page)
        page.set_viewport_size({"width": width, "height": height})
        page.set_default_timeout(60_000)  # for what never comes; a busy machine is slow
        origin = "/".join(address.split("/")[:3])

        def guard(route):
            if not route.request.url.startswith((origin + "/", "data:")):
                self.problems.append(f"request of {route.request.url[:80]}")
                route.abort()
            else:
                route.continue_()

        def said(message):
            if message.type in ("error", "warning") and not any(
                one in message.text for one in allowed
            ):
                self.problems.append(f"console: {message.text[:200]}")

        def asked(dialog):
            self.problems.append("dialog")
            dialog.dismiss()

        page.route("**/*", guard)
        page.on("console", said)
        page.on("pageerror", lambda error: self.problems.append(f"error: {str(error)[:200]}"))
        page.on("dialog", asked)
        page.goto(address)
        if wait:
            page.wait_for_selector("#drawing > *")
            page.wait_for_selector("#rows-table tbody tr")
        return page

    def close(self):
        """Close all pages; returns the problems of all."""
        for page in self.pages:
            self.problems += page.evaluate("window.violations ?? []")
            self.problems += page.evaluate("window.hit ? ['ran: ' + window.hit] : []")
            self.problems += page.evaluate(
                "[...document.querySelectorAll('*')].flatMap(one => one.getAttributeNames()"
                ".filter(name => name.startsWith('on')).map(name => 'attribute ' + name))"
            )
            (page if page.context == self.plain else page.context).close()
        problems, self.problems, self.pages = self.problems, [], []
        return problems


def overflow(page):
    """By how many pixels a page is wider than its window."""
    return page.evaluate("document.documentElement.scrollWidth - window.innerWidth")


def part(page, name):
    return page.get_by_role("group").locator(f'[aria-label="{name}"]')


def chips(page):
    return page.locator("#chips li .name").all_inner_texts()


def settled(page, selector, text):
    """Waits until an element says something."""
    page.wait_for_function(
        "([selector, text]) => document.querySelector(selector)?.textContent.includes(text)",
        arg=[selector, text],
    )
