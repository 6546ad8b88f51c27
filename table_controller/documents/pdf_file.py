"""Writes a document as a PDF file, US Letter. The same document gives the same bytes.

Fonts are two of those that every reader of PDF has, so the file contains none. A character that they do not have is
written as its number, such as \\u0141.
"""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Final

import pydyf

if TYPE_CHECKING:
    from table_controller.documents.document import Document, DocumentSection, DocumentTable

# Points (1/72 inch): the sheet, its margins, and the sizes of text.
_WIDTH, _HEIGHT = 612, 792
_LEFT, _TOP, _BOTTOM = 43, 750, 40
_ACROSS: Final = _WIDTH - 2 * _LEFT
_TITLE, _HEADING, _TEXT, _CELL, _SMALL = 17.0, 10.5, 9.0, 8.0, 6.9
_LEADING: Final = 1.28
_GAP: Final = 9.0  # between sections
_LABEL_WIDTH: Final = 150.0
_CELL_GAP: Final = 8.0
_SIGNATURE: Final = 26.0
_PLAIN, _BOLD = "F1", "F2"
# Advance widths of Helvetica for the characters from the space on (thousandths of the size); others count as a digit.
_WIDTHS: Final = (
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
    556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
    333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
    556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
)  # fmt: skip
_OTHER: Final = 556
_BOLDER: Final = 1.08


def render_pdf(document: Document) -> bytes:
    """Return the document as a PDF file."""
    sheets = _Sheets()
    sheets.text(document.title, _TITLE, font=_BOLD)
    sheets.text(document.subject, _HEADING, font=_BOLD)
    sheets.text(document.place, _TEXT)
    for section in document.sections:
        _draw_section(sheets, section)
    sheets.space(_GAP)
    for note in document.notes:
        sheets.text(note, _CELL)
    _draw_signatures(sheets, document.signatures)
    sheets.space(_GAP)
    sheets.rule()
    for sentence in document.proof:
        sheets.text(sentence, _SMALL)
    return sheets.write(f"{document.title}: {document.subject}")


def _encode(text: str) -> bytes:
    return text.encode("cp1252", "backslashreplace")


def text_width(text: str, size: float, font: str = _PLAIN) -> float:
    """Return the width of a text in points."""
    codes = (code - 32 for code in _encode(text))
    total = sum(_WIDTHS[code] if 0 <= code < len(_WIDTHS) else _OTHER for code in codes)
    return total * size / 1000 * (_BOLDER if font == _BOLD else 1.0)


def wrap(text: str, width: float, size: float, font: str = _PLAIN) -> list[str]:
    """Return a text as lines no wider than `width`; a longer word is cut."""
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        joined = f"{line} {word}" if line else word
        if text_width(joined, size, font) <= width:
            line = joined
            continue
        if line:
            lines.append(line)
        line = word
        while text_width(line, size, font) > width and len(line) > 1:
            fits = next(n for n in range(len(line), 0, -1) if n == 1 or text_width(line[:n], size, font) <= width)
            lines.append(line[:fits])
            line = line[fits:]
    return [*lines, line]


class _Sheets:
    """The sheets of one file, and the place on the last one where the next line goes."""

    def __init__(self) -> None:
        self._streams: list[pydyf.Stream] = []
        self.y = 0.0
        self._next()

    def _next(self) -> None:
        self._streams.append(pydyf.Stream())
        self.y = float(_TOP)

    def need(self, height: float) -> None:
        """Begin a new sheet if this one has no room for `height`."""
        if self.y - height < _BOTTOM:
            self._next()

    def space(self, height: float) -> None:
        """Leave a gap."""
        self.y -= height

    def put(self, x: float, y: float, text: str, size: float, font: str = _PLAIN) -> None:
        """Write one line at a place of this sheet."""
        stream = self._streams[-1]
        stream.begin_text()
        stream.set_font_size(font, size)
        stream.move_text_to(round(x, 2), round(y, 2))
        stream.show_text_string(_encode(text))
        stream.end_text()

    def text(self, text: str, size: float, *, font: str = _PLAIN) -> None:
        """Write a text over the width of the sheet."""
        for line in wrap(text, _ACROSS, size, font):
            self.need(size * _LEADING)
            self.y -= size * _LEADING
            self.put(_LEFT, self.y, line, size, font)

    def rule(self, x: float = _LEFT, width: float = _ACROSS) -> None:
        """Draw a thin line below the text."""
        stream = self._streams[-1]
        stream.set_line_width(0.5)
        stream.move_to(round(x, 2), round(self.y - 2, 2))
        stream.line_to(round(x + width, 2), round(self.y - 2, 2))
        stream.stroke()
        self.y -= 3

    def columns(self, cells: list[list[str]], widths: list[float], size: float, font: str = _PLAIN) -> None:
        """Write one row of wrapped cells side by side."""
        high = max(len(lines) for lines in cells) * size * _LEADING
        self.need(high)
        x = float(_LEFT)
        for lines, width in zip(cells, widths, strict=True):
            for number, line in enumerate(lines, 1):
                self.put(x, self.y - number * size * _LEADING, line, size, font)
            x += width + _CELL_GAP
        self.y -= high

    def write(self, title: str) -> bytes:
        """Return the file. It has no date and no identifier, so that equal documents are equal files."""
        pdf = pydyf.PDF()
        pdf.info["Title"] = pydyf.String(title)
        pdf.info["Producer"] = pydyf.String("pitbox")
        fonts = pydyf.Dictionary({_PLAIN: _font(pdf, "Helvetica"), _BOLD: _font(pdf, "Helvetica-Bold")})
        for number, stream in enumerate(self._streams, 1):
            if len(self._streams) > 1:
                self._number(stream, number)
            pdf.add_object(stream)
            pdf.add_page(pydyf.Dictionary({
                "Type": "/Page", "Parent": pdf.pages.reference, "Contents": stream.reference,
                "MediaBox": pydyf.Array([0, 0, _WIDTH, _HEIGHT]), "Resources": pydyf.Dictionary({"Font": fonts}),
            }))  # fmt: skip
        output = BytesIO()
        pdf.write(output)
        return output.getvalue()

    def _number(self, stream: pydyf.Stream, number: int) -> None:
        stream.begin_text()
        stream.set_font_size(_PLAIN, _SMALL)
        stream.move_text_to(_WIDTH - _LEFT - 40, 24)
        stream.show_text_string(_encode(f"{number} of {len(self._streams)}"))
        stream.end_text()


def _font(pdf: pydyf.PDF, name: str) -> bytes:
    font = pydyf.Dictionary(
        {"Type": "/Font", "Subtype": "/Type1", "BaseFont": f"/{name}", "Encoding": "/WinAnsiEncoding"}
    )
    pdf.add_object(font)
    reference: bytes = font.reference
    return reference


def _draw_section(sheets: _Sheets, section: DocumentSection) -> None:
    if not (section.facts or section.table is not None or section.sentences):
        return
    sheets.space(_GAP)
    sheets.need(_HEADING * 3)
    sheets.text(section.title, _HEADING, font=_BOLD)
    sheets.rule()
    labels = [_LABEL_WIDTH, _ACROSS - _LABEL_WIDTH - _CELL_GAP]
    for fact in section.facts:
        sheets.columns([wrap(fact.label, labels[0], _TEXT), wrap(fact.text, labels[1], _TEXT)], labels, _TEXT)
    if section.table is not None:
        _draw_table(sheets, section.table)
    for sentence in section.sentences:
        sheets.text(sentence, _TEXT)


def _draw_table(sheets: _Sheets, table: DocumentTable) -> None:
    widths = _column_widths(table)
    heads = [wrap(text, width, _CELL, _BOLD) for text, width in zip(table.columns, widths, strict=True)]
    sheets.columns(heads, widths, _CELL, _BOLD)
    for row in table.rows:
        sheets.columns([wrap(text, width, _CELL) for text, width in zip(row, widths, strict=True)], widths, _CELL)


def _column_widths(table: DocumentTable) -> list[float]:
    """Return the width of each column: as wide as its text; the widest ones give way until the sheet has room."""
    room = _ACROSS - _CELL_GAP * (len(table.columns) - 1)
    widths = [
        max([text_width(title, _CELL, _BOLD), *(text_width(row[column], _CELL) for row in table.rows)]) + 1
        for column, title in enumerate(table.columns)
    ]
    while sum(widths) > room:
        widest = max(widths)
        at = widths.index(widest)
        second = max([width for index, width in enumerate(widths) if index != at], default=0.0)
        widths[at] = max(room - (sum(widths) - widest), min(second, widest * 0.9), 30.0)
    return widths


def _draw_signatures(sheets: _Sheets, signatures: tuple[str, ...]) -> None:
    if not signatures:
        return
    sheets.need(_SIGNATURE + _CELL * 2)
    sheets.space(_SIGNATURE)
    wide = _ACROSS / len(signatures) - _CELL_GAP
    at = sheets.y
    for index, name in enumerate(signatures):
        sheets.y = at
        x = _LEFT + index * (wide + _CELL_GAP)
        sheets.rule(x, wide)
        sheets.put(x, sheets.y - _CELL * _LEADING, name, _CELL)
    sheets.y -= _CELL * _LEADING
