"""Check that the version in the source is ready for release, then tag it. Nothing is pushed.

``python tools/release.py --dry-run`` reports what is ready and what is missing, and changes nothing. Without the option
the script goes on, if all is well, to ``make test``, ``make wheel`` and ``make docs``, and then adds the annotated tag.
"""

from __future__ import annotations

import argparse
import datetime
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BRANCH = "main"
TARGETS = ("test", "wheel", "docs")


class NotReadyError(Exception):
    """Something speaks against the release; the message says what."""


def version(root: Path = ROOT) -> str:
    """Return the version in ``src/rhostar/__init__.py``, the only place that sets it.

    Raises
    ------
    NotReadyError
        If it is not of the form 1.2.3.
    """
    text = (root / "src" / "rhostar" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.*)"$', text, flags=re.MULTILINE)
    if found is None or not re.fullmatch(r"\d+\.\d+\.\d+", found[1]):
        raise NotReadyError("src/rhostar/__init__.py: __version__ must be of the form 1.2.3")
    return found[1]


def release_date(root: Path = ROOT) -> str:
    """Return the date of the newest heading in the changelog, which must be ``## version (date)``.

    Raises
    ------
    NotReadyError
        If the heading names another version or no valid date.
    """
    wanted = version(root)
    heading = re.search(r"^## (.*)$", (root / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    text = heading[1].strip() if heading else "nothing"
    found = re.fullmatch(r"(\S+) \((\d{4}-\d\d-\d\d)\)", text)
    if found is None or found[1] != wanted:
        raise NotReadyError(f'CHANGELOG.md: the newest heading must be "## {wanted} (YYYY-MM-DD)", it is "{text}"')
    try:
        datetime.date.fromisoformat(found[2])
    except ValueError as error:
        raise NotReadyError(f"CHANGELOG.md: {found[2]} is no date") from error
    return found[2]


def check_version(root: Path) -> str:
    """Report the version."""
    return f"the version is {version(root)}"


def check_branch(root: Path) -> str:
    """Report that the release branch is checked out."""
    branch = _git(root, "rev-parse", "--abbrev-ref", "HEAD")
    if branch != BRANCH:
        raise NotReadyError(f"the branch must be {BRANCH}, it is {branch}")
    return f"the branch is {BRANCH}"


def check_tree(root: Path) -> str:
    """Report that everything is committed."""
    changed = _git(root, "status", "--porcelain").splitlines()
    if changed:
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        raise NotReadyError(f"not committed: {changed[0].split(maxsplit=1)[1]}{more}")
    return "everything is committed"


def check_tag(root: Path) -> str:
    """Report that the tag is still free."""
    tag = f"v{version(root)}"
    if _git(root, "tag", "--list", tag):
        raise NotReadyError(f"the tag {tag} is already there: raise __version__ in src/rhostar/__init__.py")
    return f"the tag {tag} is free"


def check_changelog(root: Path) -> str:
    """Report that the changelog has the version with a date."""
    return f"the changelog has the version, dated {release_date(root)}"


def check_citation(root: Path) -> str:
    """Report that CITATION.cff has the version and the date of the changelog."""
    text = (root / "CITATION.cff").read_text(encoding="utf-8")
    for line in (f"version: {version(root)}", f"date-released: {release_date(root)}"):
        if line not in text.splitlines():
            raise NotReadyError(f'CITATION.cff: there is no line "{line}"')
    return "CITATION.cff has the version and its date"


CHECKS: Sequence[Callable[[Path], str]] = (
    check_version,
    check_branch,
    check_tree,
    check_tag,
    check_changelog,
    check_citation,
)


def report(root: Path = ROOT) -> bool:
    """Print the result of every check and return whether all passed."""
    problems: list[str] = []
    for check in CHECKS:
        try:
            print(f"ok       {check(root)}", flush=True)
        except (NotReadyError, OSError) as error:
            # Several checks need the version or the date: say only once what is wrong with it.
            if str(error) not in problems:
                print(f"MISSING  {error}", flush=True)
            problems.append(str(error))
    return not problems


def release(root: Path = ROOT) -> None:
    """Run the slow checks on the current commit and tag it.

    Raises
    ------
    NotReadyError
        If a target of make fails, or the files changed meanwhile.
    """
    commit, tag = _git(root, "rev-parse", "HEAD"), f"v{version(root)}"
    for target in TARGETS:
        print(f"running  make {target}", flush=True)
        if subprocess.run(["make", target], cwd=root, check=False).returncode:
            raise NotReadyError(f"make {target} failed")
    check_tree(root)
    if _git(root, "rev-parse", "HEAD") != commit:
        raise NotReadyError("there are new commits since the checks began")
    _git(root, "tag", "--annotate", "--message", f"rhostar {version(root)}", tag, commit)
    print(f"tagged   {tag}; to publish it: git push origin {tag}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the script; return 0 if the version is tagged, or could be with ``--dry-run``, and 1 if not."""
    parser = argparse.ArgumentParser(description="Check that the version is ready, then tag it. Nothing is pushed.")
    parser.add_argument("--dry-run", action="store_true", help="only report; run no tests, tag nothing")
    options = parser.parse_args(arguments)
    if not report():
        print("Not ready for release.")
        return 1
    if options.dry_run:
        print(f"Would run make {', make '.join(TARGETS)} and then tag v{version()}.")
        return 0
    try:
        release()
    except NotReadyError as error:
        print(f"MISSING  {error}")
        print("Not released.")
        return 1
    return 0


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotReadyError(f"git {arguments[0]} failed: {done.stderr.strip()}")
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
