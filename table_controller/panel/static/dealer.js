// The dealer's page: one big next action, the table, decks and dice, and holds.

import { $, busy, clause, closer, dialog, duration, follow, h, once, read, submit, session, show, signOff, start, steady, themeButton, toast, refusalText, badgeOf, machineName, roleName } from "./common.js";
import { ask, clausesOf, forget, give, typeDigit } from "./ask.js";
import { openPad, openSettle, redrawPad } from "./cardpad.js";
import { felt, words } from "./felt.js";
import { openWagers, redrawWagers, wagerRows } from "./optional_wagers.js";

let view = null;
let chosen = null; // the question that the dealer selected; else the first one
let message = "";

function prompts() {
  return view.prompts || [];
}

function current() {
  return prompts().find((prompt) => prompt.id === chosen) || prompts().find((prompt) => prompt.mine) || prompts()[0] || null;
}

async function act(name, more = {}) {
  const result = await once(name, draw, () => submit(name, more));
  if (result === null) return;
  message = refusalText(result);
  toast(message);
  draw();
}

function big(name, text) {
  const bets = view.seats.some((one) => one.bet === "sensed") ? `; ${words(view)}` : view.meter ? "; no progressive bet yet" : "";
  const note = { no_more_bets: `Wagers are open${bets}.`, open_round: `Ready: ${view.dice ? "deck, machines, dice" : "deck and machines"}.`, bring: "There is no deck at the table." }[name];
  const rows = name === "no_more_bets" ? wagerRows(view, draw) : [];
  return [h("p", { class: "text" }, text), h("p", { class: "soft" }, note), h("p", { class: "message", role: "alert" }, message), ...rows, h("div", { class: "space" }),
    h("div", { class: `choices act${rows.length ? " low" : ""}` }, h("button", { type: "button", class: "go", "data-act": name, disabled: busy(name), "aria-busy": busy(name) ? "true" : null, onclick: () => (name === "bring" ? more() : act(name)) }, busy(name) ? "…" : text))];
}

function nextCard() {
  const next = view.next;
  const prompt = current();
  const who = prompt && (next.how === "prompt" || next.how === "wait" || chosen === prompt.id) ? prompt.role : next.who;
  const head = h("div", { class: "who" }, h("span", { class: `badge ${who === "dealer" ? "good" : "warn"}` }, who === "nobody" ? "Wait" : roleName(who)),
    prompt ? clausesOf(prompt) : h("span", { class: "soft" }, `Round ${view.round.number || "–"}`));
  let body;
  if (view.halted) {
    body = [h("p", { class: "text" }, `The box is locked: ${view.halted.code}`), h("p", {}, view.halted.text), h("p", { class: "soft" }, view.halted.act)];
  } else if (next.how === "no_more_bets" && chosen === null) body = big("no_more_bets", "No more bets");
  else if (next.how === "open_round" && chosen === null) body = big("open_round", "Open the round");
  else if (next.how === "bring" && chosen === null) body = big("bring", "Add a deck");
  else if (prompt && (next.how === "prompt" || next.how === "wait" || chosen === prompt.id)) body = ask(prompt, draw, view.hints);
  else {
    body = [h("p", { class: "text" }, next.text), h("p", { class: "message", role: "alert" }, message), h("div", { class: "space" })];
    if (next.how === "blocked") body.push(h("div", { class: "list" }, view.blocked_by.slice(0, 3).map(reason)));
  }
  const waiting = prompts().filter((other) => other !== prompt || next.how === "hands");
  const others = h("div", { class: "others" }, waiting.slice(0, 2).map((other) =>
    h("button", { type: "button", "data-turn": other.id, onclick: () => { chosen = other.id; draw(); } }, `${roleName(other.role)}: ${other.text}`)));
  return [head, ...body, waiting.length ? others : null, padRow(prompt), wagersRow()];
}

// Until the lock, while a question is in the place of the rows, a button opens them.
function wagersRow() {
  if (!view.optional.length || (view.next.how === "no_more_bets" && chosen === null)) return null;
  return h("div", { class: "others" }, h("button", { type: "button", id: "openwagers", onclick: () => openWagers(() => view, draw) }, "Seats with optional wagers"));
}

// While cards are face up, the dealer may enter them, or settle several seats at once.
function padRow(prompt) {
  if (!view.pad.places.some((one) => one.may)) return null;
  const claim = prompt && prompt.kind === "progressive" && !prompt.proposals.length && view.pad.places.some((one) => one.may && one.place === prompt.seat);
  if (claim) { // a hand is claimed by its cards, never by one touch
    return h("div", { class: "others" }, h("button", { type: "button", class: "go", id: "openpad", onclick: () => openPad(() => view, prompt.seat) }, `Seat ${prompt.seat} wins: enter its cards`));
  }
  const many = prompt && prompt.kind === "settled" && view.seats.filter((one) => one.wager === "wager").length > 1;
  return h("div", { class: "others" }, h("button", { type: "button", id: "openpad", onclick: () => openPad(() => view) }, "Enter cards"),
    many ? h("button", { type: "button", id: "opensettle", onclick: () => openSettle(() => view) }, "Settle several seats") : null);
}

function reason(one) {
  return h("div", { class: "line" }, h("div", {}, one.text), h("div", { class: "row soft" }, `${roleName(one.clears)}: ${one.evidence}`, clause(one.clause)));
}

function age(title, text, one) {
  const share = one.age === null ? 0 : one.age;
  const bar = h("i");
  bar.style.width = `${Math.round(share * 100)}%`;
  const old = share >= 1 ? "over" : share > 0.85 ? "old" : "";
  return h("div", { class: "card" }, h("b", {}, title), ` ${text}`,
    h("div", { class: `age ${old}`, role: "img", "aria-label": `${Math.round(share * 100)} % of ${one.hours} hours used` }, bar),
    h("span", { class: "left-s" }, one.left_s === null ? "" : `${duration(one.left_s)} left`));
}

function strip() {
  const cards = view.decks.map((deck) => age(deck.name, deck.text, deck));
  if (view.dice) cards.push(age("dice", view.dice.text, view.dice));
  const bad = view.slots.filter((slot) => slot.state !== "in_service");
  cards.push(h("div", { class: "card" }, h("b", {}, bad.length ? `${machineName(bad[0].name)}${bad.length > 1 ? ` +${bad.length - 1}` : ""}` : "Machines"), h("div", {},
    bad.length ? h("span", { class: `badge ${badgeOf(bad[0].state)}` }, bad[0].text) : h("span", { class: "badge good" }, "All devices in service"))));
  return cards;
}

function lockLine() {
  const hold = view.holds[0];
  const first = view.blocked_by[0];
  const more = view.holds.length + view.blocked_by.length - 1;
  const line = $("lock");
  line.classList.toggle("bad", Boolean(hold));
  if (!hold && !first) { show(line, h("span", { class: "badge good" }, "No holds"), h("span", { class: "what" }), reportButton()); return; }
  const text = hold ? `${hold.text} ${hold.about.join(", ")} – ${roleName(hold.clears)} must sign` : `${first.text} – ${roleName(first.clears)}`;
  show(line, h("span", { class: "what" }, text), h("button", { type: "button", class: "small", id: "why", onclick: why }, `Why is play stopped?${more > 0 ? ` (${more + 1})` : ""}`), reportButton());
}

function why() {
  dialog(h("h2", {}, "Why play is stopped, and who must act"), h("div", { class: "list" },
    view.holds.map((hold) => h("div", { class: "line" }, h("b", {}, `${hold.text} ${hold.about.join(", ")}`), h("div", { class: "soft" }, hold.meaning),
      h("ol", {}, hold.steps.map((step) => h("li", {}, step))), h("div", { class: "row" }, `${roleName(hold.clears)} must sign`, hold.clauses.map(clause)))),
    view.blocked_by.map(reason)), closer());
}

function reportButton() {
  return h("button", { type: "button", class: "small", id: "more", onclick: more }, "Report a problem");
}

async function more() {
  const labels = await read("/api/labels");
  const trigger = h("select", { id: "trigger" }, Object.entries(labels.reports).map(([key, text]) => h("option", { value: key }, text)));
  const pick = (id, label, values, name = String) => [h("label", { for: id }, label), h("select", { id }, h("option", { value: "" }, "–"), values.map((v) => h("option", { value: v }, name(v))))];
  const deck = h("input", { id: "newdeck", maxlength: 32 });
  const maker = h("input", { id: "maker", maxlength: 64 });
  const shuffled = h("input", { type: "checkbox", id: "preshuffled" });
  const jokers = h("input", { type: "checkbox", id: "twojokers" });
  const answer = h("p", { class: "message", role: "alert" });
  const done = async (button, work) => { // one at a time; the result shows where it was pressed
    if (button.disabled) return;
    button.disabled = true;
    const result = await work;
    button.disabled = false;
    answer.textContent = refusalText(result);
    if (result && result.ok) { box.close(); toast("Saved", false); }
  };
  const value = (id) => $(id).value || null;
  const box = dialog(
    h("h2", {}, "Add a deck"), h("label", { for: "newdeck" }, "Back color"), deck, h("label", { for: "maker" }, "Maker of the cards, for the receipt"), maker,
    h("div", { class: "row" }, h("label", { class: "row", for: "preshuffled" }, "Preshuffled"), shuffled, view.two_jokers ? [h("label", { class: "row", for: "twojokers" }, "Two jokers in the pack"), jokers] : null, h("button", { type: "button", class: "go", id: "bring", onclick: (event) =>
      done(event.target, submit("deck", { deck: deck.value.trim(), maker: maker.value.trim(), preshuffled: shuffled.checked, two_jokers: jokers.checked })) }, "Add deck")),
    h("h2", {}, "Report a problem"), h("label", { for: "trigger" }, "What happened"), trigger,
    h("div", { class: "formrow" }, h("div", {}, pick("rseat", "Seat", view.seats.map((one) => one.seat))), h("div", {}, pick("rdeck", "Deck", view.decks.map((one) => one.name))),
      h("div", {}, pick("rslot", "Machine", view.slots.map((one) => one.name), machineName))),
    h("div", { class: "row" }, h("button", { type: "button", class: "bad", id: "report", onclick: (event) =>
      done(event.target, submit("report", { trigger: trigger.value, seat: Number(value("rseat")) || null, deck: value("rdeck"), slot: value("rslot") })) }, "Report it"),
    view.by_shoe ? h("button", { type: "button", id: "cover", onclick: (event) =>
      done(event.target, submit("cover_card", { seat: Number(value("rseat")) || null })) }, "Cover card is out") : null, closer()), answer);
}

const draw = steady(() => {
  if (!view) return;
  const open = new Set(prompts().map((prompt) => prompt.id));
  if (!open.has(chosen)) chosen = null;
  forget(open);
  show($("bar"), h("span", { class: "name" }, view.table), h("span", { class: "soft" }, view.game || ""), h("span", { class: "grow" }),
    h("span", { class: "badge calm" }, session.id), themeButton(), h("button", { type: "button", id: "off", onclick: signOff }, "Sign off"));
  if (!view.round) { show($("next"), h("p", { class: "text" }, view.halted ? `The box is locked: ${view.halted.code}` : "The box is starting"), h("p", {}, view.halted ? view.halted.text : "")); return; }
  show($("felt"), felt(view));
  show($("strip"), strip());
  lockLine();
  show($("next"), nextCard());
  document.body.dataset.seq = view.seq;
});

document.addEventListener("keydown", (event) => {
  if (!view || event.target.matches("input, select") || document.querySelector("dialog")) return;
  const prompt = current();
  if (!prompt) return;
  if (typeDigit(prompt, event.key)) { event.preventDefault(); draw(); }
  else if (event.key === "Enter" && prompt.number && event.target === document.body) give(prompt, prompt.choices[0].key, draw);
});

start("Dealer", () => {
  $("page").classList.remove("hidden");
  follow("/api/stream", { state: (now) => { if (!view || now.seq !== view.seq) message = ""; view = now; draw(); redrawPad(); redrawWagers(); } });
});
