"""The page without a browser: what it holds, how it is escaped, how large it is."""

import base64
import csv
import hashlib
import io
import json
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from urllib.parse import unquote

import numpy as np
import pytest

from intransit.report.page import STILL, write_page
from intransit.report.page.blocks import (
    count,
    draw_leaders,
    drawn_first,
    estimate,
    p_value,
    percent,
    place_times,
    reach,
    sentence,
    shorten,
    with_error,
)
from tests.report import colours as palette
from tests.report.findings import HOSTILE, build_findings, build_verdict, calm

ASSETS = sorted(
    (part for part in files("intransit.report.page").joinpath("assets").iterdir()),
    key=lambda part: part.name,
)


class Reader(HTMLParser):
    """Counts elements, and keeps texts and attributes as a browser would see them."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.texts = Counter(), [], []
        self.inside = None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        self.attributes += attrs
        self.inside = tag

    def handle_endtag(self, _tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside not in {"script", "style"}:
            self.texts.append(data)


def embedded(page):
    """Return the data that the page carries, as its script reads them."""
    return json.loads(re.search(r'id="findings">(.*?)</script>', page, re.DOTALL).group(1))


def unpacked(text):
    return np.frombuffer(base64.b64decode(text), dtype="<u2") / 10_000


def test_names_that_differ_in_the_middle_are_told_apart_in_the_first_picture():
    """Cut in the usual way, both would be "meta-llama/Ll…struct"."""
    names = [f"meta-llama/Llama-3.1-Nemotron-{size}B-Instruct" for size in (70, 51)]
    standings = build_findings().standings
    two = [replace(one, name=name) for one, name in zip(standings, names, strict=False)]
    picture = draw_leaders(two)
    assert "70B" in picture
    assert "51B" in picture


def test_the_same_findings_give_the_same_page():
    """Nothing of the moment or of the machine is in the page."""
    assert write_page(build_findings()) == write_page(build_findings())


def test_the_data_come_back_from_the_page():
    """Every chance, interval and strength is in the page to a ten-thousandth."""
    findings = build_findings(7, 5)
    data = embedded(write_page(findings))
    rows, columns = np.triu_indices(7, 1)
    for key, truth in (
        ("chances", findings.chances),
        ("low", findings.low),
        ("high", findings.high),
        ("futureChances", findings.future_chances),
        ("futureHigh", findings.future_high),
    ):
        shown = unpacked(data[key]).reshape(len(truth), -1)
        np.testing.assert_allclose(shown, truth[:, rows, columns], atol=0.00011)
    np.testing.assert_allclose(
        unpacked(data["strengths"]).reshape(7, 5), findings.strengths, atol=0.00011
    )
    met = {(i, j): record for i, j, *record in data["games"]}
    for i, j in zip(rows, columns, strict=True):
        record = [part[i, j] for part in (findings.games, findings.wins, findings.ties)]
        assert met.get((i, j), [0, 0, 0]) == record


def test_hostile_names_stay_text():
    """Names with markup add no element and no attribute, and each is there as text."""
    tame = Reader(write_page(build_findings(names=tuple("abcdefghijkl"))))
    page = write_page(build_findings(names=HOSTILE))
    wild = Reader(page)
    for reader in (tame, wild):
        del reader.tags["text"]  # how many labels find room depends on their length
    assert wild.tags == tame.tags
    assert wild.tags["script"] == 2
    assert not [key for key, _ in wild.attributes if key.startswith("on") or key == "style"]
    links = {value for key, value in wild.attributes if key in {"href", "src"}}
    assert all(link.startswith(("#", "data:text/csv;charset=utf-8,")) for link in links)
    for name in HOSTILE:
        assert name in wild.texts
    assert embedded(page)["names"] == list(HOSTILE)
    assert "\u2028" not in re.search(r'id="findings">(.*?)</script>', page, re.DOTALL).group(1)


def test_every_table_can_be_saved():
    """Each table has a link with its rows as CSV, and a name that is a formula is made harmless."""
    names = ("=1+1", "+cmd", "-2", "@sum", "a,b", 'say "x"', "line\nbreak", *"hijkl")
    findings = build_findings(names=names)
    reader = Reader(write_page(findings))
    saved = [v for k, v in reader.attributes if k == "href" and v.startswith("data:text/csv")]
    assert len(saved) == reader.tags["table"] + 1  # the heat map is one too
    sheets = [unquote(link.partition(",")[2]).removeprefix("\ufeff") for link in saved]
    tables = [list(csv.DictReader(io.StringIO(sheet, newline=""))) for sheet in sheets]
    board = next(rows for rows in tables if "rating" in rows[0])
    assert [row["name"].removeprefix("'") for row in board] == [
        one.name for one in findings.standings
    ]
    for row, one in zip(board, findings.standings, strict=True):
        assert float(row["strength"]) == pytest.approx(one.strength, abs=1e-6)
    cells = [cell for rows in tables for row in rows for cell in row.values()]
    assert not [c for c in cells if c[:1] in set("=+@\t\r") or (c[:1] == "-" and not is_number(c))]


def is_number(text):
    try:
        return np.isfinite(float(text))
    except ValueError:
        return False


def test_pairs_that_never_met_are_hollow():
    """In the heat map without a script, their cells have a hole."""
    findings = build_findings(5, 1, n_future=0)
    findings.games[:] = 9.0
    assert "hollow: " not in write_page(findings)
    findings.games[1, 3] = findings.games[3, 1] = 0.0
    page = write_page(findings)
    assert "hollow: the two never met" in page
    picture = re.search(r'<svg class="matrix.*?</svg>', page, re.DOTALL).group()
    assert picture.count("m2 2v") == 2


def test_names_that_html_cannot_hold_are_marked():
    """Half a surrogate pair or a zero byte does not spoil the file."""
    page = write_page(build_findings(names=("a\x00b", "c\ud800d", "e")))
    assert "a\ufffdb" in page
    assert page.encode("utf-8")


def test_the_policy_allows_this_style_and_script_only():
    """The hashes in the policy are those of what the page holds, and nothing else may load."""
    page = write_page(build_findings())
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1)
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL).group(1)
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL).group(1)
    for text in (style, script):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page)


def test_a_large_page_stays_small():
    """60 items at 30 times take less than a megabyte."""
    assert len(write_page(build_findings(60, 30)).encode()) < 1_000_000


@pytest.mark.parametrize("kind", ["cycles", "not one scale", "no evidence", "too little data"])
def test_every_verdict_is_said_in_words(kind):
    """The verdict, why it is so and the sentences come before everything else."""
    verdict = build_verdict(kind)
    findings = replace(build_findings(), verdict=verdict)
    texts = [text for text in Reader(write_page(findings)).texts if text.strip()]
    body = texts.index(verdict.title)
    assert texts[body - 2 : body + 1] == ["Verdict · ", "battles.csv", verdict.title]
    reason = verdict.reason[:1].upper() + verdict.reason[1:]
    assert texts[body + 1].replace("\xa0", " ") == reason
    said = " ".join(texts).replace("\xa0", " ")
    assert all(sentence in said for sentence in findings.sentences)
    assert all(fact.value in said for fact in findings.facts)
    assert body < texts.index("Who beats whom")
    assert ("Left unexplained by a single scale" in texts) == (kind != "too little data")


def test_without_cycles_the_page_says_so():
    """The note stands where the cycles would, and there is no empty table."""
    page = write_page(calm(build_findings()))
    assert "No cycle is sure enough." in page
    assert "Least sure step" not in page


def test_small_tables_have_pages_too():
    """Two items, one time, nothing ahead, and no number for the gain: still a page."""
    findings = build_findings(2, 1, n_future=0)
    unknown = replace(findings.verdict, gain=None, gain_error=None, detectable=1.0)
    texts = Reader(write_page(replace(findings, verdict=unknown, ladder=()))).texts
    assert "Detectable share" not in texts  # of cycles that were found
    assert "What changed" not in texts
    unknown = replace(unknown, verdict="no evidence")
    texts = Reader(write_page(replace(findings, verdict=unknown, ladder=()))).texts
    assert "no cyclic share could be detected reliably in this table" in texts
    two = calm(replace(findings, n_items=2))
    two = replace(two, verdict=replace(two.verdict, n_pairs=1))
    texts = Reader(write_page(two)).texts
    assert "A cycle takes three items." in texts
    assert "p value" not in texts


def test_a_section_with_nothing_to_say_is_one_line():
    """No change, no cycle, no plane: a sentence each, and no table with nothing in it."""
    findings = calm(build_findings())
    still = replace(findings.changes, items=(), matchups=(), note="Nothing changed.")
    page = write_page(replace(findings, changes=still, discs_note="Nobody counters anybody."))
    for place, said in (
        ("changes", "Nothing changed."),
        ("discs", "Nobody counters anybody."),
        ("cycles", "No cycle is sure enough."),
    ):
        section = re.search(rf'<section id="{place}".*?</section>', page, re.DOTALL).group()
        assert [text for text in Reader(section).texts if text.strip()][1:] == [said]


def test_what_the_ranking_gets_right_is_said_too():
    """Without upsets the ranking names every favourite, and the mixture says who may be best."""
    findings = calm(build_findings())
    right = replace(findings.ranking, upsets=(), n_upsets=0, wrong=0.0, note="2 items left out.")
    texts = Reader(write_page(replace(findings, ranking=right))).texts
    assert any("names the favourite of every pair." in text for text in texts)
    assert any("the probabilities of being the best" in text for text in texts)
    assert "Weight" in texts
    assert "Weight, 90 % interval" not in texts  # of what is all or nothing in a draw
    assert "2 items left out." in texts


def test_pairs_that_may_go_against_the_ranking_are_not_passed_off_as_certain():
    """Of a plain order some pairs are estimated the wrong way round, none of them surely."""
    findings = build_findings()
    ranking = findings.ranking
    for probability, certain in ((0.6, False), (0.95, True)):
        upset = replace(ranking.upsets[0], probability=probability)
        told = replace(findings, ranking=replace(ranking, upsets=(upset,), n_upsets=1))
        assert ("No such pair is certain" in write_page(told)) != certain


def test_empty_cells_are_explained():
    """Cells of strangers are left out, and are not what never met is told by."""
    findings = build_findings()
    for group in (findings.together, np.arange(len(findings.names)) // 2):
        games = (group[:, None] == group) * 1.0
        page = write_page(replace(findings, together=group, games=games))
        assert ("A cell is empty" in page) == group.any()
        assert "hollow: the two never met" not in page


def test_a_still_model_says_since_when_cycles_are_there():
    """Where nothing drifts a cycle begins when its items are there, and the page says so."""
    findings = build_findings(12, 1, n_future=0)
    assert STILL not in write_page(findings)
    aged = replace(findings.cycles, times=("2024", "2025"))
    assert STILL in write_page(replace(findings, cycles=aged))


def test_what_is_not_known_is_not_drawn():
    """Chances and strengths that are not numbers leave gaps, not the word nan."""
    findings = build_findings(6, 4)
    for part in (findings.chances, findings.low, findings.high):
        part[1, 2, 3] = part[1, 3, 2] = np.nan
    findings.strengths[0, 1] = np.nan
    page = write_page(findings)
    data = embedded(page)
    assert unpacked(data["chances"]).max() == 6.5535
    assert not re.search(r'["\s,LMHV]nan\b', page)


def test_who_changed_most_is_drawn_beside_the_strongest():
    """The weakest item that clearly changed is drawn first, an unsure change is not."""
    findings = build_findings()
    weak = [int(item) for item in np.argsort(findings.strengths[:, -1])[:3]]
    changes = [
        replace(findings.changes.items[0], name=findings.names[item], change=size, sure=sure)
        for item, size, sure in zip(weak, (-0.1, 0.4, -0.3), (True, False, True), strict=True)
    ]
    findings = replace(findings, changes=replace(findings.changes, items=tuple(changes)))
    drawn = drawn_first(findings)
    strongest = drawn_first(replace(findings, changes=None))
    assert len(drawn) == len(strongest) == 6
    assert set(drawn) == {*strongest[:4], weak[0], weak[2]}
    assert set(drawn_first(findings, 3)) == {*strongest[:2], weak[2]}


def test_times_stand_in_proportion():
    """Dates and numbers keep their distances, and one time alone stands at the beginning."""
    assert place_times(np.array([1.0, 2.0, 5.0])).tolist() == [0, 0.25, 1]
    assert place_times(np.array([7.0])).tolist() == [0]
    months = embedded(write_page(build_findings(4, 12, n_future=0)))["places"]
    np.testing.assert_allclose([months[0], months[1], months[-1]], [0, 31 / 334, 1], atol=1e-4)


def test_periods_with_names_like_numbers_stand_where_their_times_are():
    """13.1, 13.2 and 14.1 are periods one after the other, not numbers of such distances."""
    times = {"times": ("13.1", "13.2", "14.1"), "moments": np.arange(3.0)}
    findings = replace(build_findings(4, 3, n_future=0), **times)
    assert embedded(write_page(findings))["places"] == [0, 0.5, 1]


def test_colours_reach_as_far_as_the_chances():
    """The scale goes to the next tenth, never less than a tenth from a half."""
    assert reach(np.array([[0.5, 0.68], [0.32, 0.5]])) == pytest.approx(0.2)
    assert reach(np.full((2, 2), 0.5)) == 0.1
    assert reach(np.array([[0.5, 1.0], [0.0, 0.5]])) == 0.5


def test_numbers_are_written_as_people_write_them():
    """Nothing is rounded to nothing or to certainty, and signs are visible."""
    assert [percent(value) for value in (0.00004, 0.5, 0.9999)] == [
        "&lt;\xa00.1\xa0%",
        "50\xa0%",
        "&gt;\xa099.9\xa0%",
    ]
    assert percent(float("nan")) == "–"
    assert (p_value(0.0001), p_value(0.25)) == ("<\xa00.001", "0.250")
    assert (count(1234.0), count(2.5)) == ("1,234", "2.5")
    assert shorten("abcdefgh", 4) == "ab…h"
    assert estimate(0.3, 0.2, 0.4) == ("30\xa0%", "20 to 40\xa0%")
    assert with_error(0.6931, 1e-17) == "0.6931"
    assert with_error(-0.00016, 0.00004, sign=True) == "−0.00016 <small>±\xa00.00004</small>"
    assert sentence("7 % ± 0.1 of <x>") == "7\xa0% ±\xa00.1 of &lt;x&gt;"


def contrast(first, second):
    """Return the contrast of two colours as WCAG defines it, from 1 to 21."""
    weights = np.array([0.2126, 0.7152, 0.0722])
    dim, bright = sorted(float(weights @ palette.read_colour(one)) for one in (first, second))
    return (bright + 0.05) / (dim + 0.05)


@pytest.mark.parametrize("colours", [palette.LIGHT, palette.DARK], ids=["light", "dark"])
def test_text_stands_out(colours):
    """Text has a contrast of at least 4.5 on every ground, lines of at least 3."""
    for ground in ("paper", "surface", "sunken"):
        for ink in ("ink", "soft", "accent", "less"):
            assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
        for series in range(8):
            assert contrast(colours[f"s{series}"], colours[ground]) >= 3
    assert contrast(colours["accent"], colours["tint"]) >= 4.5


@pytest.mark.parametrize("theme", [palette.LIGHT, palette.DARK], ids=["light", "dark"])
def test_more_and_less_differ_for_the_colour_blind(theme):
    """Steps on both sides of a half differ for those who see no red or no green.

    Their sight as Viénot, Brettel and Mollon (1999) put it, in linear light.
    """
    sights = (
        [[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]],
        [[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]],
    )
    heat = palette.heat_of(theme)
    assert heat == palette.mix_heat(palette.stops_of(theme))
    for sight in sights:
        seen = [np.clip(np.array(sight) @ palette.read_colour(step), 0, 1) for step in heat]
        for step in range(7):
            assert np.abs(np.sqrt(seen[step]) - np.sqrt(seen[20 - step])).max() > 0.2


def test_dark_is_the_same_for_the_system_and_by_choice():
    assert palette.DARK == palette.DARK_BY_CHOICE
    assert palette.LIGHT.keys() == palette.DARK.keys()


@pytest.mark.parametrize("part", ASSETS, ids=lambda part: part.name)
def test_scripts_and_styles_are_small_and_make_no_markup(part):
    """Names cannot become markup, as nothing does; files stay readable and load nothing."""
    text = part.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 400
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b", text)
    assert not re.search(r"</script|<!--|@import|url\(|fetch\(|XMLHttp|WebSocket", text)
