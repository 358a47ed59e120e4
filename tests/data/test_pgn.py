"""Chess games in PGN."""

import pytest

from intransit import InputError, read
from tests.data.test_recognition import results

GAMES = """[Event "Club night"]
[Site "?"]
[Date "2019.12.31"]
[White "Ann"]
[Black "Bob \\"Rook\\" Lee"]
[Result "1-0"]
[WhiteElo "1850"]

1. e4 {[%clk 0:03:00] the usual} e5
[not a tag 2. Nf3 1-0

[Event "Club night"]
[Date "2020.??.??"]
[White "Ann"]
[Black "Cy"]
[Result "1/2-1/2"]

1. d4 d5 1/2-1/2

[Event "Club night"]
[Date "2020.01.05"]
[White "Cy"]
[Black "Ann"]
[Result "*"]

*
"""


def test_games_are_read_from_their_tags(tmp_path):
    place = tmp_path / "club.pgn"
    place.write_text(GAMES)
    games = read(place, by="Event")
    assert results(games) == {("Ann", 'Bob "Rook" Lee', 1.0): 1.0, ("Ann", "Cy", 0.5): 1.0}
    assert [games.clock.to_text(t) for t in games.times] == ["2019-12-31", "2020-01-01"]
    assert games.sides.tolist() == [1.0, 1.0]
    assert games.by[0].values == ("Club night",)
    assert [part.reason for part in games.report.unused] == ['the outcome "*" is not understood']


def test_games_without_players_are_refused(tmp_path):
    place = tmp_path / "club.pgn"
    place.write_text('[Event "x"]\n[White "Ann"]\n\n1-0\n')
    with pytest.raises(InputError, match='no game has the tag "Black"; PGN games need one'):
        read(place)
