"""The directive ``command-line``: every command of the program ``rhostar``, with its arguments and options."""

import re

import click
import typer.main
from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

from rhostar.cli import main
from rhostar.cli._app import app as program


class CommandLine(Directive):
    """Make one section for each command, from the same texts as ``rhostar COMMAND --help``."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        assert main.app is program  # it registers all commands
        group = typer.main.get_command(program)
        return list(_sections(click.Context(group, info_name="rhostar"), group))


def _sections(context: click.Context, group: click.Group):
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        inner = click.Context(command, info_name=name, parent=context)
        if isinstance(command, click.Group):
            yield from _sections(inner, command)
            continue
        path = inner.command_path
        section = nodes.section(ids=[nodes.make_id(path)])
        section += nodes.title("", path)
        usage = " ".join([path, *command.collect_usage_pieces(inner)])
        blocks = [nodes.literal_block(usage, usage, language="text")]
        for paragraph in (command.help or "").split("\n\n"):
            text = " ".join(paragraph.split())
            if text.startswith("Example: "):
                example = text.removeprefix("Example: ")
                blocks += [nodes.paragraph("", "Example:"), nodes.literal_block(example, example, language="sh")]
            else:
                section += _paragraph(text)
        section += blocks
        rows = [record for parameter in command.get_params(inner) if (record := _row(parameter, inner))]
        section += _table(rows)
        yield section


def _row(parameter: click.Parameter, context: click.Context) -> tuple[str, str] | None:
    if isinstance(parameter, click.Argument):
        return parameter.make_metavar(context), getattr(parameter, "help", None) or ""
    return parameter.get_help_record(context)


def _paragraph(text: str) -> nodes.paragraph:
    """Return a text with its options, JSON and what is in backquotes as code: two hyphens are not a dash."""
    parts = re.split(r"(`[^`]+`|\{\".*?\}|(?<!\S)--?[a-z][\w-]*(?: \w+=[\w.]*\w)?)", text)
    return nodes.paragraph(
        "", "", *[nodes.literal("", part.strip("`")) if at % 2 else nodes.Text(part) for at, part in enumerate(parts)]
    )


def _table(rows: list[tuple[str, str]]) -> nodes.table:
    table = nodes.table(classes=["summary"])
    group = nodes.tgroup(cols=2)
    group += [nodes.colspec(colwidth=35), nodes.colspec(colwidth=65)]
    body = nodes.tbody()
    for name, text in rows:
        row = nodes.row()
        row += nodes.entry("", nodes.paragraph("", "", nodes.literal("", name)))
        row += nodes.entry("", _paragraph(text))
        body += row
    group += body
    table += group
    return table


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the directive known."""
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
