"""``python -m rhostar``: the program without its script."""

from rhostar.cli.main import run

run()
