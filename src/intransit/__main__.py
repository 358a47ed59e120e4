"""``python -m intransit``, where the command ``intransit`` is not on the path."""

from intransit.cli import run

if __name__ == "__main__":
    run()
