"""Changes a credential through a running box: checks the right to do so, writes the people file, then the journal."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from firmware_bridge.errors import BadRequest, ChangeNotAuthorized
from table_controller.access import people_file
from table_controller.access.people_authority import change_credential, has_authority

if TYPE_CHECKING:
    from table_controller.access.people_file import CredentialHolder
    from table_controller.access.requests import PeopleRequest
    from table_controller.controller.box import Box


async def change_credential_by_request(
    box: Box, request: PeopleRequest, by: CredentialHolder | None, uid: int
) -> dict[str, Any]:
    """Carry out a change and return the credential. The change is in the journal when this returns."""
    path = box.plan.people.path
    box.running_controller()
    if path is None or box.credentials is None:
        raise BadRequest("this box has no people file")
    is_set_up = path.exists() and has_authority(box.plan.people.read().people)
    if by is None and is_set_up:
        raise ChangeNotAuthorized("this table has an auditor, who must sign for every change: use --as")
    if not is_set_up and uid not in (0, os.geteuid()):  # nobody can sign for a change yet
        raise ChangeNotAuthorized("this table has no auditor: root or the user of the box must add the first one")
    author = people_file.Author(by, people_file.user_name(uid))
    changed = await box.run_in_thread(
        lambda: change_credential(
            path, request.change, request.credential, author, role=request.role, person=request.person, pin=request.pin
        )
    )
    await box.credentials.compare_and_drop()
    return {"credential": changed.id, "role": changed.role, "person": changed.person, "revoked": changed.revoked}
