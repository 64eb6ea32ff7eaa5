# SPDX-License-Identifier: BSD-3-Clause
"""Every control of the explorer's page in a browser, against a small server of the test's own."""

import pytest
from reliability.report_checks import HOW_TO_GET_ONE, find_browser
from tests.explorer.browser import chips, part, settled
from tests.explorer.fake_server import EVIL, fake_server

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(find_browser() is None, reason=HOW_TO_GET_ONE),
]


# Rows.


def test_rows_are_a_table_that_says_how_many(page):
    assert page.locator("#rows-count").inner_text() == "120 rows"
    assert page.locator("#rows-table tbody tr").count() == 50
    assert page.get_by_role("rowheader", name="pet 3").first.is_visible()
    assert page.locator("#page-text").inner_text() == "1 to 50"
    page.get_by_role("button", name="Next").click()
    settled(page, "#page-text", "51 to 100")
    assert page.get_by_role("button", name="Previous").is_enabled()


def test_search_and_filters(page):
    page.keyboard.press("/")
    page.keyboard.type("pet 11")
    settled(page, "#rows-count", "11 of 120 rows")  # 11 and 110 to 119
    assert "search=pet+11" in page.url
    page.locator("#where").select_option("wrong")
    settled(page, "#rows-count", "3 of 120 rows")
    page.locator("#label").select_option(EVIL)
    assert "where=wrong" in page.url
    assert "label=%3Cimg" in page.url


def test_headings_sort_and_say_so(page):
    heading = page.locator("#rows-table th", has_text="Risk")
    heading.get_by_role("button").click()
    page.wait_for_selector("#rows-table th[aria-sort=descending]")
    assert page.locator("#rows-table tbody th").first.inner_text() == "pet 119"
    page.locator("#rows-table th", has_text="Risk").get_by_role("button").click()
    page.wait_for_selector("#rows-table th[aria-sort=ascending]")
    settled(page, "#rows-table tbody th", "pet 0")
    page.locator("#sort").select_option("age")  # then its column is shown
    page.wait_for_selector("#rows-table th[aria-sort]:has-text('age')")


def test_arrows_choose_rows_also_over_the_end_of_a_page(page):
    page.locator("#rows-table tbody tr").nth(48).click()
    settled(page, "#decision-heading", "pet 48")
    page.keyboard.press("ArrowDown")
    settled(page, "#decision-heading", "pet 49")
    page.keyboard.press("ArrowDown")
    settled(page, "#decision-heading", "pet 50")
    assert page.locator("#page-text").inner_text() == "51 to 100"
    assert page.evaluate("document.activeElement.textContent") == "pet 50"
    page.keyboard.press("ArrowUp")
    settled(page, "#decision-heading", "pet 49")
    page.keyboard.press("Home")
    settled(page, "#decision-heading", "pet 0")


# The decision and what it must obey.


def test_a_click_fixes_a_part_in_then_out_then_frees_it(page):
    assert page.locator("#chips li").count() == 0
    part(page, "dog").click()
    page.wait_for_selector('[aria-label="dog"].fixed-in')
    assert chips(page) == ["dog"]
    assert "in=dog" in page.url
    settled(page, "#changes", "now also dog")
    part(page, "dog").click()
    page.wait_for_selector('[aria-label="dog"].fixed-out')
    assert "out=dog" in page.url
    settled(page, "#changes", "the same")
    part(page, "dog").click()
    page.wait_for_selector('[aria-label="dog"]:not(.fixed-out)')
    assert page.locator("#chips li").count() == 0


def test_a_part_keeps_the_focus_and_answers_the_keyboard(page):
    part(page, "animal").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_selector('[aria-label="dog"].fixed-in')
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "dog"
    page.keyboard.press("Space")
    page.wait_for_selector('[aria-label="dog"].fixed-out')
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "dog"


def test_chips_are_removed_one_by_one_or_all(page):
    for name in ("dog", "cat"):
        part(page, name).click()
        page.wait_for_selector(f'[aria-label="{name}"].fixed-in')
    page.get_by_role("button", name="Free dog").click()
    page.wait_for_selector('[aria-label="dog"]:not(.fixed-in)')
    assert chips(page) == ["cat"]
    page.get_by_label("Largest size").fill("4")
    page.get_by_role("button", name="Clear all").click()
    page.wait_for_selector('[aria-label="cat"]:not(.fixed-in)')
    assert chips(page) == []
    assert page.get_by_label("Largest size").input_value() == ""


def test_what_no_output_satisfies_is_said_beside_the_fields_and_nothing_is_lost(watched, fake):
    page = watched.open(fake.address + "#row=2&in=dog&in=cat", allowed=("422",))
    shown = page.locator("#facts").inner_text()
    page.get_by_label("Largest size").fill("1")
    page.wait_for_selector("#constraint-error:not([hidden])")
    assert "raise max_size" in page.locator("#constraint-error").inner_text()
    assert page.locator("#facts").inner_text() == shown
    assert chips(page) == ["dog", "cat"]
    page.get_by_label("Largest size").fill("2")
    page.wait_for_selector("#constraint-error", state="hidden")


def test_other_constraints_are_flags_and_json(page, fake):
    page.get_by_label("One path").check()
    page.get_by_text("More constraints").click()
    page.get_by_label("Same").fill("[[cat")
    page.keyboard.press("Enter")
    settled(page, "#constraint-error", "Give JSON")
    page.get_by_label("Near").fill("cat, dog")
    page.keyboard.press("Enter")
    page.get_by_label("Same").fill('[["cat", "dog"]]')
    page.keyboard.press("Enter")
    page.wait_for_selector("#constraint-error", state="hidden")
    assert fake.asked[-1]["restrict"] == {
        "one_path": True, "same": [["cat", "dog"]], "near": ["cat", "dog"],
    }  # fmt: skip


def test_another_loss_is_another_question(page, fake):
    assert "proved best" in page.locator("#facts").inner_text()
    page.locator("#loss").select_option("f1")
    settled(page, "#facts", "within 0.03 of the best")
    assert fake.asked[-1]["loss"] == "f1"
    assert "loss=f1" in page.url


def test_all_parts_are_in_a_table_too(page):
    page.get_by_text("All labels as a table").click()
    page.get_by_label("Find", exact=True).fill("dog")
    assert page.locator("#parts-body tr").count() == 1
    page.get_by_label("Fix dog").select_option("out")
    page.wait_for_selector('[aria-label="dog"].fixed-out')
    assert page.get_by_label("Fix dog").input_value() == "out"


# What if, supporters, slices.


def test_sliders_and_lists_change_the_row_and_are_reset(page, fake):
    group = page.get_by_role("group", name="age")
    page.get_by_role("slider", name="age").focus()
    page.keyboard.press("End")
    settled(page, "#changes", "now also dog; no longer cat")
    assert fake.asked[-1]["values"] == {"age": 10}
    assert "value.age=10" in page.url
    assert "was 0" in group.inner_text()
    settled(page, "#announcements", "no longer cat")
    page.get_by_role("button", name="Reset age").click()
    page.wait_for_selector("#changes", state="hidden")
    page.get_by_role("spinbutton", name="age").fill("9")
    settled(page, "#changes", "no longer cat")
    page.get_by_role("combobox", name=EVIL).select_option("c")
    page.wait_for_function("location.hash.includes('onerror')")
    page.get_by_role("button", name="Reset", exact=True).first.click()
    page.wait_for_selector("#changes", state="hidden")
    assert fake.asked[-1]["values"] == {}


def test_training_rows_open_in_a_dialog(watched, fake):
    page = watched.open(fake.address, allowed=("404",))
    page.get_by_role("button", name="Row 8").click()
    settled(page, "#training-body", "age")
    assert page.locator("#training-body").inner_text().count(EVIL) == 3  # output, column, value
    page.get_by_role("button", name="Go to it in the table").click()
    settled(page, "#decision-heading", "pet 4")
    page.get_by_role("button", name="Row 10").click()
    settled(page, "#training-body", "does not keep")
    page.keyboard.press("Escape")
    assert not page.locator("#training").is_visible()


def test_slices_have_numbers_and_filter_the_rows(page):
    page.wait_for_selector("#slices .chart")
    chart = page.get_by_role("table", name="By depth")
    assert "0.5 (0.3 to 0.7)" in chart.inner_text()
    chart.get_by_role("button", name="2").click()
    settled(page, "#rows-count", "7 of 120")
    page.get_by_role("button", name="Show all again").click()
    settled(page, "#rows-count", "120 rows")
    page.locator("#slices-column").select_option("1")
    page.get_by_role("table", name="By column").get_by_role("button", name=EVIL).click()
    settled(page, "#slice-filter", EVIL)
    page.get_by_role("table", name="By label").get_by_role("button", name="cat").click()
    settled(page, "#rows-count", "40 of 120")
    assert page.locator("#label").input_value() == "cat"


# The address.


def test_a_link_reproduces_the_view(watched, fake):
    page = watched.open(fake.address)
    page.locator("#loss").select_option("f1")
    page.locator("#rows-table tbody tr").nth(4).click()
    for name in ("dog", '\\"quoted\\" & café'):
        part(page, name).click()
        page.wait_for_selector(f'[aria-label="{name}"].fixed-in')
    page.get_by_label("Largest size").fill("5")
    page.get_by_role("spinbutton", name="age").fill("8.5")
    page.locator("#where").select_option("wrong")
    settled(page, "#rows-count", "40 of")
    settled(page, "#changes", "quoted")

    def shown(one):
        parts = ("#decision", "#chips", "#rows-count", "#whatif")
        values = "[...document.querySelectorAll('input, select')].map(one => one.value)"
        return [one.locator(name).inner_text() for name in parts], one.evaluate(values)

    other = watched.open(page.url)
    settled(other, "#changes", "quoted")
    settled(other, "#rows-count", "40 of")
    assert shown(other) == shown(page)


def test_back_and_forward(page):
    part(page, "dog").click()
    page.wait_for_selector('[aria-label="dog"].fixed-in')
    page.locator("#rows-table tbody tr").nth(2).click()
    settled(page, "#decision-heading", "pet 2")
    assert chips(page) == []
    page.go_back()
    settled(page, "#decision-heading", "pet 0")
    page.wait_for_selector('[aria-label="dog"].fixed-in')
    page.go_back()
    page.wait_for_selector('[aria-label="dog"]:not(.fixed-in)')
    page.go_forward()
    page.wait_for_selector('[aria-label="dog"].fixed-in')


def test_copy_link(watched, fake):
    page = watched.open(fake.address, permissions=["clipboard-read", "clipboard-write"])
    page.locator("#rows-table tbody tr").nth(3).click()
    page.get_by_role("button", name="Copy link").click()
    settled(page, "#copy", "Copied")
    assert page.evaluate("navigator.clipboard.readText()") == page.url


# Requests.


def test_many_changes_are_few_questions_and_the_last_answer_counts(page, fake):
    before = len(fake.asked)
    page.evaluate("""() => {
      const slider = document.querySelector('input[type=range]');
      for (let age = 1; age <= 10; age++) {
        slider.value = age;
        slider.dispatchEvent(new Event('input'));
      }
    }""")
    settled(page, "#changes", "no longer cat")
    assert [asked["values"] for asked in fake.asked[before:]] == [{"age": 10}]


def test_stale_answers_are_dropped_and_a_slow_server_is_not_flooded(page):
    held, seen = [], []

    def hold(route):
        seen.append(sorted(route.request.post_data_json["fixed"]))
        held.append(route) if len(seen) == 1 else route.continue_()

    page.route("**/api/decide", hold)
    part(page, "dog").click()
    while not held:
        page.wait_for_timeout(10)
    for name in ("cat", "animal"):  # both while the first one is under way
        part(page, name).click()
        page.wait_for_timeout(60)
    held[0].continue_()
    page.wait_for_selector('[aria-label="animal"].fixed-in')
    assert seen == [['"dog"'], ['"animal"', '"cat"', '"dog"']]
    assert chips(page) == ["dog", "cat", "animal"]


def test_a_request_that_hangs_does_not_hold_up_the_next(page):
    held = []
    page.route("**/api/decide", lambda route: held.append(route), times=1)
    part(page, "dog").click()
    while not held:
        page.wait_for_timeout(10)
    part(page, "cat").click()
    page.wait_for_selector('[aria-label="cat"].fixed-in')
    assert page.locator("#lost").is_hidden()
    assert chips(page) == ["dog", "cat"]


def test_a_lost_server_is_said_plainly(watched):
    with fake_server() as short:
        page = watched.open(short.address, allowed=("ERR_CONNECTION",))
    part(page, "dog").click()
    settled(page, "#lost-text", "The server does not answer")
    assert page.get_by_role("button", name="Try again").is_visible()
    assert part(page, "dog").is_visible()
