// The floorperson's page: decisions, signatures, hits, orders, devices, and findings.

import { $, badgeOf, busy, clause, closer, dialog, duration, follow, h, noticesCard, once, read, submitAs, submitAsTwo, session, show, signOff, start, steady, themeButton, toast, refusalText, machineName, roleName, timeText } from "./common.js";
import { ask, clausesOf, forget } from "./ask.js";
import { reviewRound } from "./round_review.js";

let view = null;
const messages = new Map();

function promptCard(prompt) {
  return h("section", { class: "card prompt stack", "data-card": prompt.id }, h("div", { class: "row" }, h("span", { class: "badge warn" }, roleName(prompt.role)), clausesOf(prompt)), ask(prompt, draw, view.hints));
}

function holdCard(hold) {
  return h("section", { class: "card hold stack" }, h("h2", {}, `${hold.text} ${hold.about.join(", ")}`), h("p", { class: "soft" }, hold.meaning),
    h("ol", {}, hold.steps.map((step) => h("li", {}, step))),
    hold.outcomes.length ? h("p", { class: "soft" }, `The rule orders: ${hold.outcomes.join("; ")}`) : null,
    h("div", { class: "row" }, h("span", { class: "badge bad" }, `${roleName(hold.clears)} must sign`),
      hold.escalated ? h("span", { class: "badge warn" }, hold.escalated === 1 ? "Escalated once" : `Escalated ${hold.escalated} times`) : null, hold.clauses.map(clause)));
}

async function order(key, name, body, signing) {
  const result = await once(key, draw, () => submitAs("floorperson", name, body, { signing }));
  showResult(key, result);
}

// Shows a result where it was pressed and in a toast.
function showResult(key, result) {
  if (!result) return;
  messages.set(key, refusalText(result));
  toast(refusalText(result) || "Saved", !result.ok);
  draw();
}

const ACTS = {
  absent: ["give_up"], unverified: ["acknowledge", "give_up"], in_service: ["give_up"], faulted: ["clear", "give_up"],
  cleared: ["acknowledge", "give_up"], out_of_order_unsigned: ["sign"], out_of_order_signed: [],
};
const NAMES = { give_up: "Take out of service…", acknowledge: "Return to service", clear: "Fault cleared", sign: "Sign or cover seen" };

function slotLine(slot) {
  return h("div", { class: "line" }, h("div", { class: "row" }, h("b", {}, machineName(slot.name)), h("span", { class: `badge ${badgeOf(slot.state)}` }, slot.text),
    slot.deck ? h("span", { class: "soft" }, `Deck ${slot.deck} inside`) : null, h("span", { class: "grow" }),
    (ACTS[slot.state] || []).map((act) => h("button", { type: "button", class: "small", "data-slot": slot.name, "data-order": act, disabled: busy(slot.name),
      onclick: () => order(slot.name, "slot", { slot: slot.name, act }, `${machineName(slot.name)}: ${NAMES[act].replace("…", "")}`) }, NAMES[act]))),
  messages.get(slot.name) ? h("p", { class: "message", role: "alert" }, messages.get(slot.name)) : null);
}

const isImportant = (one) => one.severity === "important";

function findingLine(one) {
  return h("div", { class: "line" }, h("span", { class: "soft mono" }, `${timeText(one.at, { date: true })} #${one.seq} `), one.text,
    one.rounds.length ? h("div", { class: "row" }, h("span", { class: "badge bad" }, "Affected rounds"), one.rounds.slice(-8).map((number) =>
      h("button", { type: "button", class: "clause", "aria-label": `Review round ${number}`, onclick: () => reviewRound(number) }, String(number)))) : null,
    one.clauses.length ? h("div", { class: "row" }, [...new Set(one.clauses)].slice(0, 3).map(clause)) : null);
}

function meterCard() {
  const meter = view.meter;
  if (!meter) return null;
  return h("section", { class: "card stack" }, h("h2", {}, `Meter ${meter.text}${meter.closed ? ", closed to play" : ""}`),
    h("div", { class: "facts" }, h("span", {}, `Reserve ${meter.reserve}`), h("span", {}, `Overflow ${meter.overflow}`), h("span", {}, `Pending ${meter.pending || "nothing"}`), h("span", {}, `Paid in total ${meter.paid}`)),
    meter.hits.map((hit) => h("div", { class: "line" }, h("b", {}, `Seat ${hit.seat}: ${hit.hand} ${hit.amount}`), ` ${hit.state}`)),
    h("div", { class: "facts" }, h("span", {}, `Seed ${view.meter_rules.seed}`), h("span", {}, `Rate ${view.meter_rules.rate}`), h("span", {}, `Limit ${view.meter_rules.limit}`)),
    h("b", {}, "Adjust the meter, two people sign"),
    h("div", { class: "row" }, Object.entries(METER).map(([act, [title]]) =>
      h("button", { type: "button", class: "small", "data-meter": act, "aria-label": title, disabled: busy("meter"), onclick: () => meterDialog(act) }, SHORT[act]))),
    h("p", { class: "message", role: "alert" }, messages.get("meter") || ""));
}

// Adjustments of the meter: the two roles that sign, and the fields of the form. Amounts are sent as whole numbers.
// The grounds for a correction, each with its reasons; the box has the same list.
const GROUNDS = {
  malfunction: ["sensor_fault", "device_fault", "software_fault", "dealing_error", "journal_lost"],
  transfer: ["to_other_meter", "from_other_meter"],
};
const WHY = [["why", "Ground and reason", Object.entries(GROUNDS).flatMap(([ground, reasons]) => reasons.map((reason) => `${ground}: ${reason}`))], ["counterpart", "Document of the other meter, for a transfer", null]];
const METER = {
  correct_meter: ["Correct the meter", "floorperson", "auditor", [["amount", "Change in dollars and cents with + or -, as +12.50 or -0.01", 6], ...WHY]],
  reset_meter: ["Reset the meter to its seed", "floorperson", "auditor", WHY],
  close_meter: ["Close the meter to play", "floorperson", "auditor", []],
  set_meter: ["Set rate or limit of the meter, while it is closed", "technician", "auditor", [["rate_bp", "Rate of progression (percent), if it changes", 2], ["submission", "Rules Submission with this rate", null], ["limit_cents", "Limit (dollars and cents, as 250000.00), if it changes", 2]]],
  open_meter: ["Open the meter to play", "floorperson", "auditor", []],
  transfer_overflow: ["Transfer overflow to the meter", "floorperson", "auditor", [["amount", "Amount in dollars and cents, as 12.50", 6]]],
  confirm_copy_absent: ["Second copy unreachable: confirm that no other box was restored from it", "floorperson", "technician", []],
};

const SHORT = {
  correct_meter: "Correct…", reset_meter: "Reset…", close_meter: "Close to play…", set_meter: "Set rate or limit…", open_meter: "Open to play…",
  transfer_overflow: "Transfer overflow…", confirm_copy_absent: "Confirm missing copy…",
};

// A decimal as a whole number of its smallest unit; null if it is not a decimal.
function whole(text, digits) {
  const match = /^([+-]?)(\d{1,9})(?:\.(\d{1,6}))?$/.exec(text.trim());
  if (!match || (match[3] || "").length > digits) return null;
  return Number(`${match[1]}${match[2]}${(match[3] || "").padEnd(digits, "0")}`);
}

// An amount of money in micro-dollars: cents are required, and a sign for a correction.
function amountOf(text, signed) {
  const form = signed ? /^[+-]\d{1,9}\.\d{2,6}$/ : /^\d{1,9}\.\d{2,6}$/;
  return form.test(text.trim()) ? whole(text, 6) : null;
}

function inDollars(micro) {
  const size = Math.abs(micro), cents = Math.floor(size / 10000), below = size % 10000;
  const text = `${Math.floor(cents / 100).toLocaleString("en-US")}.${String(cents % 100).padStart(2, "0")}`;
  return `${micro < 0 ? "-" : ""}$${text}${below ? String(below).padStart(4, "0") : ""}`;
}

// The meter before and after the change that is being entered.
function beforeAndAfter(act, amount) {
  const before = view.meter.current;
  const after = act === "reset_meter" ? view.meter_rules.seed_micro : amount === null ? null : before + amount;
  if (after === null) return `Meter now ${inDollars(before)}.`;
  return `Meter now ${inDollars(before)}, after ${inDollars(after)} (${after < before ? "" : "+"}${inDollars(after - before)}).`;
}

function meterDialog(act) {
  const [title, first, second, fields] = METER[act];
  const other = act === "open_meter" && view.meter.closed === "unreasonable" ? "technician" : second;
  const paper = h("input", { id: "paper", maxlength: 200 });
  const inputs = fields.map(([name, label, form]) => [name, form, label, Array.isArray(form)
    ? h("select", { id: name }, form.map((text) => h("option", { value: text }, text.replaceAll("_", " "))))
    : h("input", form === null ? { id: name, maxlength: 200 } : { id: name, inputmode: "decimal" })]);
  const wrong = h("p", { class: "message", role: "alert" });
  const moves = ["correct_meter", "reset_meter", "transfer_overflow"].includes(act), signed = act === "correct_meter";
  const money = inputs.find(([name]) => name === "amount");
  const preview = h("p", { id: "preview", role: "status" }, moves ? beforeAndAfter(act, null) : "");
  if (money) money[3].addEventListener("input", () => { preview.textContent = beforeAndAfter(act, amountOf(money[3].value, signed)); });
  dialog(h("h2", {}, title), h("p", { class: "soft" }, `The ${first} and the ${other} sign, each with a PIN.`),
    inputs.map(([name, , label, input]) => [h("label", { for: name }, label), input]), h("label", { for: "paper" }, "Document"), paper, preview, wrong,
    h("div", { class: "row" }, h("button", { type: "button", class: "go", id: "goon", onclick: async (event) => {
      const body = { document: paper.value.trim() };
      for (const [name, form, label, input] of inputs) {
        if (!input.value.trim()) continue;
        if (name === "why") { [body.ground, body.reason] = input.value.split(": "); continue; }
        if (form === null) { body[name] = input.value.trim(); continue; }
        body[name] = name === "amount" ? amountOf(input.value, signed) : whole(input.value, form);
        if (body[name] === null) { wrong.textContent = `${label}: this is not an amount.`; input.focus(); return; }
      }
      if (!body.document) { wrong.textContent = "Enter the document for this change."; paper.focus(); return; }
      if (fields.length && Object.keys(body).length === 1) { wrong.textContent = "Enter the rate or the limit."; return; }
      event.target.closest("dialog").close();
      showResult("meter", await once("meter", draw, () => submitAsTwo(first, other, act, body, `${title}. ${preview.textContent}`)));
    } }, "Continue to sign"), closer("Cancel")));
}

async function orders() {
  const labels = await read("/api/labels");
  const pick = (id, label, values) => h("div", {}, h("label", { for: id }, label), h("select", { id }, h("option", { value: "" }, "–"), values.map((v) => h("option", { value: v }, v))));
  const what = h("select", { id: "order" }, Object.entries(labels.orders).map(([key, text]) => h("option", { value: key }, text)));
  dialog(h("h2", {}, "Give an order"), h("label", { for: "order" }, "Order"), what,
    h("div", { class: "formrow" }, pick("odeck", "Deck", view.decks.map((deck) => deck.name)), pick("oseat", "Seat", view.seats.map((one) => one.seat)),
      pick("omethod", "Method", ["hand", "manual_shoe", "dealing_shoe", "automated_shoe", "continuous_shuffler", "shaker", "rng", "flat_button"])),
    h("div", { class: "row" }, h("button", { type: "button", class: "go", onclick: async (event) => {
      const body = { order: what.value, deck: $("odeck").value || null, seat: Number($("oseat").value) || null, method: $("omethod").value || null };
      event.target.closest("dialog").close();
      await order("order", "order", body, what.selectedOptions[0].textContent);
    } }, "Give the order"), closer("Cancel")));
}

function deckLine(deck) {
  return h("div", { class: "line" }, h("b", {}, deck.name), ` ${deck.text}, ${deck.place_text}`, h("div", { class: "soft" },
    deck.expired ? "In use too long" : deck.left_s === null ? "" : `${duration(deck.left_s)} of ${deck.hours} h left`,
    deck.rounds.length ? `; ${deck.rounds.length} ${deck.rounds.length === 1 ? "round" : "rounds"} since last count` : ""));
}

const draw = steady(() => {
  if (!view) return;
  show($("bar"), h("span", { class: "name" }, view.table), h("span", { class: "soft" }, view.game || ""), h("span", { class: "grow" }),
    view.meter ? h("a", { href: "/hits" }, "Hits") : null, h("a", { href: "/documents" }, "Documents"), h("a", { href: "/technician" }, "Machines"), h("span", { class: "badge calm" }, session.id), themeButton(), h("button", { type: "button", onclick: signOff }, "Sign off"));
  if (view.halted) show($("halted"), h("section", { class: "card hold" }, h("h2", {}, `The box is locked: ${view.halted.code}`), h("p", {}, view.halted.text), h("p", { class: "soft" }, view.halted.act)));
  else show($("halted"), noticesCard(view));
  if (!view.round) return;
  forget(new Set(view.prompts.map((prompt) => prompt.id)));
  document.body.dataset.seq = view.seq;
  const mine = view.prompts.filter((prompt) => prompt.role === "floorperson");
  const others = view.prompts.filter((prompt) => prompt.role !== "floorperson");
  show($("left"), h("section", { class: "card" }, h("h2", {}, `Round ${view.round.number || "–"}: ${view.round.text}`), h("div", { class: "row" }, h("span", { class: "soft grow" }, view.dealer === undefined ? "" : view.dealer ? `Dealer ${view.dealer}` : "No dealer is signed on"), h("button", { type: "button", class: "small", id: "reviewround", onclick: () => reviewRound() }, "Review a round"))),
    mine.length ? mine.map(promptCard) : h("section", { class: "card" }, h("span", { class: "badge good" }, "Nothing needs you")),
    view.holds.map(holdCard),
    others.length ? h("section", { class: "card" }, h("h2", {}, "Waiting for others"), others.map((other) => h("div", { class: "line" }, `${roleName(other.role)}: ${other.text}`))) : null);
  show($("right"), meterCard(),
    view.blocked_by.length ? h("section", { class: "card" }, h("h2", {}, "Why the next round cannot open"), view.blocked_by.map((one) => h("div", { class: "line" }, one.text, h("div", { class: "row soft" }, `${roleName(one.clears)}: ${one.evidence}`, clause(one.clause))))) : null,
    h("section", { class: "card" }, h("div", { class: "row" }, h("h2", { class: "grow" }, "Decks"), h("button", { type: "button", class: "small", onclick: orders }, "Give an order")), view.decks.map(deckLine), h("p", { class: "message", role: "alert" }, messages.get("order") || "")),
    h("section", { class: "card" }, h("h2", {}, "Machines"), view.slots.map(slotLine)),
    h("section", { class: "card", id: "findings" }, h("h2", {}, "Findings"), h("div", {}, view.findings.filter(isImportant).slice(0, 12).map(findingLine)),
      h("div", { class: "soft" }, view.findings.filter((one) => !isImportant(one)).slice(0, 8).map(findingLine))));
});

start("Floor", () => {
  $("page").classList.remove("hidden");
  follow("/api/stream", { state: (now) => { view = now; draw(); } });
});
