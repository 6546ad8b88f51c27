// Optional wagers that no question asks for: the dealer touches the seats that have them. Used by the dealer's page.

import { closer, dialog, h, refusalText, submit, show, toast } from "./common.js";

// A saved entry shows as touched until the page has it from the table, at most this long (ms).
const SAVED = 3000;
const touched = new Map(); // by round and wager: the seats as the dealer touched them
const sending = new Set();
let redrawDialog = null;

function keyOf(view, one) { return `${view.round.number}/${one.wager}`; }

function seatsOf(view, one) { return touched.get(keyOf(view, one)) || new Set(one.seats); }

// Sends what is touched, one request at a time; what is touched meanwhile follows.
async function send(key, wager, redraw) {
  if (sending.has(key)) return;
  sending.add(key);
  let sent = null;
  let result = { ok: true };
  while (result && result.ok && touched.get(key) !== sent) {
    sent = touched.get(key);
    result = await submit("enter_optional_wager", { wager, seats: [...sent].sort() });
  }
  sending.delete(key);
  if (!result || !result.ok) { touched.delete(key); toast(refusalText(result)); }
  else setTimeout(() => { if (touched.get(key) === sent && !sending.has(key)) { touched.delete(key); redraw(); } }, SAVED);
  redraw();
}

function touch(view, one, seat, redraw) {
  const seats = new Set(seatsOf(view, one));
  if (!seats.delete(seat)) seats.add(seat);
  touched.set(keyOf(view, one), seats);
  send(keyOf(view, one), one.wager, redraw);
  redraw();
}

// Returns a row for each of these wagers, with a button for each seat.
export function wagerRows(view, redraw) {
  for (const key of touched.keys()) if (!key.startsWith(`${view.round.number}/`)) touched.delete(key);
  return view.optional.map((one) => h("div", { class: "spots" }, h("span", { class: "note" }, one.title),
    h("div", { class: "seatrow", role: "group", "aria-label": one.title }, one.from.map((seat) => {
      const has = seatsOf(view, one).has(seat);
      return h("button", { type: "button", again: true, "data-spot": `${one.wager}-${seat}`, "aria-pressed": has ? "true" : "false", "aria-label": `${one.title}, seat ${seat}`,
        onclick: () => touch(view, one, seat, redraw) }, has ? `${seat} \u2713` : String(seat));
    }))));
}

// Draws the open dialog again, after the view changed.
export function redrawWagers() { if (redrawDialog) redrawDialog(); }

// Opens the same rows as a dialog, for the time in which a question fills the page. `now` returns the newest view.
export function openWagers(now, redraw) {
  const inside = h("div", { id: "wagers" });
  const draw = () => show(inside, ...(now().optional.length ? wagerRows(now(), () => { draw(); redraw(); }) : [h("p", { class: "soft" }, "The wagers are locked.")]));
  redrawDialog = draw;
  const box = dialog(h("h2", {}, "Seats with optional wagers"), inside, closer());
  box.addEventListener("close", () => { redrawDialog = null; });
  draw();
}
