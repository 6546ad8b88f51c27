"""The picture of the table of a running box."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from table_controller.controller.box import Box
    from table_controller.picture.types import TablePicture


def picture_of(box: Box) -> TablePicture:
    """Return the picture of the table of a box that is not locked."""
    table = box.pictures.table()
    assert table is not None
    return table
