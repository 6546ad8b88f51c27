// The card pad: the dealer touches the cards that lie face up, then how the player set them. Used by the dealer's page.

import { closer, dialog, h, refusalText, show, submit, toast } from "./common.js";

const RANKS = [..."AKQJT98765432"];
const SUITS = [["s", "\u2660"], ["h", "\u2665"], ["d", "\u2666"], ["c", "\u2663"]];

function label(card) {
  if (card === "Jk") return "Joker";
  return `${card[0] === "T" ? "10" : card[0]}${SUITS.find(([suit]) => suit === card[1])[1]}`;
}

let redraw = null; // draws the open pad

// Draws the open pad again, after the view changed.
export function redrawPad() { if (redraw) redraw(); }

// Opens the pad. `now` returns the newest view: other places' cards cannot be touched again.
// `claimed`: the seat whose progressive hand is asked for; the pad closes once its cards are entered.
export function openPad(now, claimed = null) {
  let at = null; // the place
  let picked = []; // its cards, in the order of touch
  let step = "cards"; // cards, setting, replacement
  let message = "";

  const pad = () => now().pad;
  const place = () => pad().places.find((one) => one.place === at);
  const open = () => pad().places.filter((one) => one.may);

  function choose(number) {
    at = number;
    picked = [...(place() ? place().cards : [])];
    step = "cards";
    message = "";
    draw();
  }

  async function send(result, after) {
    const answer = await result;
    message = refusalText(answer);
    if (answer && answer.ok) { toast("Saved", false); after(); }
    draw();
  }

  function touch(card) {
    const most = step === "cards" ? pad().hand : step === "replacement" ? 1 : pad().hand - pad().split[0];
    if (picked.includes(card)) picked = picked.filter((one) => one !== card);
    else if (picked.length < most) picked = [...picked, card];
    draw();
  }

  function cardButton(card, taken) {
    const red = "hd".includes(card[1]);
    return h("button", { type: "button", again: true, class: `pc${red ? " red" : ""}`, "data-card": card, "aria-pressed": picked.includes(card) ? "true" : "false",
      disabled: taken.has(card), onclick: () => touch(card) }, label(card));
  }

  function grid() {
    const taken = new Set(pad().places.filter((one) => one.place !== at || step === "replacement").flatMap((one) => one.cards));
    const rows = SUITS.map(([suit]) => h("div", { class: "cardrow" }, RANKS.map((rank) => cardButton(rank + suit, taken))));
    return [...rows, pad().joker && step === "cards" ? h("div", { class: "cardrow" }, cardButton("Jk", taken)) : null];
  }

  // The cards of a hand that is set: the dealer touches those of the lower hands, the lowest hand first.
  function settingText() {
    const [, ...lower] = pad().split;
    let rest = [...picked];
    const hands = [...lower].reverse().map((size) => { const hand = rest.slice(0, size); rest = rest.slice(size); return hand; }).reverse();
    return [place().cards.filter((card) => !picked.includes(card)), ...hands].map((hand) => hand.join(" ")).join(" | ");
  }

  function act() {
    if (step === "replacement") {
      return h("button", { type: "button", class: "go", id: "padenter", disabled: picked.length !== 1, onclick: () => send(submit("enter_replacement", { card: picked[0] }), () => (claimed === at ? box.close() : choose(at))) }, "Enter the replacement card");
    }
    if (step === "setting") {
      const few = picked.length !== pad().hand - pad().split[0];
      return h("button", { type: "button", class: "go", id: "padenter", disabled: few, onclick: () => send(submit("enter_setting", { place: at, hands: settingText() }), () => choose(at)) }, "Enter how the player set the hand");
    }
    return h("button", { type: "button", class: "go", id: "padenter", disabled: picked.length !== pad().hand, onclick: () => send(submit("enter_hand", { place: at, cards: picked.join(" ") }), () => {
      if (claimed === at && picked.includes("Jk") && !pad().split.length) { step = "replacement"; picked = []; }
      else if (claimed === at) box.close();
      else if (at && pad().split.length) { step = "setting"; picked = []; }
    }) }, `Enter ${pad().hand} cards`);
  }

  function more() {
    const known = place() && place().cards.length;
    const wager = h("select", { id: "padwager", "aria-label": "wager" }, Object.entries(pad().wagers).map(([name, title]) => h("option", { value: name }, title)));
    const dollars = h("input", { id: "paddollars", type: "number", min: "0.01", step: "0.01", "aria-label": "dollars" });
    return h("div", { class: "row" },
      at && known && pad().split.length ? h("button", { type: "button", id: "padsetting", onclick: () => { step = "setting"; picked = []; draw(); } }, "The player's hands") : null,
      at && known && pad().split.length ? h("button", { type: "button", id: "padhouse", onclick: () => send(submit("ask_house_way", { seat: at }), () => choose(at)) }, "The player asks for the house way") : null,
      at && known && place().cards.includes("Jk") && !pad().split.length ? h("button", { type: "button", id: "padreplacement", onclick: () => { step = "replacement"; picked = []; draw(); } }, "Replacement card") : null,
      at ? [wager, dollars, h("button", { type: "button", id: "padamount", onclick: () => send(submit("enter_amount", { wager: wager.value, seat: at, cents: Math.round(Number(dollars.value) * 100) }), () => draw()) }, "Enter the amount")] : null);
  }

  function body() {
    if (!open().length) return [h("p", { class: "soft" }, "No cards are face up that are not settled.")];
    const tabs = h("div", { class: "row", role: "group", "aria-label": "places" }, open().map((one) => h("button", { type: "button", "data-place": one.place, "aria-pressed": one.place === at ? "true" : "false", onclick: () => choose(one.place) }, one.cards.length ? `${one.name} \u2713` : one.name)));
    if (!place() || !place().may) return [tabs];
    const what = { cards: `${place().name}: touch its ${pad().hand} cards`, replacement: "Touch the card that replaces the joker",
      setting: `${place().name}: touch the cards of the lower hand${pad().split.length > 2 ? "s, the lowest hand first" : ""}` }[step];
    const shown = step === "setting" ? h("div", { class: "cardrow" }, place().cards.map((card) => cardButton(card, new Set()))) : grid();
    return [tabs, h("h3", {}, what), h("div", { class: "cardpad" }, shown), h("p", { class: "soft", id: "padpicked" }, picked.map(label).join(" ") || "no card yet"),
      place().setting ? h("p", { class: "soft", id: "padset" }, `Set: ${place().setting}`) : null, act(), more()];
  }

  const inside = h("div", { id: "pad" });
  function draw() { show(inside, ...body(), h("p", { class: "message", role: "alert" }, message)); }
  redraw = draw;
  const box = dialog(h("h2", {}, "Known cards"), inside, closer());
  box.addEventListener("close", () => { redraw = null; });
  const first = open().find((one) => one.place === claimed) || open()[0];
  if (first) choose(first.place); else draw();
}

// Opens the dialog that settles the main wagers of several seats at once, in the order of the table.
export function openSettle(now) {
  const results = new Map();
  const inside = h("div", {});
  let message = "";
  const WORDS = [["wins", "Wins"], ["loses", "Loses"], ["pushes", "Pushes"]];
  function draw() {
    const seats = now().seats.filter((one) => one.wager === "wager").map((one) => one.seat);
    const of = (word) => [...results].filter(([, result]) => result === word).map(([seat]) => seat);
    show(inside, ...seats.map((seat) => h("div", { class: "row" }, h("b", {}, `Seat ${seat}`), WORDS.map(([word, text]) =>
      h("button", { type: "button", "data-result": `${seat}-${word}`, "aria-pressed": results.get(seat) === word ? "true" : "false", onclick: () => { results.set(seat, word); draw(); } }, text)))),
    h("button", { type: "button", class: "go", id: "settleall", disabled: results.size === 0, onclick: async () => {
      const answer = await submit("settle_seats", { wins: of("wins"), loses: of("loses"), pushes: of("pushes") });
      message = refusalText(answer);
      if (answer && answer.ok) { box.close(); toast("Saved", false); } else draw();
    } }, "Settle these seats"), h("p", { class: "message", role: "alert" }, message));
  }
  const box = dialog(h("h2", {}, "Settle several seats"), inside, closer());
  draw();
}
