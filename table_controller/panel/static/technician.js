// The technician's page: every machine live with its card path, its link, and what stands against using it.

import { $, badgeOf, clause, closer, dialog, follow, h, say, sayBy, session, show, signOff, start, steady, themeButton, told } from "./common.js";

let machines = [];
let view = null;
let faults = {};
const said = new Map();
const STYLES = { dim: "dim", "bold yellow": "dark", "bold red": "wrong", "bold cyan": "cards" };
const ACTS = { faulted: [["clear", "Cause is cleared"]], out_of_order_signed: [["repair", "It is repaired"]] };

function path(one) {
  if (!one.path.length) return null;
  const text = one.path.map(([piece]) => piece).join("");
  return h("div", { class: "path mono", role: "img", "aria-label": `card path: ${text}` }, one.path.map(([piece, style]) => h("span", { class: STYLES[style] || "" }, piece)));
}

function link(one) {
  const counted = one.link;
  const facts = [`link ${counted.phase}`];
  if (counted.round_trip_ms !== undefined) {
    facts.push(`answers in ${counted.round_trip_ms} ms`, `sent ${counted.sent}`, `received ${counted.received}`, `repeated ${counted.retransmitted}`, `gaps ${counted.gaps}`, `late ${counted.late_replies}`);
  } else facts.push(`${counted.failures} failures in a row`);
  return h("div", { class: "facts" }, facts.map((fact) => h("span", {}, fact)));
}

async function order(slot, act) {
  said.set(slot, told(await sayBy("technician", "slot", { slot, order: act })));
  draw();
}

async function inject(slot, select) {
  const result = await say("", { slot, fault: select.value }, "/api/inject");
  said.set(slot, result.text);
  draw();
}

// The dossier of a machine's newest fault, and its way back: each step ticks by its own evidence.
async function dossier(slot) {
  const all = await (await fetch("/api/dossiers")).json();
  const found = all.find((each) => each.slot === slot);
  if (!found) { dialog(h("h2", {}, slot), h("p", {}, "No dossier is kept of this machine."), closer()); return; }
  const answer = h("p", { class: "said", role: "alert" });
  const cards = h("input", { id: "cards", inputmode: "numeric" });
  const tick = (role, step) => async () => {
    const result = await sayBy(role, "step", { dossier: found.number, step, cards: step === "count" ? Number(cards.value) : null }, "/api/step");
    if (result && result.ok) { box.close(); await dossier(slot); } else answer.textContent = told(result);
  };
  const lines = (title, list) => [h("h3", {}, title), h("ul", {}, list.map((line) => h("li", {}, line)))];
  const buttons = found.begun
    ? [["technician", "path_empty", "Path is empty"], ["technician", "count", "Counted"], ["floorperson", "return", "Return it"]]
    : [[found.staff ? "floorperson" : "technician", "begin", "Begin the way back"]];
  const box = dialog(h("h2", {}, found.title), h("div", { class: "path mono" }, found.path.map(([piece, style]) => h("span", { class: STYLES[style] || "" }, piece))),
    h("div", { class: "list" }, lines("The rule", found.rule), lines("Where", [...found.where, found.cards]), lines("Why", found.causes), h("h3", {}, "The way back"),
      found.steps.map((line) => h("div", { class: "line" }, line))),
    found.begun ? h("div", {}, h("label", { for: "cards" }, "Cards counted by hand"), cards) : null,
    h("div", { class: "row" }, buttons.map(([role, step, text]) => h("button", { type: "button", class: "small go", "data-step": step, onclick: tick(role, step) }, text)), closer()), answer);
}

function bench(one) {
  const known = faults[one.name];
  if (!known) return null;
  const select = h("select", { "aria-label": `fault for ${one.name}` }, known.map(([name, meaning]) => h("option", { value: name }, `${name}: ${meaning}`)));
  if (picked.has(one.name)) select.value = picked.get(one.name);
  select.addEventListener("change", () => picked.set(one.name, select.value));
  return h("div", { class: "row" }, h("div", { class: "grow" }, select), h("button", { type: "button", class: "small bad", "data-inject": one.name, onclick: () => inject(one.name, select) }, "Do it"));
}
const picked = new Map();

function card(one) {
  const holds = (view && view.holds || []).filter((hold) => hold.about.includes(one.name));
  return h("section", { class: `card stack${holds.length ? " hold" : ""}${one.path.length ? " pathed" : ""}`, "data-machine": one.name }, h("div", { class: "row" }, h("h2", {}, one.name), h("span", { class: `badge ${badgeOf(one.state)}` }, one.text),
    one.door ? h("span", { class: "badge bad" }, "door open") : null, h("span", { class: "grow" }), h("span", { class: "soft" }, one.doing)),
  path(one),
  bench(one),
  h("div", { class: "facts" }, h("span", {}, `${one.kind} ${one.model}`), h("span", {}, one.serial), h("span", {}, one.firmware ? `firmware ${one.firmware}` : ""), one.deck ? h("span", {}, `holds deck ${one.deck}`) : null),
  link(one),
  one.cause ? h("p", { class: "said" }, `${one.cause.code} ${one.cause.text}. ${one.cause.act}`) : null,
  holds.map((hold) => h("div", { class: "line" }, h("b", {}, hold.text), h("ol", {}, hold.steps.map((step) => h("li", {}, step))), h("div", { class: "row" }, `cleared by ${hold.clears}`, hold.clauses.map(clause)))),
  one.state !== "in_service" ? one.against.map((reason) => h("div", { class: "line" }, reason.text, h("div", { class: "row soft" }, `${reason.clears}: ${reason.evidence}`, clause(reason.clause)))) : null,
  h("div", { class: "row" }, one.path.length ? h("button", { type: "button", class: "small", "data-dossier": one.name, onclick: () => dossier(one.name) }, "Dossier…") : null, (ACTS[one.state] || []).map(([act, text]) => h("button", { type: "button", class: "small go", "data-slot": one.name, "data-order": act, onclick: () => order(one.name, act) }, text))),
  said.get(one.name) ? h("p", { class: "said", role: "status" }, said.get(one.name)) : null);
}

const draw = steady(() => {
  if (document.activeElement && document.activeElement.tagName === "SELECT") return; // a list that is open is not redrawn
  show($("bar"), h("span", { class: "name" }, view ? view.table : ""), h("span", { class: "soft" }, view && view.round ? `round ${view.round.number}: ${view.round.text}` : ""), h("span", { class: "grow" }),
    h("span", { class: "badge calm" }, session.id), themeButton(), h("button", { type: "button", onclick: signOff }, "Sign off"));
  const wrong = (one) => (one.state === "in_service" ? 1 : 0);
  const moving = (one) => (one.path.length ? 0 : 1);
  show($("machines"), [...machines].sort((a, b) => wrong(a) - wrong(b) || moving(a) - moving(b)).map(card));
});

start("Technician", async () => {
  $("page").classList.remove("hidden");
  if (document.body.dataset.bench !== undefined) faults = (await (await fetch("/api/bench")).json()).faults || {};
  follow("/api/stream?machines", { state: (now) => { view = now; draw(); }, machines: (now) => { machines = now; draw(); } });
});
