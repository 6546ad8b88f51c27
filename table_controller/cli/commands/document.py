"""`pitbox document`: prints a document from a journal, its copy or an export: as text, or as PDF or page with --out.

Only reads, with or without a running box.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import ConfigurationError, UsageError
from table_controller.cli import OK
from table_controller.cli.commands.faults import add_data_arguments, data_folder
from table_controller.cli.subcommands import Subcommands, run
from table_controller.documents.registry import DOCUMENTS
from table_controller.documents.search import Selection

if TYPE_CHECKING:
    import argparse

    from table_controller.documents.document import Document
    from table_controller.documents.search import DocumentKind

__all__ = ["EXAMPLE", "HELP", "add_arguments", "run"]

HELP = "print a slip, receipt, report or log from the journal, as text, PDF or HTML page"
EXAMPLE = "pitbox document hand-pay --slip 17 --out slip.pdf"

_FORMATS: Final = (".pdf", ".html", ".txt")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    add = Subcommands(parser, "document").add
    for kind in DOCUMENTS.values():
        example = f"{kind.name} --{kind.key} {_EXAMPLES[kind.key]}" if kind.key else kind.name
        command = add(kind.name, f"print {kind.about}", f"{example} --out {kind.name}.pdf", _print)
        command.set_defaults(kind=kind)
        if kind.key:
            command.add_argument(f"--{kind.key}", dest="key", default="", metavar=kind.key.upper(), help=kind.key_help)
        command.add_argument("--record", type=int, metavar="SEQ", help="the record that the document is about")
        command.add_argument(
            "--out", type=Path, metavar="FILE", help="write a file.pdf, file.html or file.txt instead of printing text"
        )
        add_data_arguments(command)


_EXAMPLES: Final = {"slip": "17", "hold": "12", "deck": "red"}


def _print(args: argparse.Namespace) -> int:
    from table_controller.documents.archive import read_document
    from table_controller.documents.plain_text import render_text

    kind: DocumentKind = args.kind
    if args.out is not None and args.out.suffix not in _FORMATS:
        raise UsageError(f"--out takes a file that ends in {', '.join(_FORMATS)}, not {args.out.name!r}")
    document = read_document(data_folder(args), kind, Selection(getattr(args, "key", ""), args.record))
    if args.out is None:
        print(render_text(document), end="")
        return OK
    try:
        args.out.write_bytes(_content(document, args.out.suffix))
    except OSError as error:
        raise ConfigurationError(f"{args.out}: {error.strerror}") from error
    print(f"{document.title}: {document.subject}, in {args.out}")
    return OK


def _content(document: Document, suffix: str) -> bytes:
    """Return the content of a file. The PDF library is only loaded when it is needed."""
    if suffix == ".pdf":
        from table_controller.documents.pdf_file import render_pdf

        return render_pdf(document)
    if suffix == ".html":
        from table_controller.documents.html_page import render_file

        return render_file(document).encode()
    from table_controller.documents.plain_text import render_text

    return render_text(document).encode()
