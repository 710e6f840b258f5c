"""Reads damaged files of every format: each must be read, or refused with an error of rhostar, within memory and time.

``make fuzz`` runs 5,000 cases of each format. A case is made from its number, so a failure can be looked at again:
``python tools/fuzz.py --only map --first 123 --count 1``. The formats and ways to damage them are in ``tests/support``,
and so are the cases in which two implementations must agree, which are run the same way. Files that failed are kept in
``build/fuzz``: after mending the fault, move them to ``tests/faults/corpus``, which the tests replay.
"""

from __future__ import annotations

import argparse
import resource
import signal
import subprocess
import sys
import time
import traceback
import warnings
from pathlib import Path
from types import FrameType

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))


def main(argv: list[str] | None = None) -> int:
    """Run all formats, one process each, and return how many cases failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=5000, help="cases of each format")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", help="some formats")
    parser.add_argument("--megabytes", type=int, default=512, help="memory that reading may take")
    parser.add_argument("--seconds", type=float, default=20.0, help="time that one case may take")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    from support.differential import DIFFERENTIAL
    from support.fuzz_targets import TARGETS

    names = options.only or [*TARGETS, *DIFFERENTIAL]
    if options.inside:
        return _run(names[0], options)
    failed = 0
    for name in names:
        inner = [sys.executable, __file__, "--inside", "--only", name]
        for option in ("count", "first", "seed", "megabytes", "seconds"):
            inner += [f"--{option}", str(getattr(options, option))]
        status = subprocess.run(inner, check=False).returncode
        if status < 0 or status > 100:
            print(f"{name}: the process died with status {status}")
        failed += status != 0
    return failed


def _run(name: str, options: argparse.Namespace) -> int:
    """Run the cases of one format in this process and return how many failed, at most 100."""
    from support.differential import DIFFERENTIAL
    from support.fuzz_targets import Sound

    if name in DIFFERENTIAL:
        run = DIFFERENTIAL[name]
        run(0, options.seed)  # what is imported late is there
    else:
        sound = Sound(name)
        run = sound.run
        if not run(None):
            print(f"{name}: the files are refused before they are damaged")
            return 1
    before = _megabytes()
    _cap_memory(options.megabytes)
    signal.signal(signal.SIGALRM, _too_long)
    warnings.simplefilter("ignore")
    read = failed = 0
    slowest, begin = 0.0, time.perf_counter()
    for case in range(options.first, options.first + options.count):
        start = time.perf_counter()
        signal.setitimer(signal.ITIMER_REAL, options.seconds)
        try:
            read += run(case, options.seed) is True
        except Exception:
            failed += 1
            if failed <= 5:
                print(f"{name}, case {case}:\n{traceback.format_exc(limit=-4)}")
                if name not in DIFFERENTIAL:
                    sound.keep(case, options.seed, Path("build", "fuzz", name, f"{options.seed}-{case}"))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        slowest = max(slowest, time.perf_counter() - start)
    ends = "" if name in DIFFERENTIAL else f"{read} read, {options.count - read - failed} refused, "
    print(
        f"{name}: {options.count} cases, {ends}{failed} failed; "
        f"{_megabytes() - before} MB more than before, slowest {slowest:.2f} s, "
        f"{time.perf_counter() - begin:.0f} s in all",
        flush=True,
    )
    return min(failed, 100)


def _too_long(number: int, frame: FrameType | None) -> None:
    raise TimeoutError("the case took too long")


def _megabytes() -> int:
    """Return the most memory that this process has had in use."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _cap_memory(megabytes: int) -> None:
    """Let the process have this much more address space than it has now."""
    status = Path("/proc/self/status")
    if not status.exists():
        return
    now = next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmSize"))
    most = (now << 10) + (megabytes << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


if __name__ == "__main__":
    sys.exit(main())
