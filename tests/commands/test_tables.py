"""Tables on the command line: covariates, standard input, several files."""

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens")


def test_covariates_are_named_and_counted(call, tmp_path):
    (tmp_path / "t.csv").write_text("winner,loser,surface\na,b,clay\nb,c,grass\nc,a,\na,c,clay\n")
    done = call("read", "t.csv", "--by", "surface")
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert "by surface named" in lines
    assert "by surface clay 50.0%, grass 25.0%; empty in 1 games" in lines
    refused = call("read", "t.csv", "--by", "surfaces")
    assert refused.code == 2
    assert 'did you mean "surface"?' in refused.err
