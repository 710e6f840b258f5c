"""Shows which lines of the compiled core no test has reached, from the counts of a build for gcov.

``make coverage`` runs it. A header is compiled into several files and instantiated for several types: a line counts as
reached if it is in any of them. Asserts, which such a build leaves out, are not lines.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CORE = ROOT / "src" / "core"


def counts(build: Path) -> dict[Path, dict[int, int]]:
    """Return how often each line of each file of the core was run."""
    found: dict[Path, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    tool = os.environ.get("GCOV", "gcov")
    for notes in sorted(build.rglob("*.gcno")):
        command = [tool, "--json-format", "--stdout", str(notes)]
        text = subprocess.run(command, capture_output=True, text=True, check=True, cwd=build).stdout
        for line in text.splitlines():
            unit = json.loads(line)
            for file in unit["files"]:
                path = Path(unit["current_working_directory"], file["file"]).resolve()
                if path.is_relative_to(CORE):
                    for one in file["lines"]:
                        found[path][one["line_number"]] += one["count"]
    return found


def ranges(numbers: list[int]) -> str:
    """Return numbers as a text such as 3-5, 9."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def main() -> int:
    """Print a row for each file, and the lines that were not reached."""
    found = counts(Path(sys.argv[1]).resolve())
    if not found:
        print("no counts: was the core built with RHOSTAR_COVERAGE=ON, and did a test run?")
        return 1
    reached = total = 0
    for path, lines in sorted(found.items()):
        missed = sorted(number for number, count in lines.items() if count == 0)
        reached, total = reached + len(lines) - len(missed), total + len(lines)
        if missed:
            share = 100 * (1 - len(missed) / len(lines))
            print(f"{path.relative_to(ROOT)}: {share:.1f} % of {len(lines)} lines, not {ranges(missed)}")
    print(f"src/core: {reached} of {total} lines reached ({100 * reached / total:.2f} %)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
