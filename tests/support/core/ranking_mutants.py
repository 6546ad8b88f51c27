"""Changes of the rules by which hands are set, ranked and paid: for each clause one rule that the text does not have.

A test of the clause at the live table must fail while its change is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from table_controller.rulebook.cards import JOKER
from table_controller.rulebook.games.asia_poker import hands as asia
from table_controller.rulebook.games.dj_wild import hands as wild
from table_controller.rulebook.games.face_up_pai_gow import hands as pai_gow
from table_controller.rulebook.games.over_under import hands as over_under
from table_controller.rulebook.games.saigon_5_card import hands as saigon
from table_controller.rulebook.games.saigon_5_card import settlement as saigon_settlement
from table_controller.rulebook.hands import hand_features
from table_controller.rulebook.hands.ranking import HandClass, class_of, ranks_of, strength
from table_controller.rulebook.settlement.terms import returned
from table_controller.table import settling

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import pytest

    Change = Callable[[pytest.MonkeyPatch], None]
    Strength = Callable[[Iterable[int]], int]

_RANKS: Final = (1 << 20) - 1  # the bits of a strength below its class


# --- how two hands compare --------------------------------------------------------------------------------------------


def _natural(cards: Iterable[int]) -> list[int]:
    """The joker as the lowest card that is left: neither an ace nor any other card."""
    held = list(cards)
    low = next(card for card in range(JOKER) if card not in held)
    return [low if card == JOKER else card for card in held]


def _no_joker(rank: Strength) -> Strength:
    return lambda cards: rank(_natural(cards))


def _swapped(one: HandClass, other: HandClass) -> Callable[[Strength], Strength]:
    """Two classes that rank the other way round."""
    turned = {one: other, other: one}

    def change(rank: Strength) -> Strength:
        def changed(cards: Iterable[int]) -> int:
            worth = rank(cards)
            return turned.get(class_of(worth), class_of(worth)) << 20 | worth & _RANKS

        return changed

    return change


def _no_kickers(rank: Strength) -> Strength:
    """Of hands of the same class the first card decides alone."""
    return lambda cards: rank(cards) & ~0xFFFF


def _four_aces_alike(rank: Strength) -> Strength:
    """Four aces are four of a kind, below a straight flush."""

    def changed(cards: Iterable[int]) -> int:
        worth = rank(cards)
        return strength(HandClass.FOUR_OF_A_KIND, (12,)) if class_of(worth) is HandClass.FOUR_ACES else worth

    return changed


def _no_pairs_of_two(rank: Strength) -> Strength:
    """A hand of two cards has no pair."""

    def changed(cards: Iterable[int]) -> int:
        held = list(cards)
        worth = rank(held)
        is_pair = len(held) == 2 and class_of(worth) is HandClass.PAIR
        return strength(HandClass.HIGH_CARD, (ranks_of(worth)[0],) * 2) if is_pair else worth

    return changed


def _wheel_lowest(hand_class: HandClass) -> Callable[[Strength], Strength]:
    """The ace-low sequence is the lowest of its class, as in 687a."""

    def change(rank: Strength) -> Strength:
        def changed(cards: Iterable[int]) -> int:
            held = list(cards)
            worth = rank(held)
            # The second-best sequence is kept as one that begins with an ace, above any king-high one.
            return strength(hand_class, (0,)) if class_of(worth) is hand_class and ranks_of(worth) == [12] else worth

        return changed

    return change


def _asia(change: Callable[[Strength], Strength]) -> Change:
    def replace(patch: pytest.MonkeyPatch) -> None:
        whole = asia.strength
        patch.setattr(asia, "strength", lambda **wheels: change(whole(**wheels)))

    return replace


def _pai_gow(change: Callable[[Strength], Strength]) -> Change:
    return lambda patch: patch.setattr(pai_gow, "strength", change(pai_gow.strength))


def _wild(change: Callable[[Strength], Strength]) -> Change:
    return lambda patch: patch.setattr(wild, "strength", change(wild.strength))


# --- what a hand is, and which hands are paid -------------------------------------------------------------------------


def _put(module: object, name: str, value: Any) -> Change:
    return lambda patch: patch.setattr(module, name, value)


def _seven(module: Any, name: str, change: Callable[[Callable[..., int]], Callable[..., int]]) -> Change:
    """Change which features of a hand a paytable may pay."""
    return lambda patch: patch.setattr(module, name, change(getattr(module, name)))


def _without(*features: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """A hand that a paytable prints is none."""
    lost = ~hand_features.feature_bits(*features)
    return lambda held: lambda *given, **more: held(*given, **more) & lost


def _first(size: int) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Only the first cards of the hand count."""
    return lambda held: lambda cards, **more: held(cards[:size], **more)


def _no_joker_held(held: Callable[..., int]) -> Callable[..., int]:
    return lambda cards, **more: held(_natural(cards), **more)


def _total(showdown: Sequence[int]) -> int:
    return max(saigon.totals(showdown))


def _swapped_hands(three: Sequence[int], showdown: Sequence[int]) -> saigon.SaigonSetting:
    """The Point Count of two cards of the three-card hand."""
    return saigon.SaigonSetting(
        tuple(three), tuple(showdown), saigon.qualifies(three), saigon.point_count(list(three)[:2])
    )


def _no_win(terms: Any, seat: Any, clauses: Any, ranks: Any, *, five: bool, hand: str) -> Any:
    del terms, five
    return returned(seat, "ante", (*clauses, *ranks), hand)


def _never_foul(*_: object) -> None:
    return None


_FLUSH_STRAIGHT: Final = _swapped(HandClass.FLUSH, HandClass.STRAIGHT)
_PAIRS: Final = _swapped(HandClass.TWO_PAIR, HandClass.PAIR)
_ASIA_FOUL: Final = _put(asia, "foul_clause", _never_foul)
_PAI_GOW_FOUL: Final = _put(pai_gow, "foul_clause", _never_foul)
_ACE_HIGH: Final = _put(pai_gow, "is_ace_high", lambda _: False)

# The rule that is changed for each clause.
CHANGED: Final[dict[str, Change]] = {
    "575.1:High hand": _ASIA_FOUL,
    "575.1:Medium hand": _ASIA_FOUL,
    "575.1:Low hand": _ASIA_FOUL,
    "575.1:Setting the hands": _ASIA_FOUL,
    "575.11(b)": _ASIA_FOUL,
    "575.11(f)(1)(v)": _ASIA_FOUL,
    "575.6(a)": _asia(_no_joker),
    "575.6(b)": _asia(_FLUSH_STRAIGHT),
    "575.6(b)(3)": _asia(_wheel_lowest(HandClass.STRAIGHT_FLUSH)),
    "575.6(b)(4)": _asia(_four_aces_alike),
    "575.6(b)(6)": _asia(_wheel_lowest(HandClass.STRAIGHT)),
    "575.6(b)(9)": _asia(_no_pairs_of_two),
    "575.6(c)": _asia(_no_kickers),
    "575.6(d)": _seven(asia, "bonus_features", _without("straight")),
    "575.7(e)": _seven(asia, "bonus_features", _without("straight")),
    "575.6(d)(7)": _seven(asia, "bonus_features", _without("nine_high")),
    "575.11(h)": _seven(asia, "bonus_features", _first(5)),
    "680a.1:Qualify": _put(saigon, "QUALIFYING", (10, 30)),
    "680a.1:Showdown hand": _put(saigon, "as_set", _swapped_hands),
    "680a.6(a)": _put(saigon, "values", lambda card: saigon.JOKER_VALUES if card == JOKER else ((card >> 2) + 2,)),
    "680a.6(a)(4)": _put(saigon, "JOKER_VALUES", (1,)),
    "680a.6(b)": _put(saigon, "point_count", _total),
    "680a.6(c)": _seven(saigon, "bonus_features", _no_joker_held),
    "680a.6(c)(1)": _seven(saigon, "bonus_features", _without("two_pair")),
    "680a.7(d)(2)": _seven(saigon, "bonus_features", _without("two_pair")),
    "680a.11(b)(2)": _put(saigon, "qualifies", lambda _: True),
    "680a.11(d)(1)(ii)": _put(saigon_settlement, "_won", _no_win),
    "680a.11(e)": _seven(saigon, "bonus_features", _first(3)),
    "686a.3(d)": _put(over_under, "VALUES", (*over_under.VALUES[:-1], 1)),
    "687a.1:Fold": _put(settling, "_GAVE_UP", ("surrender",)),
    "687a.6(a)": _wild(_no_kickers),
    "687a.6(b)": _put(wild, "strength", wild.at_face_value),
    "687a.6(c)": _wild(_PAIRS),
    "687a.6(d)": _seven(wild, "progressive_features", _without("three_of_a_kind")),
    "687a.6(e)": _seven(wild, "class_features", _without("three_of_a_kind")),
    "687a.6(f)": _seven(wild, "class_features", _without("three_of_a_kind")),
    "687a.7(d)(3)": _seven(wild, "class_features", _without("three_of_a_kind")),
    "687a.7(d)(4)": _seven(wild, "class_features", _without("three_of_a_kind")),
    "687a.11(b)(1)": _put(settling, "_GAVE_UP", ("surrender",)),
    "687a.11(b)(2)": _put(settling, "_GAVE_UP", ("surrender",)),
    "688a.1:Ace High Pai Gow": _ACE_HIGH,
    "688a.1:High hand": _PAI_GOW_FOUL,
    "688a.1:Low hand": _PAI_GOW_FOUL,
    "688a.1:Setting the hands": _PAI_GOW_FOUL,
    "688a.11(b)": _PAI_GOW_FOUL,
    "688a.11(f)(1)(iv)": _PAI_GOW_FOUL,
    "688a.6(a)": _pai_gow(_no_joker),
    "688a.6(b)": _pai_gow(_FLUSH_STRAIGHT),
    "688a.6(b)(3)": _pai_gow(_wheel_lowest(HandClass.STRAIGHT_FLUSH)),
    "688a.6(b)(7)": _pai_gow(_wheel_lowest(HandClass.STRAIGHT)),
    "688a.6(b)(9)": _seven(pai_gow, "seven_card_features", _without("three_pair")),
    "688a.6(c)": _pai_gow(_no_kickers),
    "688a.6(d)": _ACE_HIGH,
    "687a.12(b)": _seven(wild, "class_features", _without("straight")),
    "688a.6(f)": _seven(pai_gow, "seven_card_features", _without("five_of_a_kind")),
    "688a.6(f)(6)": _seven(pai_gow, "seven_card_features", _without("five_of_a_kind")),
    "688a.1:Envy Bonus Qualifying Hand": _seven(pai_gow, "seven_card_features", _without("four_of_a_kind")),
    "688a.7(e)(1)": _ACE_HIGH,
    "688a.7(e)(2)": _seven(pai_gow, "seven_card_features", _without("three_pair")),
    "688a.11(h)/1": _seven(pai_gow, "seven_card_features", _first(5)),
    "688a.7(e)(3)": _seven(pai_gow, "seven_card_features", _without("five_of_a_kind")),
    "688a.6(e)": _seven(pai_gow, "seven_card_features", _without("royal_flush_plus_royal_match")),
}
