// The technician's page: every machine live with its card path, its link, and why it cannot be used.

import { $, badgeOf, busy, clause, follow, h, noticesCard, once, read, submit, submitAs, session, show, signOff, start, steady, themeButton, toast, refusalText, machineName, roleName } from "./common.js";
import { faultReport, refresh } from "./fault_report.js";
import { history } from "./history.js";
import { orders } from "./orders.js";

let machines = [];
let view = null;
let faults = {};
const messages = new Map();
const cards = new Map(); // each machine's card: live parts are drawn again, forms are not
const STYLES = { dim: "dim", "bold yellow": "dark", "bold red": "wrong", "bold cyan": "cards" };
const ACTS = { faulted: [["clear", "Fault cleared"]], out_of_order_signed: [["repair", "Repaired"]] };

function path(one) {
  if (!one.path.length) return null;
  const text = one.path.map(([piece]) => piece).join("");
  const bench = Boolean(faults[one.name]);
  return h("div", { class: "path mono", role: bench ? "group" : "img", "aria-label": `Card path: ${text}` }, one.path.map(([piece, style]) => {
    const segment = /[a-z]{3,}/.exec(piece);
    if (!bench || !segment || !/[─✖?]/.test(piece)) return h("span", { class: STYLES[style] || "" }, piece);
    return h("button", { type: "button", class: `piece ${STYLES[style] || ""}`, "aria-label": `Jam a card in ${segment[0]}`, "data-segment": segment[0],
      onclick: () => aim(one.name, `jam:segment=${segment[0]},card=0`) }, piece);
  }));
}

function link(one) {
  const counted = one.link;
  const facts = [`Link ${counted.phase}`];
  if (counted.round_trip_ms !== undefined) {
    facts.push(`response ${counted.round_trip_ms} ms`, `sent ${counted.sent}`, `received ${counted.received}`, `repeated ${counted.retransmitted}`, `gaps ${counted.gaps}`, `late ${counted.late_replies}`);
  } else facts.push(`${counted.failures} failures in a row`);
  return h("div", { class: "facts" }, facts.map((fact) => h("span", {}, fact)));
}

async function order(slot, act, text) {
  const result = await once(slot, draw, () => submitAs("technician", "slot", { slot, act }, { signing: `${machineName(slot)}: ${text}` }));
  if (!result) return;
  messages.set(slot, refusalText(result));
  toast(refusalText(result) || "Saved", !result.ok);
  draw();
}

// Test mode of a machine in service: begun and left with a PIN; reasons against it show next to the button.
const TESTS = { begin_test: "Begin test mode", leave_test: "Leave test mode" };

async function testMode(slot, call) {
  const result = await once(slot, draw, () => submitAs("technician", "device", { slot, call, arguments: {} }, { always: true, signing: `${machineName(slot)}: ${TESTS[call]}` }));
  if (!result) return;
  messages.set(slot, result.ok ? "" : refusalText(result));
  toast(result.ok ? result.text : refusalText(result), !result.ok);
  draw();
}

function test(one) {
  if (!one.test) return null;
  const { call, blocked_by: reasons } = one.test;
  return [h("button", { type: "button", class: `small${call === "leave_test" ? " go" : ""}`, "data-test": call, disabled: busy(one.name) || reasons.length > 0, onclick: () => testMode(one.name, call) }, TESTS[call]),
    reasons.map((reason) => h("span", { class: "soft row" }, `${reason.text} (${roleName(reason.clears)}: ${reason.evidence})`, clause(reason.clause)))];
}

// --- simulated machines -------------------------------------------------------------------------------------------------

function aim(slot, fault) {
  const { entry } = cards.get(slot);
  entry.value = fault;
  entry.focus();
}

async function inject(slot, fault) {
  const result = await once(slot, draw, () => submit("", { slot, fault }, "/api/inject"));
  if (!result) return;
  messages.set(slot, result.text);
  toast(result.text, !result.ok);
  draw();
}

function bench(slot) {
  const known = faults[slot];
  if (!known) return [null, null];
  const select = h("select", { "aria-label": `Fault for ${machineName(slot)}` }, known.map(([name, meaning]) => h("option", { value: name }, `${name}: ${meaning}`)));
  const entry = h("input", { class: "mono", "aria-label": `Fault for ${machineName(slot)}, with its details`, value: known[0][0], maxlength: 100, spellcheck: "false", onkeydown: (event) => { if (event.key === "Enter") inject(slot, entry.value.trim()); } });
  select.addEventListener("change", () => { entry.value = select.value; });
  return [h("div", { class: "row benchrow" }, h("div", { class: "grow" }, select), h("div", { class: "grow" }, entry),
    h("button", { type: "button", class: "small bad", "data-inject": slot, onclick: () => inject(slot, entry.value.trim()) }, "Inject fault")), entry];
}

// --- a machine ------------------------------------------------------------------------------------------------------------

function live(one) {
  const holds = (view && view.holds || []).filter((hold) => hold.slot === one.name);
  return [h("div", { class: "row" }, h("h2", {}, machineName(one.name)), h("span", { class: `badge ${badgeOf(one.state)}` }, one.text),
    one.testing !== null ? h("span", { class: "badge warn" }, one.testing ? `Test mode: fault report ${one.testing}` : "Test mode") : null,
    one.door ? h("span", { class: "badge bad" }, "Door open") : null, h("span", { class: "grow" }), h("span", { class: "soft" }, one.doing)),
  path(one),
  h("div", { class: "facts" }, h("span", {}, `${machineName(one.kind)} ${one.model}`), h("span", {}, one.serial), h("span", {}, one.firmware ? `firmware ${one.firmware}` : ""), one.deck ? h("span", {}, `Deck ${one.deck} inside`) : null),
  link(one),
  one.cause ? h("p", { class: "message" }, `${one.cause.code} ${one.cause.text}. ${one.cause.act}`) : null,
  holds.map((hold) => h("div", { class: "line" }, h("b", {}, hold.text), h("ol", {}, hold.steps.map((step) => h("li", {}, step))), h("div", { class: "row" }, `${roleName(hold.clears)} must sign`, hold.clauses.map(clause)))),
  one.state !== "in_service" ? one.blocked_by.map((reason) => h("div", { class: "line" }, reason.text, h("div", { class: "row soft" }, `${roleName(reason.clears)}: ${reason.evidence}`, clause(reason.clause)))) : null,
  h("div", { class: "row" }, one.path.length ? h("button", { type: "button", class: "small", "data-report": one.name, onclick: () => faultReport(one.name, now) }, "Fault report…") : null,
    one.orders.length ? h("button", { type: "button", class: "small", "data-orders": one.name, onclick: () => orders(one.name, now) }, "Orders…") : null,
    test(one),
    (ACTS[one.state] || []).map(([act, text]) => h("button", { type: "button", class: "small go", "data-slot": one.name, "data-order": act, disabled: busy(one.name), onclick: () => order(one.name, act, text) }, text))),
  messages.get(one.name) ? h("p", { class: "message", role: "status" }, messages.get(one.name)) : null];
}

function now(slot) {
  return machines.find((one) => one.name === slot) || null;
}

function card(one) {
  if (!cards.has(one.name)) {
    const inner = h("div", { class: "stack" });
    const [row, entry] = bench(one.name);
    cards.set(one.name, { inner, entry, root: h("section", { "data-machine": one.name }, inner, row) });
  }
  const { inner, root } = cards.get(one.name);
  const held = (view && view.holds || []).some((hold) => hold.slot === one.name);
  root.className = `card stack${held ? " hold" : ""}${one.path.length ? " pathed" : ""}`;
  show(inner, live(one));
  return root;
}

const draw = steady(() => {
  show($("bar"), h("span", { class: "name" }, view ? view.table : ""), h("span", { class: "soft" }, view && view.round ? `Round ${view.round.number}: ${view.round.text}` : ""), h("span", { class: "grow" }),
    h("button", { type: "button", id: "past", onclick: history }, "History…"), h("span", { class: "badge calm" }, session.id), themeButton(), h("button", { type: "button", onclick: signOff }, "Sign off"));
  if (view && view.halted) show($("halted"), h("section", { class: "card hold" }, h("h2", {}, `The box is locked: ${view.halted.code}`), h("p", {}, view.halted.text), h("p", { class: "soft" }, view.halted.act)));
  else show($("halted"), noticesCard(view));
  const wrong = (one) => (one.state === "in_service" ? 1 : 0);
  const moving = (one) => (one.path.length ? 0 : 1);
  const drawn = [...machines].sort((a, b) => wrong(a) - wrong(b) || moving(a) - moving(b)).map(card);
  const place = $("machines");
  // Machines with a problem come first, but the order does not change while somebody types.
  if (!place.contains(document.activeElement) || !place.children.length) {
    if (drawn.length !== place.children.length || drawn.some((one, at) => place.children[at] !== one)) place.replaceChildren(...drawn);
  }
  refresh();
});

start("Technician", async () => {
  $("page").classList.remove("hidden");
  if (document.body.dataset.bench !== undefined) faults = (await read("/api/bench")).faults || {};
  follow("/api/stream?machines", { state: (now) => { view = now; draw(); }, machines: (now) => { machines = now; draw(); } });
});
