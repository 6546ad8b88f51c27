// The dossier of a machine's newest fault and its way back, as the box tells it: each step ticks by its own evidence.

import { closer, dialog, h, read, sayBy, session, show, toast, told } from "./common.js";
import { orderRows } from "./orders.js";

const STYLES = { dim: "dim", "bold yellow": "dark", "bold red": "wrong", "bold cyan": "cards" };
const MARKS = { done: ["☑", "done"], next: ["▶", "next"], later: ["☐", "later"] };
const TAKES_UP = ["technician", "floorperson"];
const EVERY = 400; // how often (ms) an open dossier is looked at while the machine tells something
const QUIET = 2000; // and how often while it tells nothing

let open = null; // what renews the dialog that is open

// The page has heard of its machines: an open dossier is looked at again, soon.
export function refresh() {
  if (open) open();
}

const lines = (title, list) => [h("h3", {}, title), h("ul", {}, list.map((line) => h("li", {}, line)))];

function step(one, tick) {
  const [mark, word] = MARKS[one.state];
  const ticks = one.state !== "next" ? null : one.ticks === "itself" ? h("span", { class: "soft" }, "ticks by itself")
    : h("button", { type: "button", class: "small go", "data-step": one.name, onclick: (event) => tick(event.target, one) }, one.ticks === "number" ? "Counted" : one.name === "return" ? "Return it" : "Look now");
  return h("li", { class: `step ${one.state}`, "data-at": one.name, "data-state": one.state, "aria-label": `${one.title}: ${word}` }, h("span", { class: "mark", "aria-hidden": "true" }, mark),
    h("div", { class: "grow" }, h("b", {}, one.title), ` ${one.text}`, h("div", { class: "soft" }, `evidence: ${one.wanted}`)),
    one.state === "next" && one.ticks === "number" ? h("div", { class: "count" }, h("label", { for: "cards" }, "Cards counted by hand"), h("input", { id: "cards", inputmode: "numeric", maxlength: 4 })) : null, ticks);
}

export async function dossier(slot, now) {
  const top = h("div", {});
  const head = h("div", { class: "stack" });
  const steps = h("ol", { class: "steps", id: "steps", "aria-label": "the way back" });
  const more = h("div", { class: "list", id: "orders" });
  const answer = h("p", { class: "said", role: "alert", id: "stepsaid" });
  let reading = false;
  let later = false;
  let offered = "";

  const send = async (button, role, name, cards) => {
    if (button.disabled) return;
    button.disabled = true;
    answer.textContent = "";
    const result = await sayBy(role, "step", { dossier: Number(steps.dataset.dossier), step: name, cards }, "/api/step");
    button.disabled = false;
    if (result) { answer.textContent = told(result); toast(told(result) || "Taken", !result.ok); }
    await look();
  };
  const tick = (button, one) => {
    const cards = one.ticks === "number" ? Number(document.getElementById("cards").value) : null;
    send(button, one.role !== "floorperson" || one.name !== "return" ? (TAKES_UP.includes(session.role) ? session.role : one.role) : one.role, one.name, cards);
  };
  const look = async () => {
    if (reading) { later = true; return; }
    reading = true;
    const all = await read("/api/dossiers");
    reading = false;
    if (!box.open) return;
    const found = Array.isArray(all) ? all.find((each) => each.slot === slot) : null;
    if (!found) { show(top, h("h2", {}, slot), h("p", {}, all.ok === false ? all.text : "No dossier is kept of this machine.")); return; }
    steps.dataset.dossier = found.number;
    show(top, h("h2", {}, found.title), found.path ? h("div", { class: "path mono", role: "img", "aria-label": `card path: ${found.path.map(([piece]) => piece).join("")}` }, found.path.map(([piece, style]) => h("span", { class: STYLES[style] || "" }, piece))) : null);
    show(head, found.rule ? [lines("The rule", found.rule), lines("Where", [...found.where, found.cards]), lines("Why", found.causes)] : null);
    const typed = document.activeElement && document.activeElement.id === "cards";
    if (!typed) show(steps, found.steps.map((one) => step(found.begun ? one : { ...one, state: "later" }, tick)));
    const begin = h("button", { type: "button", class: "go", "data-step": "begin", onclick: (event) => send(event.target, found.staff && session.role !== "technician" ? "floorperson" : "technician", "begin", null) }, "Begin the way back");
    const leave = h("button", { type: "button", "data-step": "leave", onclick: (event) => send(event.target, "technician", "leave", null) }, "Leave test mode");
    const machine = now(slot);
    const tested = machine && machine.testing === found.number;
    const kinds = JSON.stringify([found.begun, tested, machine && machine.orders]);
    if (kinds !== offered) { // forms that somebody fills in are drawn anew only when others are offered
      offered = kinds;
      show(more, found.begun ? null : begin, tested ? [leave, h("p", { class: "soft" }, "What was done stays done; the machine stays out of service until somebody goes on.")] : null, found.begun && machine ? [h("h3", {}, "Orders, each with a technician's PIN"), orderRows(machine, answer, look)] : null);
    }
    if (later) { later = false; setTimeout(look, EVERY); }
  };
  const box = dialog(top, h("div", { class: "halves" }, h("div", { class: "scroll", tabindex: "0", "aria-label": "the dossier" }, head), h("div", { class: "scroll", tabindex: "0", "aria-label": "the way back and orders" }, h("h2", {}, "The way back"), steps, more)), answer, h("div", { class: "row" }, closer()));
  box.classList.add("large", "dossier");
  let due = null;
  open = () => { if (due === null) due = setTimeout(() => { due = null; if (box.open) look(); }, EVERY); };
  const again = setInterval(look, QUIET); // what was written meanwhile is told by nobody
  box.addEventListener("close", () => { open = null; clearInterval(again); });
  await look();
}
