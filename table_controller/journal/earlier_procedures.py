"""Reads returns to service in states of record versions 1 and 2, which had only the next step, as text."""

from __future__ import annotations

from typing import Any, Final

# How test mode without a fault report was written: its step, with the mode to restore as the last word.
_TEST: Final = "test:"
_MODE: Final = "; it goes back to mode "


def renew_procedures(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state, as plain data, in which each return to service is a typed procedure.

    Test mode continues. An open procedure begins again from its fault report, at the first step: the state does not
    have the evidence of the steps before the next one.
    """
    slots = {
        name: slot | {"return_procedure": _typed(slot["return_procedure"])} if slot.get("return_procedure") else slot
        for name, slot in state["slots"].items()
    }
    return state | {"slots": slots}


def _typed(procedure: dict[str, Any]) -> dict[str, Any]:
    if "type" in procedure:
        return procedure
    step = procedure["step"]
    if step.startswith(_TEST):
        return {"type": "TestMode", "technician": "", "mode": step.partition(_MODE)[2]}
    return {"type": "FaultRecording", "what": "", "at_ns": 0, "fault_report": procedure["fault_report"]}
