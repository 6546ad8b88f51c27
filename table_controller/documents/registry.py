"""All kinds of documents, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import NoSuchDocument
from table_controller.documents.kinds.deck_check import DECK_CHECK
from table_controller.documents.kinds.deck_receipt import DECK_RECEIPT
from table_controller.documents.kinds.dice import DICE
from table_controller.documents.kinds.hand_pay import HAND_PAY
from table_controller.documents.kinds.incident import INCIDENT
from table_controller.documents.kinds.last_hits import LAST_HITS
from table_controller.documents.kinds.service_log import SERVICE_LOG

if TYPE_CHECKING:
    from table_controller.documents.search import DocumentKind

DOCUMENTS: Final[dict[str, DocumentKind]] = {
    kind.name: kind for kind in (HAND_PAY, DECK_RECEIPT, DECK_CHECK, DICE, SERVICE_LOG, INCIDENT, LAST_HITS)
}


def kind_named(name: str) -> DocumentKind:
    """Return the kind of document of this name; NoSuchDocument names all of them."""
    kind = DOCUMENTS.get(name)
    if kind is None:
        raise NoSuchDocument(f"there is no document {name!r}; there are {', '.join(DOCUMENTS)}")
    return kind
