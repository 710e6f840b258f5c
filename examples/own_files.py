"""Writes two tables like those of a traffic provider, to try the program ``rhostar``: a history and today's times.

    python examples/own_files.py [folder]

writes ``times.csv`` with the columns tail, head, weight (minutes) and snapshot (60 days at 8:00), and ``today.csv``
with tail, head and weight. The streets and their travel times are generated; the vertices are named a0, a1, and so on.
"""

import csv
import datetime
import sys
from pathlib import Path

import numpy as np

import rhostar as rs

DAYS = 60


def main(folder: Path) -> None:
    """Write the tables."""
    city = rs.datasets.city(400, seed=1)
    streets = [(f"a{tail}", f"a{head}") for tail, head in zip(city.graph.tail, city.graph.head, strict=True)]
    minutes = city.snapshots(DAYS + 1, seed=2, hours=np.full(DAYS + 1, 8.0))
    first = datetime.datetime(2026, 3, 1, 8)
    with (folder / "times.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["tail", "head", "weight", "snapshot"])
        for day, row in enumerate(minutes[:DAYS]):
            time = (first + datetime.timedelta(days=day)).isoformat(timespec="minutes")
            table.writerows([*street, f"{weight:.2f}", time] for street, weight in zip(streets, row, strict=True))
    with (folder / "today.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["tail", "head", "weight"])
        table.writerows([*street, f"{weight:.2f}"] for street, weight in zip(streets, minutes[DAYS], strict=True))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
