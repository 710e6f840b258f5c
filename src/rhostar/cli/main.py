"""The entry point of the program; prints errors on one line and returns the exit code."""

from __future__ import annotations

import os
import sys
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated, Any

import typer

from rhostar.cli._app import app
from rhostar.cli._output import BAD_INPUT, INTERRUPTED, OK, WIDTH
from rhostar.errors import RhostarError, RhostarWarning, StoppedError

# isort: off
from rhostar.cli import (  # noqa: F401
    # One line for each command, in the order of the help page.
    _demo,
    _import,
    _info,
    _route,
    _learn,
    _evaluate,
    _certify,
    _audit,
    _report,
    _advise,
    _bounds,
)

# isort: on

# Nothing imports `theory`, and the library may be built without it. Where it is there, it adds its own commands.
try:
    import_module("rhostar.theory._commands")
except ModuleNotFoundError as missing:
    if not str(missing.name).startswith("rhostar.theory"):
        raise


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(f"rhostar {version('rhostar')}")
        raise typer.Exit


@app.callback()
def _options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    if debug:
        os.environ["RHOSTAR_DEBUG"] = "1"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments
        What follows the program's name; None takes ``sys.argv[1:]``.

    Returns
    -------
    int
        The exit code.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given or bool(os.environ.get("RHOSTAR_DEBUG"))
    # --debug may be given anywhere.
    given = [word for word in given if word != "--debug"]
    try:
        with _notes():
            result: Any = app(args=given, prog_name="rhostar", standalone_mode=False)
        sys.stdout.flush()
        if result == INTERRUPTED:  # the parser caught the interrupt first
            return _complain("interrupted", INTERRUPTED)
        return result if isinstance(result, int) else OK
    except (KeyboardInterrupt, typer.Abort):
        if debug:
            raise
        return _complain("interrupted", INTERRUPTED)
    except (BrokenPipeError, SystemExit) as error:  # the reader of our output has closed the pipe
        # If every print is flushed, the parser catches it first and exits with 1, which means "no path" here.
        if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except Exception as error:
        if debug:
            raise
        if hasattr(error, "format_message"):  # wrong options
            if type(error).__name__ == "NoArgsIsHelpError":
                print(error.format_message())
                return OK
            context = getattr(error, "ctx", None)
            hint = f" (see {context.command_path} --help)" if context is not None else ""
            return _complain(f"{error.format_message()}{hint}", BAD_INPUT)

        if isinstance(error, StoppedError):
            return _complain("interrupted", INTERRUPTED)
        if isinstance(error, RhostarError | OSError):
            return _complain(str(error), BAD_INPUT)
        if isinstance(error, MemoryError):
            return _complain("out of memory", BAD_INPUT)
        return _complain(f"{type(error).__name__}: {error} (a bug: please report it with --debug)", BAD_INPUT)


@contextmanager
def _notes() -> Iterator[None]:
    """Print our warnings as notes, each once; where in the code they were raised does not help users of the program."""
    with warnings.catch_warnings():
        usual = warnings.showwarning
        shown: set[str] = set()

        def show(message: Any, category: type[Warning], *where: Any, **options: Any) -> None:
            if issubclass(category, RhostarWarning):
                if str(message) in shown:
                    return
                shown.add(str(message))
                print(textwrap.fill(f"note: {message}", WIDTH, break_long_words=False), file=sys.stderr)
            else:
                usual(message, category, *where, **options)

        warnings.showwarning = show
        warnings.simplefilter("always", RhostarWarning)
        yield


def _complain(what: str, code: int) -> int:
    """Print one line; on a terminal as many as it takes."""
    line = f"rhostar: {' '.join(what.split())}"
    print(textwrap.fill(line, WIDTH, break_long_words=False) if sys.stderr.isatty() else line, file=sys.stderr)
    return code


def run() -> None:
    """Run the program ``rhostar`` and exit."""
    sys.exit(main())
