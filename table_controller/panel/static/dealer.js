// The dealer's page: one big next action, the table, decks and dice, and what is locked.

import { $, busy, clause, closer, dialog, duration, follow, h, once, read, say, session, show, signOff, start, steady, themeButton, toast, told, badgeOf } from "./common.js";
import { ask, clausesOf, forget, give, typeDigit } from "./ask.js";
import { felt, words } from "./felt.js";

let view = null;
let chosen = null; // a question that the dealer has turned to; else the first
let said = "";

function prompts() {
  return view.prompts || [];
}

function current() {
  return prompts().find((prompt) => prompt.id === chosen) || prompts().find((prompt) => prompt.mine) || prompts()[0] || null;
}

async function act(name, more = {}) {
  const result = await once(name, draw, () => say(name, more));
  if (result === null) return;
  said = told(result);
  toast(said);
  draw();
}

function big(name, text) {
  const bets = view.seats.some((one) => one.bet === "sensed") ? `; ${words(view)}` : view.meter ? "; no progressive bet yet" : "";
  const note = { no_more_bets: `Wagers are open${bets}.`, open_round: `Everything is ready: ${view.dice ? "deck, machines, dice" : "deck and machines"}.`, bring: "No deck is at the table." }[name];
  return [h("p", { class: "text" }, text), h("p", { class: "soft" }, note), h("p", { class: "said", role: "alert" }, said), h("div", { class: "space" }),
    h("div", { class: "choices act" }, h("button", { type: "button", class: "go", "data-act": name, disabled: busy(name), "aria-busy": busy(name) ? "true" : null, onclick: () => (name === "bring" ? more() : act(name)) }, busy(name) ? "…" : text))];
}

function nextCard() {
  const next = view.next;
  const prompt = current();
  const who = prompt && (next.how === "prompt" || next.how === "wait" || chosen === prompt.id) ? prompt.role : next.who;
  const head = h("div", { class: "who" }, h("span", { class: `badge ${who === "dealer" ? "good" : "warn"}` }, who === "nobody" ? "wait" : who),
    prompt ? clausesOf(prompt) : h("span", { class: "soft" }, `round ${view.round.number || "–"}`));
  let body;
  if (view.halted) {
    body = [h("p", { class: "text" }, `The box is locked: ${view.halted.code}`), h("p", {}, view.halted.text), h("p", { class: "soft" }, view.halted.act)];
  } else if (next.how === "no_more_bets" && chosen === null) body = big("no_more_bets", "No more bets");
  else if (next.how === "open_round" && chosen === null) body = big("open_round", "Open the round");
  else if (next.how === "bring" && chosen === null) body = big("bring", "Bring a deck");
  else if (prompt && (next.how === "prompt" || next.how === "wait" || chosen === prompt.id)) body = ask(prompt, draw, view.hints);
  else {
    body = [h("p", { class: "text" }, next.text), h("p", { class: "said", role: "alert" }, said), h("div", { class: "space" })];
    if (next.how === "against") body.push(h("div", { class: "list" }, view.against.slice(0, 3).map(reason)));
  }
  const rest = prompts().filter((other) => other !== prompt || next.how === "hands");
  const others = h("div", { class: "others" }, rest.slice(0, 2).map((other) =>
    h("button", { type: "button", "data-turn": other.id, onclick: () => { chosen = other.id; draw(); } }, `${other.role}: ${other.text}`)));
  return [head, ...body, rest.length ? others : null];
}

function reason(one) {
  return h("div", { class: "line" }, h("div", {}, one.text), h("div", { class: "row soft" }, `${one.clears}: ${one.evidence}`, clause(one.clause)));
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
  cards.push(h("div", { class: "card" }, h("b", {}, bad.length ? `${bad[0].name}${bad.length > 1 ? ` +${bad.length - 1}` : ""}` : "machines"), h("div", {},
    bad.length ? h("span", { class: `badge ${badgeOf(bad[0].state)}` }, bad[0].text) : h("span", { class: "badge good" }, "all serve"))));
  return cards;
}

function lockLine() {
  const hold = view.holds[0];
  const first = view.against[0];
  const more = view.holds.length + view.against.length - 1;
  const line = $("lock");
  line.classList.toggle("bad", Boolean(hold));
  if (!hold && !first) { show(line, h("span", { class: "badge good" }, "nothing is locked"), h("span", { class: "what" }), reportButton()); return; }
  const text = hold ? `${hold.text} ${hold.about.join(", ")} – cleared by ${hold.clears}` : `${first.text} – ${first.clears}`;
  show(line, h("span", { class: "what" }, text), h("button", { type: "button", class: "small", id: "why", onclick: why }, `Why?${more > 0 ? ` (${more + 1})` : ""}`), reportButton());
}

function why() {
  dialog(h("h2", {}, "What is locked, and who clears it"), h("div", { class: "list" },
    view.holds.map((hold) => h("div", { class: "line" }, h("b", {}, `${hold.text} ${hold.about.join(", ")}`), h("div", { class: "soft" }, hold.meaning),
      h("ol", {}, hold.steps.map((step) => h("li", {}, step))), h("div", { class: "row" }, `cleared by ${hold.clears}`, hold.clauses.map(clause)))),
    view.against.map(reason)), closer());
}

function reportButton() {
  return h("button", { type: "button", class: "small", id: "more", onclick: more }, "More…");
}

async function more() {
  const words = await read("/api/words");
  const trigger = h("select", { id: "trigger" }, Object.entries(words.reports).map(([key, text]) => h("option", { value: key }, text)));
  const pick = (id, label, values) => [h("label", { for: id }, label), h("select", { id }, h("option", { value: "" }, "–"), values.map((v) => h("option", { value: v }, v)))];
  const deck = h("input", { id: "newdeck", maxlength: 32 });
  const shuffled = h("input", { type: "checkbox", id: "preshuffled" });
  const jokers = h("input", { type: "checkbox", id: "twojokers" });
  const answer = h("p", { class: "said", role: "alert" });
  const done = async (button, work) => { // one at a time, and the word about it stands where it was pressed
    if (button.disabled) return;
    button.disabled = true;
    const result = await work;
    button.disabled = false;
    answer.textContent = told(result);
    if (result && result.ok) { box.close(); toast("Taken", false); }
  };
  const value = (id) => $(id).value || null;
  const box = dialog(
    h("h2", {}, "Bring a deck"), h("label", { for: "newdeck" }, "Its back colour"), deck,
    h("div", { class: "row" }, h("label", { class: "row", for: "preshuffled" }, "preshuffled"), shuffled, view.two_jokers ? [h("label", { class: "row", for: "twojokers" }, "two jokers in the pack"), jokers] : null, h("button", { type: "button", class: "go", id: "bring", onclick: (event) =>
      done(event.target, say("deck", { deck: deck.value.trim(), preshuffled: shuffled.checked, two_jokers: jokers.checked })) }, "Bring it")),
    h("h2", {}, "Report what happened"), h("label", { for: "trigger" }, "What"), trigger,
    h("div", { class: "formrow" }, h("div", {}, pick("rseat", "Seat", view.seats.map((one) => one.seat))), h("div", {}, pick("rdeck", "Deck", view.decks.map((one) => one.name))),
      h("div", {}, pick("rslot", "Machine", view.slots.map((one) => one.name)))),
    h("div", { class: "row" }, h("button", { type: "button", class: "bad", id: "report", onclick: (event) =>
      done(event.target, say("report", { trigger: trigger.value, seat: Number(value("rseat")) || null, deck: value("rdeck"), slot: value("rslot") })) }, "Report"),
    view.by_shoe ? h("button", { type: "button", id: "cover", onclick: (event) =>
      done(event.target, say("cover_card", { seat: Number(value("rseat")) || null })) }, "Cover card is out") : null, closer()), answer);
}

const draw = steady(() => {
  if (!view) return;
  const open = new Set(prompts().map((prompt) => prompt.id));
  if (!open.has(chosen)) chosen = null;
  forget(open);
  show($("bar"), h("span", { class: "name" }, view.table), h("span", { class: "soft" }, view.game || ""), h("span", { class: "grow" }),
    h("span", { class: "badge calm" }, session.id), themeButton(), h("button", { type: "button", id: "off", onclick: signOff }, "Sign off"));
  if (!view.round) { show($("next"), h("p", { class: "text" }, view.halted ? `The box is locked: ${view.halted.code}` : "The box starts"), h("p", {}, view.halted ? view.halted.text : "")); return; }
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
  follow("/api/stream", { state: (told) => { if (!view || told.seq !== view.seq) said = ""; view = told; draw(); } });
});
