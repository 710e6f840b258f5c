"""Makes ``python -m rhostar`` run the command line."""

from rhostar.cli.main import run

run()
