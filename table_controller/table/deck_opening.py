"""Opening a deck: from delivery to a stack that may be shuffled, and the same steps again after an idle table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.table import decks
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.signers import SIGNERS
from table_controller.table.state import GATE, TRAY, Deck

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.rulebook.schema import OpeningStep
    from table_controller.table.context import Context
    from table_controller.table.decisions import Prompt

_UNOPENED: Final = (mc.RECEIVED, mc.INSPECTED, mc.SHOWN)
# Asked of every deck, even a preshuffled one: its composition, and that its back color differs from the other deck's.
_COMPOSITION: Final = "composition"
# The last opening step that must be confirmed before each trigger of a deck.
_MOVED_BY: Final = (("verify_inspection", "inspect"), ("first_look", "show"), ("stack", "stack"))
_LOOKS: Final = (_COMPOSITION, "inspect", "verify_inspection")


def on_deck_received(c: Context, event: ev.DeckReceived) -> None:
    """A deck comes to the table: start its age timers and its opening."""
    if event.who.role not in SIGNERS[ev.DeckReceived]:
        c.refuse("only the dealer or a floorperson can add a deck")
        return
    color = decks.color_of(event.deck)
    if not color or "/" in event.deck or len(event.deck) > 32:
        c.refuse("name the deck by its back color")
        return
    alike = [deck for deck in c.state.decks.values() if decks.color_of(deck.name) == color]
    for deck in alike:
        if deck.state != mc.REMOVED:
            c.refuse(_same_color(c, event.deck, deck.name))
            return
        if c.is_held(deck=deck.name):
            c.refuse(f"an irregularity of the earlier deck {deck.name} is still open")
            return
    most = 2 if c.submission.two_decks else 1
    if len(c.decks_at_table()) >= most:
        c.refuse(f"this table plays with {most} deck{'s' * (most > 1)}")
        return
    c.state.decks[event.deck] = Deck(event.deck, preshuffled=event.preshuffled, two_jokers=event.two_jokers)
    c.state.book.receive(event.deck, c.edition.cards.count)
    for hours in sorted(set(c.edition.change_hours.values())):
        c.set_timer(decks.age_timer(event.deck, hours), hours * decks.HOUR_S)


def _same_color(c: Context, name: str, known: str) -> str:
    what = f"deck {name} is at the table already" if name == known else f"{name!r} has the back color of deck {known}"
    return f"{what}; two decks must differ by back color ({c.clause('colors')})"


def advance(c: Context) -> None:
    """Ask for the next step of every deck's opening."""
    for deck in c.state.decks.values():
        if deck.state in _UNOPENED and not c.is_held(deck=deck.name):
            _open(c, deck)


def _steps(c: Context, deck: Deck) -> list[OpeningStep]:
    """Return the opening steps of this deck; a preshuffled one skips some."""
    skipped = c.edition.preshuffled.skips if deck.preshuffled else ()
    return [
        step
        for step in c.edition.opening
        if step.name not in skipped and (step.when != "two_joker_pack" or deck.two_jokers)
    ]


def _open(c: Context, deck: Deck) -> None:
    """Ask for the next opening step, of each role that must confirm it."""
    if _COMPOSITION not in deck.confirmed:
        second = len(c.decks_at_table()) > 1
        clauses = c.clauses("composition") + (c.clauses("colors") + c.clauses("each_deck")) * second
        c.ask(f"opening/{_COMPOSITION}", "dealer", "whole", "not_whole", deck=deck.name, clauses=clauses)
        return
    for step in _steps(c, deck):
        missing = [role for role in step.who if f"{step.name}/{role}" not in deck.confirmed]
        for role in missing:
            asked = "dealer" if role == "first_player" else role  # the dealer enters the first player's answer
            idle = c.clauses("idle_machine" if c.state.shuffling == "machine" else "idle_hand") * deck.idle
            c.ask(
                f"opening/{step.name}/{role}",
                asked,
                *_choices(deck, step),
                deck=deck.name,
                clauses=(*idle, step.clause),
            )
        if missing:
            return
    if deck.preshuffled:
        deck.verified = True  # it was counted and sealed when it was preshuffled
        c.fire_deck(deck, "preshuffled")
        if c.state.dealing == "continuous_shuffler":
            c.fire_deck(deck, "take_out")  # a continuous shuffler takes stacks only


def _choices(deck: Deck, step: OpeningStep) -> tuple[str, ...]:
    """Return the answers to a step; at an idle table a deck is spread face down unless a player asks for face up."""
    if step.name in _LOOKS:
        return ("whole", "not_whole")
    return ("face_down", "face_up") if deck.idle and step.name == "spread" else ("done",)


def _opened(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    """Record a confirmed opening step, or remove a wrong deck."""
    deck = c.state.decks[prompt.deck or ""]
    if answer.choice == "not_whole":
        c.record_finding("not_whole", f"deck {deck.name} failed its inspection", deck.name)
        decks.remove(c, deck)
        return
    step = prompt.kind.removeprefix("opening/")
    deck.confirmed[step], deck.persons[step] = answer.who.credential, answer.who.identity
    done = {name.partition("/")[0] for name in deck.confirmed}
    for name, trigger in _MOVED_BY:
        if name in done and mc.can_fire(mc.DECK, deck, trigger) and not _still_asked(c, deck):
            deck.verified = (
                deck.verified or trigger == "inspect"
            )  # the inspection looks at every card; the spread does not
            deck.idle = deck.idle and trigger != "stack"
            c.fire_deck(deck, trigger)


def _still_asked(c: Context, deck: Deck) -> bool:
    return any(p.deck == deck.name and p.kind.startswith("opening/") for p in c.state.prompts.values())


def check_two_persons(c: Context, prompt: Prompt, answer: ev.Answer) -> str | None:
    """Return an objection if one person would confirm both as dealer and as floorperson."""
    deck = c.state.decks[prompt.deck or ""]
    role = prompt.kind.rpartition("/")[2]
    for name, credential in deck.confirmed.items():
        other = name.rpartition("/")[2]
        person = deck.persons.get(name, credential.casefold())
        if person == answer.who.identity and {role, other} == {"dealer", "floorperson"}:
            return f"the same person confirmed {name.partition('/')[0]} as {other}; another person must confirm this"
    return None


# --- an idle table ----------------------------------------------------------------------------------------------------


def begin_idle(c: Context) -> None:
    """The table is open without play: empty shoe and rack, and spread the cards for the first player."""
    for deck in c.decks_at_table():
        if deck.state in _UNOPENED or deck.state == mc.HELD:
            continue
        if c.is_inside_shuffler(deck):
            deck.look_due = True
        else:
            _spread(c, deck)
    c.state.first_seat = None
    c.state.begun = False


def _spread(c: Context, deck: Deck) -> None:
    """Spread a deck: its opening, or part of it, is repeated from there."""
    repeats = c.edition.idle.repeats
    decks.take_out_of_device(c, deck)
    c.fire_deck(deck, "open_again" if "inspect" in repeats else "spread")
    deck.confirmed = {step: by for step, by in deck.confirmed.items() if step.partition("/")[0] not in repeats}
    deck.preshuffled = deck.look_due = deck.ordered = False
    deck.idle = True
    if c.edition.idle.shuffler_keeps_stored and c.state.shuffling == "machine":
        deck.confirmed["wash/dealer"] = "shuffler"  # the shuffler replaces the wash (688a.5(g)(2))


def ask_stored_deck(c: Context) -> None:
    """After an idle table, show the deck in the shuffler to players; where allowed, only if a player asks."""
    for deck in c.state.decks.values():
        if not deck.look_due or deck.state == mc.REMOVED or c.has_pending_command(c.shuffler):
            continue
        if c.is_inside_shuffler(deck) and c.edition.idle.shuffler_keeps_stored and deck.state == mc.READY:
            c.ask("stored_deck", "dealer", "undisputed", "look", deck=deck.name, clauses=c.clauses("idle_machine"))
        elif (
            not c.is_inside_shuffler(deck) and deck.place == TRAY and deck.state in (mc.READY, mc.SHUFFLED, mc.STACKED)
        ):
            _spread(c, deck)
        elif deck.place.endswith(GATE) and c.shuffler is not None and not c.edition.idle.shuffler_keeps_stored:
            c.try_issue_command("eject", c.shuffler, deck=deck.name)


def _stored(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    """Keep the stored deck if no player asks to see it; else give it out."""
    deck = c.state.decks[prompt.deck or ""]
    if answer.choice == "undisputed":
        deck.look_due = False
    elif c.shuffler is not None:
        c.try_issue_command("eject", c.shuffler, deck=deck.name)


ANSWERS: Final[dict[str, Callable[[Context, Prompt, ev.Answer], None]]] = {"opening": _opened, "stored_deck": _stored}
CHECKS: Final[dict[str, Callable[[Context, Prompt, ev.Answer], str | None]]] = {"opening": check_two_persons}
