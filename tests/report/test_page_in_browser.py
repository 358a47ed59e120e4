"""The page in headless Chromium: what moves, what can be chosen, and that nothing leaves it.

`open_page` fails a test on errors, warnings, dialogs and requests; see conftest.py.
"""

import csv
import io
from dataclasses import replace
from itertools import compress
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from intransit.percent import estimate
from intransit.percent import percent as write_percent
from intransit.report.page.blocks import drawn_first
from tests.report import colours as palette
from tests.report.findings import HOSTILE, build_findings, build_standings, build_verdict, calm

CELLS = "#matrix canvas"
OPENING_LIMIT = 3000  # milliseconds; it takes a tenth of that on an idle machine


@pytest.fixture(scope="module")
def findings():
    return build_findings()


def drawn(page, selector):
    return page.locator(selector).get_attribute("data-drawn")


def picture_of(page, selector=CELLS):
    return page.locator(selector).evaluate("canvas => canvas.toDataURL()")


def rows_of(page):
    return page.locator(".row-names span").all_text_contents()


def side_of(page):
    return page.locator(".map-box").evaluate(
        "box => parseInt(getComputedStyle(box).getPropertyValue('--side'))"
    )


def hover_cell(page, row, column):
    side = side_of(page)
    spot = {"x": (column + 0.5) * side, "y": (row + 0.5) * side}
    page.locator(CELLS).hover(position=spot)


def address_of(url):
    return parse_qs(urlsplit(url).fragment)


def percent(share):
    return write_percent(float(share)).replace(" ", "\xa0")


def shown_order(strengths):
    """Return the items by strength as the page carries them, the strongest first."""
    return np.argsort(-np.floor(np.round(10_000 * strengths, 6)), kind="stable")


def names_on_board(page):
    return page.locator(".board tbody .name").all_text_contents()


def in_sight(page, selector):
    """Return whether all of something lies within the window as it was opened."""
    return page.locator(selector).evaluate_all(
        """parts => parts.length > 0 && parts.every((part) => {
            const { top, bottom, left, right } = part.getBoundingClientRect();
            return top >= 0 && bottom <= window.innerHeight
                && left >= 0 && right <= window.innerWidth;
        })"""
    )


def test_the_slider_moves_every_picture(open_page, findings):
    """Arrow keys on the slider change label, heat map, discs, cycle and address."""
    page = open_page(findings)
    before = picture_of(page)
    slider = page.get_by_label("Time shown")
    assert page.locator(".time-bar output").text_content() == findings.times[-1]
    slider.focus()
    page.keyboard.press("ArrowLeft")
    assert page.locator(".time-bar output").text_content() == findings.times[-2]
    assert slider.get_attribute("aria-valuetext") == findings.times[-2]
    assert picture_of(page) != before
    time = len(findings.times) - 2
    assert drawn(page, CELLS) == f"{time} structure"
    assert drawn(page, "[data-disc='0']") == str(time)
    assert drawn(page, "[data-live='cycles']") == f"0 {time}"
    page.keyboard.press("Home")
    assert page.locator(".time-bar output").text_content() == findings.times[0]
    page.wait_for_url(lambda url: address_of(url).get("t") == [findings.times[0]])
    page.keyboard.press("End")
    assert picture_of(page) == before


def test_playing_goes_through_time(open_page, findings):
    """From the last time it starts again at the first, goes on by itself, and can be paused."""
    page = open_page(findings)
    page.get_by_label("Play through time").click()
    output = page.locator(".time-bar output")
    assert output.text_content() == findings.times[0]
    page.wait_for_function(
        "text => document.querySelector('.time-bar output').textContent === text",
        arg=findings.times[1],
    )
    page.get_by_label("Pause").click()
    assert page.get_by_label("Play through time").is_visible()


def test_the_heat_map_has_the_colours_of_the_chances(open_page, findings):
    """A cell's colour is that of its chance, mixed here by itself from the stops."""
    page = open_page(findings)
    side = side_of(page)
    heat = palette.mix_heat(palette.stops_of(palette.LIGHT))
    far = page.evaluate("JSON.parse(document.getElementById('findings').textContent).reach")
    cells = ((0, 3), (4, 1), (11, 10))
    colours = page.locator(CELLS).evaluate(
        """(canvas, spots) => {
            const wide = canvas.width;
            const { data } = canvas.getContext("2d").getImageData(0, 0, wide, canvas.height);
            return spots.map(([x, y]) => [0, 1, 2].map((k) => data[4 * (y * wide + x) + k]));
        }""",
        [[column * side + 3, row * side + 3] for row, column in cells],
    )
    for (row, column), seen in zip(cells, colours, strict=True):
        place = np.clip(0.5 + (findings.chances[-1, row, column] - 0.5) / (2 * far), 0, 1) * 20
        around = [heat[int(np.floor(place))], heat[int(np.ceil(place))]]
        bounds = np.array([[int(c[k : k + 2], 16) for k in (1, 3, 5)] for c in around])
        assert np.all(np.array(seen) >= bounds.min(axis=0) - 3)
        assert np.all(np.array(seen) <= bounds.max(axis=0) + 3)


def test_the_order_can_be_chosen(open_page, findings):
    """By name, by strength at the time shown, and back to structure."""
    page = open_page(findings)
    assert rows_of(page) == list(findings.names)
    page.get_by_label("Strength", exact=True).check()
    for time in (len(findings.times) - 1, 0):
        by_strength = [findings.names[i] for i in shown_order(findings.strengths[:, time])]
        assert rows_of(page) == by_strength
        page.get_by_label("Time shown").focus()
        page.keyboard.press("Home")
    page.get_by_label("Name", exact=True).check()
    assert rows_of(page) == sorted(findings.names)
    page.get_by_label("Structure", exact=True).check()
    assert rows_of(page) == list(findings.names)


def test_a_cell_says_what_it_means(open_page, findings):
    """Pointer and arrow keys read names, chance, interval and games; a click compares the two."""
    page = open_page(findings)
    tip = page.locator(".tooltip")
    assert not tip.is_visible()
    i, j = np.argwhere(findings.games > 0)[3]
    hover_cell(page, i, j)
    said = tip.inner_text()
    assert f"{findings.names[i]} beats {findings.names[j]}" in said
    chance, between = estimate(
        *(part[-1, i, j] for part in (findings.chances, findings.low, findings.high))
    )
    assert f"{chance}, 90 % interval {between}" in said.replace("\xa0", " ")
    won, tied = findings.wins[i, j], findings.ties[i, j]
    lost = findings.games[i, j] - won - tied
    assert f"{won:.0f} won, {lost:.0f} lost, {tied:.0f} tied" in said
    page.keyboard.press("Escape")
    assert not tip.is_visible()
    page.locator(CELLS).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    spoken = page.locator("#voice").text_content()
    marked = [page.locator(f".{side}-names .marked").text_content() for side in ("row", "column")]
    assert f"{marked[0]} beats {marked[1]}" in spoken
    page.keyboard.press("Enter")
    assert page.locator(".chance .name").all_text_contents() == marked


def test_the_script_writes_numbers_as_python_does(open_page):
    """Chances and intervals of all pairs, from both sides, near the edges of rounding too."""
    findings = build_findings(6, 1, n_future=0)
    tricky = (0.00004, 0.00499, 0.00501, 0.29, 0.34499, 0.34501, 0.5, 0.70999, 0.99499, 0.99996)
    chances, low, high = (part[-1] for part in (findings.chances, findings.low, findings.high))
    for k, (i, j) in enumerate(zip(*np.triu_indices(6, 1), strict=True)):
        half = (0.00002, 0.004, 0.1)[k % 3]
        chances[i, j] = tricky[k % len(tricky)]
        low[i, j], high[i, j] = np.clip(chances[i, j] + np.array([-half, half]), 0, 1)
        chances[j, i], low[j, i], high[j, i] = 1 - np.array([chances[i, j], high[i, j], low[i, j]])
    page = open_page(findings)
    for i, j in np.argwhere(~np.eye(6, dtype=bool)).tolist():
        hover_cell(page, i, j)
        said = page.locator(".tooltip").text_content().replace("\xa0", " ")
        value, between = estimate(chances[i, j], low[i, j], high[i, j])
        both = f"{findings.names[i]} beats {findings.names[j]}"
        assert said.startswith(f"{both}{value}, 90 % interval {between}")


def test_a_tap_reads_a_cell(browser, open_page, findings):
    """On a phone, where nothing hovers, a touch does."""
    page = open_page(findings, width=390, height=844, has_touch=True, is_mobile=True)
    side = side_of(page)
    page.locator(CELLS).tap(position={"x": 2.5 * side, "y": 0.5 * side})
    assert page.locator(".chance .name").all_text_contents() == [
        findings.names[0],
        findings.names[2],
    ]


def test_items_can_be_chosen_for_the_chart(open_page, findings):
    """An item is added from the list, taken away by its chip, and the strongest come back."""
    page = open_page(findings)
    chips = page.locator(".chips .chip .name")
    first = chips.all_text_contents()
    assert first == [findings.names[item] for item in drawn_first(findings)]
    other = next(name for name in findings.names if name not in first)
    page.get_by_label("Add an item").select_option(label=other)
    assert chips.all_text_contents() == [*first, other]
    assert page.locator("[data-live='strengths'] .band").count() == 7
    page.get_by_label(f"Remove {first[0]}").click()
    assert chips.all_text_contents() == [*first[1:], other]
    page.get_by_role("button", name="The strongest").click()
    strongest = chips.all_text_contents()
    assert strongest == [
        findings.names[item] for item in drawn_first(replace(findings, changes=None))
    ]
    page.locator("[data-live='strengths'] svg.chart").hover(position={"x": 300, "y": 100})
    said = page.locator(".tooltip").inner_text()
    assert all(name in said for name in strongest)


def test_two_items_head_to_head(open_page, findings):
    """The choice shows their chance and record, is kept in the address, and comes back from it."""
    page = open_page(findings)
    first, second = 4, 9
    before = page.locator("[data-live='duel'] .band").first.get_attribute("d")
    page.get_by_label("First item").select_option(label=findings.names[first])
    page.get_by_label("Second item").select_option(label=findings.names[second])
    assert page.locator(".chance b").text_content() == percent(findings.chances[-1, first, second])
    assert page.locator("[data-live='duel'] .band").first.get_attribute("d") != before
    assert page.locator("[data-live='duel'] .forecast").count() == 1
    pair = [findings.names[first]], [findings.names[second]]
    page.wait_for_url(lambda url: (address_of(url).get("a"), address_of(url).get("b")) == pair)
    address = "#" + urlsplit(page.url).fragment.replace(findings.times[-1], findings.times[2])
    again = open_page(findings, address=address)
    assert again.locator(".chance b").text_content() == percent(findings.chances[2, first, second])
    again.get_by_label("Swap the two").click()
    assert again.locator(".chance b").text_content() == percent(findings.chances[2, second, first])
    again.get_by_label("First item").select_option(label=findings.names[first])
    assert (
        again.get_by_label("Second item").evaluate("s => s.selectedOptions[0].text")
        == (findings.names[second])
    )


def test_an_address_of_something_else_is_ignored(open_page, findings):
    """Unknown names and times in the address change nothing."""
    page = open_page(findings, address="#a=constructor&b=nobody&t=never")
    assert page.locator(".chance .name").all_text_contents() == list(
        findings.cycles.found[0].items[:2]
    )


def test_a_cycle_can_be_chosen(open_page, findings):
    """Row or button chooses the cycle that is drawn; or all that are listed."""
    page = open_page(findings)
    cycle = findings.cycles.found[2]
    page.get_by_label("Draw cycle 3").click()
    graph = page.locator("[data-live='cycles'] svg.graph")
    assert set(graph.locator(".label").all_text_contents()) == set(cycle.items)
    readings = graph.locator(".reading").all_text_contents()
    assert readings == [percent(chance) for chance in cycle.chances]
    page.get_by_label("All that are listed").check()
    assert graph.locator(".node").count() > 3


def test_a_disc_shows_whom_an_item_beats(open_page, findings):
    """Those marked as beaten are anticlockwise of it, within half a turn."""
    page = open_page(findings)
    points = findings.discs[0].points[-1] / np.hypot(*findings.discs[0].points.T).max()
    item = int(np.hypot(*points.T).argmax())
    dots = page.locator("[data-disc='0'] .dot")
    dots.nth(item).hover()
    beaten = {i for i in range(len(points)) if "beaten" in dots.nth(i).get_attribute("class")}
    turn = np.angle((points[:, 0] + 1j * points[:, 1]) / complex(*points[item]))
    area = np.hypot(*points.T) * np.hypot(*points[item]) * np.sin(turn)
    assert beaten == set(np.flatnonzero(area > 0.02).tolist())


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark(open_page, findings, scheme):
    """The page follows the system, and its button asks for the other; the heat map follows."""
    themes = {"light": palette.LIGHT, "dark": palette.DARK}
    page = open_page(findings, color_scheme=scheme)

    def paper():
        shown = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        return "#" + "".join(f"{int(part):02x}" for part in shown[4:-1].split(","))

    assert paper() == themes[scheme]["paper"]
    before = picture_of(page)
    other = {"light": "dark", "dark": "light"}[scheme]
    page.get_by_label(f"{other.capitalize()} colours").click()
    assert paper() == themes[other]["paper"]
    assert picture_of(page) != before


def test_without_script_the_findings_are_there(open_page, findings):
    """Verdict, sentences, tables and pictures need no script, and no dead control is shown."""
    page = open_page(findings, java_script_enabled=False)
    text = page.locator("main").inner_text().replace("\xa0", " ")
    assert "There are cycles\n" in text
    assert "Some items beat each other in a cycle." in text
    assert all(sentence in text for sentence in findings.sentences)
    captions = page.locator("caption").all_inner_texts()
    for caption in ("All 12 items", "Cycles", "Stronger", "The mixture", "The ladder"):
        assert any(words.startswith(caption) for words in captions), caption
    assert findings.data[0] in text
    for picture in ("svg.matrix", "svg.chart", "svg.disc", "svg.graph"):
        assert page.locator(picture).first.is_visible()
    assert page.locator("button, input, select").count() == 0
    assert names_on_board(page) == [one.name for one in findings.standings]
    assert "needs a script" in text


def test_hostile_names_are_shown_and_never_run(open_page):
    """Each name is there as text, can be chosen, and survives the way through the address."""
    findings = build_findings(names=HOSTILE)
    page = open_page(findings)
    whole = page.locator(".row-names span").evaluate_all("names => names.map((one) => one.title)")
    assert whole == list(HOSTILE)
    assert page.locator("img, iframe, main script").count() == 0
    hover_cell(page, 0, 1)
    assert "<img src=x onerror=alert(2)>" in page.locator(".tooltip").inner_text()
    hover_cell(page, 2, 3)
    assert "constructor beats __proto__" in page.locator(".tooltip").inner_text()
    page.locator(CELLS).click(position={"x": 8.5 * side_of(page), "y": 0.5 * side_of(page)})
    page.wait_for_url(lambda url: address_of(url).get("b") == [HOSTILE[8]])
    again = open_page(findings, address="#" + urlsplit(page.url).fragment)
    assert again.locator(".chance .name").all_text_contents() == [HOSTILE[0], HOSTILE[8]]
    for name in ("__proto__", "constructor"):
        again.get_by_label("Add an item").select_option(label=name)
        assert name in again.locator(".chips .name").all_text_contents()


@pytest.mark.parametrize("names", [None, HOSTILE], ids=["plain", "hostile"])
def test_a_phone_needs_no_sideways_scrolling(open_page, names):
    """The body is as wide as the screen; what is wider scrolls in its own box."""
    findings = build_findings(40, 6, names=names)
    for script in (True, False):
        page = open_page(
            findings, width=390, height=800, java_script_enabled=script, is_mobile=True
        )
        for width in (390, 360):
            page.set_viewport_size({"width": width, "height": 800})
            box = page.locator("footer").bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width + 0.5
            if script:
                wide = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
                assert wide[0] <= wide[1] == width


def test_names_of_a_cycle_are_not_cut_on_a_phone(open_page, findings):
    """The column of cycles is as wide as its names, and no row grows tall for a narrow column."""
    page = open_page(findings, width=390, height=800, is_mobile=True)
    cut = page.evaluate(
        """() => [...document.querySelectorAll("#cycles .path .name")]
            .filter((name) => name.scrollWidth > name.clientWidth + 1
                || name.getBoundingClientRect().right
                    > name.closest("th, td").getBoundingClientRect().right + 1).length"""
    )
    assert cut == 0
    tall = page.locator("#ladder tbody tr").evaluate_all(
        "rows => Math.max(...rows.map((row) => row.getBoundingClientRect().height))"
    )
    assert tall < 100


def test_names_that_differ_at_their_ends_stay_apart_on_a_phone(open_page):
    """The leaderboard breaks long names, and the matrix cuts them in the middle."""
    findings = build_findings(names=tuple(f"A long name of a model, size {k}" for k in range(12)))
    page = open_page(findings, width=390, height=844)
    board = page.locator(".board tbody .name")
    assert board.evaluate_all(
        "names => names.every((one) => one.scrollWidth <= one.clientWidth + 1)"
    )
    assert len(set(rows_of(page))) == 12


def test_tables_without_times_or_cycles(open_page):
    """No slider where there is nothing to slide; the note where the cycles would be."""
    for findings in (calm(build_findings(6, 1, n_future=0)), build_findings(2, 1, n_future=0)):
        page = open_page(findings)
        assert page.locator(".time-bar").count() == 0
        best, second = shown_order(findings.strengths[:, -1])[:2]
        assert page.locator(".chance b").text_content() == percent(
            findings.chances[-1, best, second]
        )
        assert page.locator("[data-live='duel'] svg").is_visible()


def test_the_leaderboard_is_sorted_by_its_titles(open_page, findings):
    """By strength to begin with, by name and back, by games from the most to the fewest."""
    page = open_page(findings)
    board = [one.name for one in findings.standings]
    assert names_on_board(page) == board
    page.locator(".board").get_by_role("button", name="Item").click()
    assert names_on_board(page) == sorted(board)
    page.locator(".board").get_by_role("button", name="Item").click()
    assert names_on_board(page) == sorted(board, reverse=True)
    assert page.locator(".board th[aria-sort]").get_attribute("aria-sort") == "descending"
    page.locator(".board").get_by_role("button", name="Games").click()
    by_games = sorted(findings.standings, key=lambda one: -one.games)
    assert names_on_board(page) == [one.name for one in by_games]
    page.locator(".board").get_by_role("button", name="Rank").click()
    assert names_on_board(page) == board
    page.get_by_label("Only those still compared").check()
    assert names_on_board(page) == list(compress(board, findings.still))


def test_the_leaderboard_holds_everybody_a_page_at_a_time(open_page):
    """Of 2,000 items 20 are shown; a search and the last pages find the others, drawn as well."""
    few = build_findings()
    names = (*(f"player {k:04d}" for k in range(1988)), *few.names)
    everybody = build_standings(names, np.linspace(0.9, 0.1, 2000))
    findings = replace(few, standings=everybody, still=(True,) * 2000)
    page = open_page(findings)
    status = page.locator("#board-status")
    assert len(names_on_board(page)) == 20
    assert status.text_content() == "1 to 20 of 2,000"
    page.get_by_label("Next page").click()
    assert names_on_board(page)[0] == "player 0020"
    page.get_by_label("Search the leaderboard").fill("PLAYER 197")
    assert names_on_board(page) == [f"player {k}" for k in range(1970, 1980)]
    assert page.locator(".board tbody svg.interval .dot").count() == 10
    page.get_by_label("Search the leaderboard").fill("nobody")
    assert names_on_board(page) == []
    assert status.text_content() == "No item has that name."


def test_a_table_is_saved_as_csv(open_page):
    """A click saves the file, whole, with names that are formulas made harmless."""
    findings = build_findings(names=('=HYPERLINK("x")', "@b", "-c", "d,e", "شطرنج", *"fghijkl"))
    page = open_page(findings)
    with page.expect_download() as saving:
        page.locator(".board .save").click()
    assert saving.value.suggested_filename == "leaderboard.csv"
    text = saving.value.path().read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["name"] for row in rows] == [
        f"'{one.name}" if one.name[0] in "=@-" else one.name for one in findings.standings
    ]
    assert [float(row["rating"]) for row in rows] == pytest.approx(
        [one.rating for one in findings.standings], abs=1e-5
    )


@pytest.mark.parametrize("kind", ["cycles", "no evidence", "too little data"])
@pytest.mark.parametrize("size", [(1280, 800), (390, 844)], ids=["desktop", "phone"])
def test_the_first_screen_tells_the_most(open_page, findings, kind, size):
    """Verdict, picture and three facts are in sight without scrolling."""
    shown = findings if kind == "cycles" else replace(calm(findings), verdict=build_verdict(kind))
    page = open_page(shown, width=size[0], height=size[1], is_mobile=size[0] < 500)
    assert page.locator(".three dd").count() == 3
    for part in ("#headline", ".first-picture svg", ".three dd"):
        assert in_sight(page, part), part


def test_a_phone_has_intervals_and_contents_in_sight(open_page, findings):
    """Below each value stands its interval, and the contents open in a list that fits."""
    page = open_page(findings, width=390, height=844, is_mobile=True, has_touch=True)
    box = page.locator(".board tbody tr").first.locator("td.number small").first.bounding_box()
    value = page.locator(".board tbody tr").first.locator("td.number").first.bounding_box()
    assert value["x"] <= box["x"]
    assert box["x"] + box["width"] <= 390
    assert not page.locator("nav.wide").is_visible()
    page.locator(".menu summary").tap()
    assert in_sight(page, ".menu nav a")
    page.locator(".menu nav a", has_text="Ranking").tap()
    page.wait_for_url(lambda url: url.endswith("#ranking") or "a=" in urlsplit(url).fragment)
    assert not page.locator(".menu nav").is_visible()


@pytest.mark.parametrize("width", [1280, 1100, 1030, 800, 640, 390])
def test_the_contents_are_never_cut(open_page, findings, width):
    """Beside each other where there is room for all of them, and in a list where not."""
    page = open_page(replace(findings, source="a table with a long name.csv"), width=width)
    if not page.locator("nav.wide").is_visible():
        page.locator(".menu summary").click()
    assert in_sight(page, "header nav:visible a")
    inside = "nav => nav.scrollWidth <= nav.clientWidth"
    assert page.locator("header nav:visible").evaluate(inside)


def test_pairs_that_never_met_look_different(open_page, findings):
    """Their cells have a hole in the colour of the ground, those of pairs that met do not."""
    page = open_page(findings)
    side = side_of(page)
    unmet = np.argwhere((findings.games == 0) & ~np.eye(12, dtype=bool))[0]
    met = np.argwhere(findings.games > 0)[0]
    spots = [(pair * side + far).tolist()[::-1] for pair in (unmet, met) for far in (1, 5)]
    colours = page.locator(CELLS).evaluate(
        """(canvas, spots) => {
            const wide = canvas.width;
            const { data } = canvas.getContext("2d").getImageData(0, 0, wide, canvas.height);
            return spots.map(([x, y]) => [0, 1, 2].map((k) => data[4 * (y * wide + x) + k]));
        }""",
        spots,
    )
    assert colours[0] != colours[1]
    assert colours[2] == colours[3]
    assert "hollow" in page.locator(".legends").inner_text()


def test_every_control_has_a_name(open_page, findings):
    """Whatever can be focused says what it is."""
    page = open_page(findings)
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("button, input, select, canvas, [tabindex='0']")]
            .filter((part) => !(part.getAttribute("aria-label") || part.textContent.trim()
                || part.labels?.[0]?.textContent.trim()))
            .map((part) => part.outerHTML)"""
    )
    assert nameless == []


def test_a_large_page_opens_at_once(open_page):
    """60 items at 30 times: from the start of loading to the first drawing."""
    page = open_page(build_findings(60, 30))
    assert page.locator(".row-names span").count() == 60
    took = page.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
    assert took < OPENING_LIMIT
