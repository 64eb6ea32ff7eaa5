# SPDX-License-Identifier: BSD-3-Clause
"""The page is safe with any names, and good for phones, keyboards and readers of screens."""

import re

import pytest
from reliability.report_checks import HOW_TO_GET_ONE, find_browser
from tests.explorer.browser import chips, overflow, settled
from tests.explorer.fake_server import EVIL, LABELS, PAGE

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(find_browser() is None, reason=HOW_TO_GET_ONE),
]


def test_names_are_never_markup(watched, fake):
    page = watched.open(fake.address + "#row=1")
    page.wait_for_selector("#slices .chart")
    assert page.locator("h1").inner_text() == f"pets {EVIL}"
    settled(page, "#decision-heading", EVIL)
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    for i, name in enumerate(LABELS[3:5]):
        page.locator("#drawing [data-part]").nth(3 + i).click()
        page.wait_for_function(
            "n => document.querySelectorAll('#chips li').length === n", arg=i + 1
        )
        assert name in chips(page)
    assert page.locator("img, iframe, script:not([src])").count() == 0
    settled(page, "#parts-body", EVIL)
    assert page.locator("#drawing script").count() == 0


@pytest.mark.parametrize(
    "inside",
    ["<script>window.hit=3</script>", '<a href="javascript:window.hit=4"><text>a</text></a>',
     '<rect onclick="window.hit=5"/>', '<image href="x"/>', "<foreignObject/>", "<use/>"],
)  # fmt: skip
def test_a_drawing_that_could_run_is_not_shown(watched, fake, inside):
    page = watched.open(fake.address, allowed=("inline event handler",))
    text = f'<svg xmlns="http://www.w3.org/2000/svg">{inside}</svg>'
    loaded = "text => import('/page/decision.js').then(one => one.drawingElement(text) === null)"
    assert page.evaluate(loaded, text)
    assert page.evaluate(loaded, '<g xmlns="http://www.w3.org/2000/svg"/>')
    fine = '<svg xmlns="http://www.w3.org/2000/svg"><rect/></svg>'
    assert not page.evaluate(loaded, fine)
    # Of a handler in a text that was only parsed some browsers report that it was blocked.
    page.evaluate("window.violations = window.violations.filter(one => !/-attr/.test(one))")


def test_keys_in_links_come_back_unchanged(page):
    keys = ['"cat"', '"1"', "1", '["a", "b"]', '["a","b"]', '"true"', '"caf\\u00e9"', '"café"',
            '"[1]"', '""', '"a&b=c#d"']  # fmt: skip
    back = page.evaluate(
        "keys => import('/page/state.js').then(one => "
        "keys.map(key => one.textToKey(one.keyToText(key))))",
        keys,
    )
    assert back == keys


@pytest.mark.parametrize("width", [320, 390, 650, 850, 1300])
def test_no_page_is_wider_than_its_window(watched, fake, width):
    page = watched.open(fake.address + "#row=1&in=cat&value.age=9", width=width)
    page.wait_for_selector("#slices .chart")
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert overflow(page) <= 0


def test_by_keyboard_alone(page):
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "decision-heading"
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.append(page.evaluate(
            "(() => { const one = document.activeElement; const box = getComputedStyle(one);"
            " return [one.id || one.getAttribute('aria-label') || one.textContent,"
            " box.outlineStyle]; })()"))  # fmt: skip
        if reached[-1][0] == "slices-column":
            break
    names = [name for name, _ in reached]
    for wanted in ("loss", "animal", "Row 8", "age", "slices-column"):
        assert wanted in names
    outside = [name for name, outline in reached if outline == "none" and name not in LABELS]
    assert outside == []  # the focus is always seen; parts of drawings show it by their frame


CONTRAST = """() => {
  const light = (color) => {
    const [r, g, b] = color.match(/[\\d.]+/g).slice(0, 3).map(Number).map((one) => {
      const c = one / 255;
      return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (!/, 0\\)$|transparent/.test(color)) return color;
    }
    return 'rgb(255, 255, 255)';
  };
  const found = [];
  for (const one of document.querySelectorAll('body *')) {
    if (one.closest('svg, option, :disabled, .visually-hidden, .skip')) continue;
    if (!one.checkVisibility()) continue;
    const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own && !/^(INPUT|SELECT)$/.test(one.tagName)) continue;
    const [a, b] = [light(getComputedStyle(one).color), light(behind(one))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) found.push([one.tagName, one.className, one.textContent.slice(0, 30)]);
  }
  return found;
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_texts_can_be_read_in_light_and_dark(watched, fake, theme):
    page = watched.open(fake.address + "#row=3&in=dog&value.age=9", color_scheme=theme)
    page.wait_for_selector("#slices .chart")
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    settled(page, "#changes", "dog")
    assert page.evaluate(CONTRAST) == []


def test_the_theme_is_kept(watched, fake):
    page = watched.open(fake.address, color_scheme="light")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    page.get_by_role("button", name="Dark").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(14, 17, 22)"
    page.reload()
    page.wait_for_selector("#drawing > *")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.get_by_role("button", name="Dark").get_attribute("aria-pressed") == "true"


def test_every_control_has_a_name(page):
    page.wait_for_selector("#slices .chart")
    nameless = page.evaluate("""() => [...document.querySelectorAll('input, select, button')]
      .filter((one) => !one.labels?.length && !one.getAttribute('aria-label'))
      .filter((one) => !one.textContent.trim())
      .map((one) => one.outerHTML)""")
    assert nameless == []
    levels = page.evaluate("[...document.querySelectorAll('h1, h2, h3')].map(one => one.tagName)")
    assert levels[0] == "H1"
    assert levels.count("H1") == 1
    assert page.locator("main").count() == 1
    assert page.locator("nav").count() == 1


def test_files_of_the_page_hold_no_inline_code(fake):
    text = (PAGE / "index.html").read_text()
    assert re.search(r"<script(?![^>]* src=)|<style| style=| on\w+=|https?://", text) is None
    for path in PAGE.iterdir():
        assert "SPDX-License-Identifier: BSD-3-Clause" in path.read_text().split("\n<html")[0][:300]
        code = path.read_text().replace("http://www.w3.org/2000/svg", "")
        assert re.search(r"innerHTML|outerHTML|\beval\(|new Function|https?://", code) is None, path
