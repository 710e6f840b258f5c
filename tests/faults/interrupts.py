"""Presses Ctrl-C at many moments in every command: each must end within two seconds of computing, and leave no files.

``make faults`` runs it. Moments are shares of the processor time that the whole command takes, so a busy machine does
not matter. What is printed is the longest time from the signal to the end, in seconds of the processor.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from typer.main import get_command

import rhostar as rs
from rhostar.cli.main import app

MOST = 2.0
"""Seconds."""
START = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background inherits that it is ignored
from rhostar.cli.main import run
run()
"""


def prepare(home: Path, size: int) -> dict[str, list[object]]:
    """Write what the commands need, and return them by name; each takes some seconds."""
    rng = np.random.default_rng(0)
    graph = rs.Graph.grid(size, size, neighbors=8)
    weights = np.round(graph.length * rng.uniform(1, 2, (6, graph.m)), 3)
    count = 6 * size
    sources, rows = rng.integers(graph.n - 1, size=count), rng.integers(6, size=count)
    days = rs.InstanceSet(graph, weights, sources, graph.n - 1, rows=rows).draw(count, seed=0)  # so certify takes them
    days.save(home / "set")
    train, _ = days.split(0.5, seed=0)
    rs.Model.of(rs.learn(train), graph).save(home / "model.npz")
    rs.Model.of(rs.learners.MeanDistance().fit(train), graph).save(home / "mean.npz")
    edges = list(zip(graph.tail.tolist(), graph.head.tolist(), weights[0].tolist(), strict=True))
    today = "".join(f"{u},{v},{w}\n" for u, v, w in edges)
    (home / "today.csv").write_text("tail,head,weight\n" + today)
    body = "".join(f"{line},{k}\n" for k in range(6) for line in today.splitlines())
    (home / "times.csv").write_text("tail,head,weight,snapshot\n" + body)
    arcs = "".join(f"a {u + 1} {v + 1} 7\n" for u, v, _ in edges)
    (home / "x.gr").write_text(f"p sp {graph.n} {graph.m}\n" + arcs)
    folder, model, mean, out = home / "set", home / "model.npz", home / "mean.npz", home / "out"
    some = ",".join(str(v) for v in range(0, graph.n, max(1, graph.n // 300)))
    with_today: list[object] = [folder, "--weights", home / "today.csv"]
    return {
        "import table": ["import", home / "times.csv", "-o", out, "--goal", "0", "-n", "3000"],
        "import dimacs": ["import", home / "x.gr", "-o", out, "--goal", "1", "-n", "3000"],
        "info": ["info", folder],
        "advise": ["advise", folder, "--queries", "50"],
        "learn": ["learn", folder, "-o", out, "--mean-excess", "1%"],
        "learn exact": ["learn", folder, "-o", out],
        "route": ["route", *with_today, "--from", "0", "--to", str(graph.n - 1)],
        "matrix": ["matrix", *with_today, "--from", some, "--to", some],
        "within": ["within", *with_today, "--from", "0", "--max-cost", "1e9"],
        "evaluate": ["evaluate", folder, "-m", model],
        "audit": ["audit", folder, "-m", mean],
        "certify": ["certify", folder, "-m", model, "-u", "suboptimality", "-H", "10"],
        "certify training": ["certify", folder, "-m", mean, "-u", "expansions", "-H", "1000", "--training"],
        "bounds": ["bounds", "-n", "100000", "--epsilon", "0.1"],
        "report": ["report", folder, "-m", model, "-o", out],
        "demo": ["demo", "-o", out],
        "theory shatter": ["theory", "shatter", "-n", "12"],
        "theory growth": ["theory", "growth", "-n", "9"],
        "theory dual": ["theory", "dual", folder, "-m", mean],
        "theory atlas": ["theory", "atlas"],
    }


def known(group: Any = None, before: str = "") -> set[str]:
    """Return all commands that there are."""
    found: set[str] = set()
    for name, command in (get_command(app) if group is None else group).commands.items():
        found |= known(command, f"{name} ") if hasattr(command, "commands") else {before + name}
    return found


class Child:
    """A command, started."""

    def __init__(self, words: list[object], home: Path) -> None:
        command = [sys.executable, "-c", START, *map(str, words)]
        environment = os.environ | {"TMPDIR": str(home / "temporary")}
        self.child = psutil.Popen(
            command, cwd=home, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.spent = 0.0

    def runs_until(self, seconds: float) -> bool:
        """Return whether it has computed for so long and still runs."""
        with suppress(psutil.Error):
            while self.child.status() != psutil.STATUS_ZOMBIE:
                self.spent = sum(self.child.cpu_times()[:2])
                if self.spent >= seconds:
                    return True
                time.sleep(0.005)
        return False

    def end(self) -> tuple[float, str]:
        """Wait, and return the seconds that it has computed for, and what it printed."""
        out = self.child.stdout.read()
        _, status, usage = os.wait4(self.child.pid, 0)
        self.child.returncode = os.waitstatus_to_exitcode(status)
        return usage.ru_utime + usage.ru_stime, out


def clean(home: Path) -> None:
    subprocess.run(["rm", "-rf", home / "out", home / "temporary"], check=True)
    (home / "temporary").mkdir()


def interrupt(name: str, words: list[object], home: Path, points: int, startup: float) -> tuple[int, float]:
    """Return how many moments were tried, and the longest time to the end."""
    clean(home)
    whole = Child(words, home)
    total, out = whole.end()
    assert whole.child.returncode == 0, f"{name}: {out[-2000:]}"
    worst, tried = 0.0, 0
    for k in range(points):
        clean(home)
        kept = sorted(home.iterdir())
        child = Child(words, home)
        if not child.runs_until(startup + (total - startup) * (k + 0.5) / points):
            child.end()
            continue
        child.child.send_signal(signal.SIGINT)
        spent, out = child.end()
        what = f"{name}, interrupted after {child.spent:.2f} of {total:.2f} s"
        worst, tried = max(worst, spent - child.spent), tried + 1
        assert spent - child.spent <= MOST, f"{what}: went on for {spent - child.spent:.2f} s"
        if child.child.returncode != 0:  # else it was done
            assert child.child.returncode == 130, f"{what}: exit {child.child.returncode}: {out[-2000:]}"
            assert out.endswith("rhostar: interrupted\n"), f"{what}: {out[-2000:]}"
            assert sorted(home.iterdir()) == kept, f"{what}: files are left"
            assert list((home / "temporary").iterdir()) == [], f"{what}: temporary files are left"
    return tried, worst


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=8, help="moments for each command")
    parser.add_argument("--size", type=int, default=150, help="the side of the grid that commands work on")
    parser.add_argument("--only", nargs="*", default=[], help="words in the names of commands")
    options = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)
    bad = moments = 0
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        commands = prepare(home, options.size)
        tried = {" ".join(map(str, words[: 1 + (words[0] == "theory")])) for words in commands.values()}
        assert tried == known(), f"not every command is interrupted: {tried ^ known()}"
        clean(home)
        startup, _ = Child(["--version"], home).end()
        for name, words in commands.items():
            if options.only and not any(word in name for word in options.only):
                continue
            try:
                tried, worst = interrupt(name, words, home, options.points, startup)
            except AssertionError as error:
                print(f"FAILED {error}")
                bad += 1
            else:
                moments += tried
                print(f"{name}: {tried} interrupts, at most {worst:.2f} s to the end")
    print(f"{moments} interrupts, {bad} commands failed")
    return min(bad, 100)


if __name__ == "__main__":
    sys.exit(main())
