"""Who may change the credentials of a table.

An auditor adds, changes and revokes credentials, because auditors do not deal, handle money or clear faults. A
floorperson may revoke, because a lost badge cannot wait. Everybody may change their own PIN. While a table has no
auditor, every user who can write the people file may do all of this.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from firmware_bridge.errors import BadCredential, ChangeNotAuthorized
from table_controller.access import people_file as file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from table_controller.access.people_file import Author, ChangeKind, Credential, CredentialHolder

Verb = Literal["add", "pin", "revoke"]
_WHAT: Final[dict[Verb, ChangeKind]] = {"add": "added", "pin": "pin_changed", "revoke": "revoked"}
AUTHORITY: Final = "auditor"
_REVOKERS: Final = (AUTHORITY, "floorperson")


def has_authority(people: Mapping[str, Credential]) -> bool:
    """Return whether the table has an auditor, who must then authorize every change."""
    return any(each.role == AUTHORITY and not each.revoked for each in people.values())


def authorize(people: Mapping[str, Credential], what: ChangeKind, id_: str, by: CredentialHolder | None) -> None:
    """Raise ChangeNotAuthorized unless `by` may make this change; raise BadCredential for the last auditor."""
    if not has_authority(people):
        return
    old = people.get(id_.casefold())
    if by is None:
        raise ChangeNotAuthorized(f"an auditor must sign for the change of {id_}: use --as")
    known = people.get(by.id.casefold())
    if known is None or known.revoked or known.role != by.role:
        raise ChangeNotAuthorized(f"the credential {by.id} was revoked or changed in the meantime")
    if not _may(what, old, by):
        raise ChangeNotAuthorized(f"{by.id} is {by.role}: {_WHO[what]}")
    if what == "revoked" and old is not None and old.role == AUTHORITY and not old.revoked:
        others = {key: each for key, each in people.items() if key != id_.casefold()}
        if not has_authority(others):
            raise BadCredential(f"{old.id} is the last auditor; add another one first")


_WHO: Final[dict[str, str]] = {
    "added": "only an auditor may add credentials",
    "pin_changed": "only an auditor or the holder of the credential may change its PIN",
    "revoked": "an auditor may revoke any credential, a floorperson any except an auditor's",
}


def _may(what: ChangeKind, old: Credential | None, by: CredentialHolder) -> bool:
    if what == "pin_changed" and old is not None and old.id == by.id:
        return True
    if what == "revoked":
        return by.role == AUTHORITY or (by.role in _REVOKERS and (old is None or old.role != AUTHORITY))
    return by.role == AUTHORITY


def change_credential(
    path: Path, verb: Verb, id_: str, author: Author, *, role: str = "", person: str | None = None, pin: str = ""
) -> Credential:
    """Change the people file if the author may do it; otherwise raise and change nothing."""
    allowed = partial(authorize, what=_WHAT[verb], id_=id_, by=author.who)
    if verb == "add":
        return file.add_credential(path, id_, role, pin, person=person, author=author, allowed=allowed)
    if verb == "pin":
        return file.set_pin(path, id_, pin, author=author, allowed=allowed)
    return file.revoke_credential(path, id_, author=author, allowed=allowed)
