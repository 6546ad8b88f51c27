// Draws one question with the answers that it allows: buttons, a keypad, seats. Used by the dealer's and the floor page.

import { h, clause, closer, dialog, submit, submitAs, session, toast, refusalText } from "./common.js";

// An accepted answer shows as saved until the table shows the next question, at most this long (ms).
const SAVED = 3000;
const entered = new Map(); // entries so far, by question, kept when the page is drawn again

function state(prompt) {
  if (!entered.has(prompt.id)) entered.set(prompt.id, { digits: "", seats: new Set(), busy: false, message: "" });
  return entered.get(prompt.id);
}

export function forget(open) {
  for (const id of entered.keys()) if (!open.has(id)) entered.delete(id);
}

export function typeDigit(prompt, key) {
  if (!prompt.number) return false;
  const now = state(prompt);
  if (/^[0-9]$/.test(key) && now.digits.length < 10) now.digits += key;
  else if (key === "Backspace") now.digits = now.digits.slice(0, -1);
  else return false;
  return true;
}

function ready(prompt, choice) {
  const now = state(prompt);
  const first = choice === prompt.choices[0].key;
  if (prompt.number && first) {
    const value = Number(now.digits);
    if (now.digits === "" || value < prompt.number.least || value > prompt.number.most) return false;
  }
  return !(prompt.seats && first && now.seats.size === 0);
}

export async function give(prompt, choice, redraw) {
  const now = state(prompt);
  if (now.busy || !ready(prompt, choice)) return;
  now.busy = true;
  now.pressed = choice;
  now.message = "";
  redraw();
  const first = choice === prompt.choices[0].key;
  const body = { prompt: prompt.id, choice };
  if (prompt.number && first) body.number = Number(now.digits);
  if (prompt.seats && first) body.seats = [...now.seats].sort();
  const result = await (prompt.mine && !session.eachTime ? submit("answer", body) : submitAs(prompt.role, "answer", body, { signing: `${prompt.text}: ${prompt.choices.find((one) => one.key === choice).text}` }));
  now.message = refusalText(result);
  if (now.message && entered.get(prompt.id) !== now) toast(now.message); // the question is gone, but the message must be seen
  if (result && result.ok) { now.saved = true; setTimeout(() => { now.busy = now.saved = false; redraw(); }, SAVED); } // the next state has another question
  else now.busy = false;
  redraw();
}

function keypad(prompt, now, redraw) {
  const key = (label, act, name) => h("button", { type: "button", again: true, "aria-label": name, "data-key": label, onclick: () => { act(); redraw(); } }, label);
  const digit = (d) => key(String(d), () => typeDigit(prompt, String(d)), `digit ${d}`);
  return [
    h("div", { class: "entry", role: "status", "aria-label": `Entered: ${now.digits || "nothing"}` }, now.digits || " "),
    h("div", { class: "keypad", role: "group", "aria-label": "number" }, digit(1), digit(2), digit(3), key("C", () => { now.digits = ""; }, "clear"),
      digit(4), digit(5), digit(6), key("⌫", () => typeDigit(prompt, "Backspace"), "delete the last digit"), digit(7), digit(8), digit(9), digit(0)),
  ];
}

function seatRow(prompt, now, redraw) {
  return h("div", { class: "seatrow", role: "group", "aria-label": "seats" }, ...prompt.seats.map((seat) =>
    h("button", { type: "button", again: true, "data-seat": seat, "aria-pressed": now.seats.has(seat) ? "true" : "false", "aria-label": `seat ${seat}`, onclick: () => {
      if (prompt.one_seat) { const had = now.seats.has(seat); now.seats.clear(); if (!had) now.seats.add(seat); }
      else if (!now.seats.delete(seat)) now.seats.add(seat);
      redraw();
    } }, String(seat))));
}

// The first clauses as buttons, and a button that shows all of them.
function clauseRow(clauses, most, title, note) {
  const more = clauses.slice(most);
  return h("div", { class: "clauses" }, ...clauses.slice(0, most).map(clause), more.length ? h("button", { type: "button", class: "clause", "aria-label": "all clauses", onclick: () =>
    dialog(h("h2", {}, title), h("p", { class: "soft" }, note), h("div", { class: "row" }, clauses.map(clause)), closer()) }, most ? `+${more.length}` : "Clauses") : null);
}

export function clausesOf(prompt) {
  return clauseRow(prompt.clauses, 2, prompt.text, "Clauses that require this question");
}

// Returns the elements of one question; calls `redraw` after each entry and answer.
export function ask(prompt, redraw, hints = {}) {
  const now = state(prompt);
  const crowded = prompt.proposals.length > 2; // then each line has one button for its clauses, and the answers share a line
  const many = crowded || prompt.choices.length > (prompt.number ? 1 : 2);
  // If only one number is right, it is not shown: the dealer must count.
  const limits = prompt.number && prompt.number.most < 9999 && prompt.number.least < prompt.number.most
    ? h("p", { class: "note" }, `from ${prompt.number.least} to ${prompt.number.most}`) : null;
  const confirms = prompt.evidence.length
    ? h("p", { class: "note" }, `Your answer confirms: ${prompt.evidence.join("; ")}.`) : null;
  return [
    h("p", { class: "text", "data-prompt": prompt.id, "data-kind": prompt.kind }, prompt.text),
    prompt.why && !prompt.number ? h("p", { class: "note" }, `${prompt.why}.`) : null, // with a keypad, "Why is play stopped?" has it
    prompt.shows ? h("p", { class: "note", "data-shows": prompt.id }, prompt.shows) : null,
    ...prompt.proposals.map((one) => h("div", { class: "line proposal", "data-proposal": prompt.id }, h("span", { class: "what" }, one.text), clauseRow(one.clauses, crowded ? 0 : 1, one.text, "Clauses that decide this"))),
    confirms, limits,
    hints[prompt.id] ? h("p", { class: "note" }, `Simulated hands: ${hints[prompt.id]}`) : null,
    prompt.number && prompt.number.proposed ? h("button", { type: "button", again: true, "data-proposed": prompt.number.proposed, onclick: () => { now.digits = String(prompt.number.proposed); redraw(); } }, `Use the next slip number: ${prompt.number.proposed}`) : null,
    ...(prompt.number ? keypad(prompt, now, redraw) : []),
    prompt.seats ? seatRow(prompt, now, redraw) : null,
    h("p", { class: "message", role: "alert" }, now.message),
    h("div", { class: "space" }),
    h("div", { class: `choices${many ? " many" : ""}` }, ...prompt.choices.map((choice, at) =>
      h("button", { type: "button", class: at === 0 ? "go" : "", "data-choice": choice.key, "data-of": prompt.id,
        disabled: now.busy || !ready(prompt, choice.key), "aria-busy": now.busy && now.pressed === choice.key ? "true" : null,
        onclick: () => give(prompt, choice.key, redraw) }, now.busy && now.pressed === choice.key ? (now.saved ? "Saved" : "…") : choice.text))),
  ].filter(Boolean);
}
