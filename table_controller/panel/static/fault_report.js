// The report of a machine's newest fault and its return to service: each step is completed by its own evidence.

import { closer, dialog, h, machineName, read, submitAs, session, show, toast, refusalText } from "./common.js";
import { orderRows } from "./orders.js";

const STYLES = { dim: "dim", "bold yellow": "dark", "bold red": "wrong", "bold cyan": "cards" };
const MARKS = { done: ["☑", "done"], next: ["▶", "next"], later: ["☐", "later"] };
const STEP_ROLES = ["technician", "floorperson"];
const EVERY = 400; // how often (ms) an open report is read while the machine sends something
const QUIET = 2000; // and how often while it sends nothing

let open = null; // refreshes the open dialog

// Reads an open report again soon, after news of the machines.
export function refresh() {
  if (open) open();
}

const lines = (title, list) => [h("h3", {}, title), h("ul", {}, list.map((line) => h("li", {}, line)))];

function step(one, tick) {
  const [mark, word] = MARKS[one.state];
  const ticks = one.state !== "next" ? null : one.ticks === "itself" ? h("span", { class: "soft" }, "Completes when the test passes")
    : h("button", { type: "button", class: "small go", "data-step": one.name, onclick: (event) => tick(event.target, one) }, one.ticks === "number" ? "Enter the count" : one.name === "return" ? "Return to service" : "Read the sensors");
  return h("li", { class: `step ${one.state}`, "data-at": one.name, "data-state": one.state, "aria-label": `${one.title}: ${word}` }, h("span", { class: "mark", "aria-hidden": "true" }, mark),
    h("div", { class: "grow" }, h("b", {}, one.title), ` ${one.text}`, h("div", { class: "soft" }, `Evidence: ${one.evidence}`)),
    one.state === "next" && one.ticks === "number" ? h("div", { class: "count" }, h("label", { for: "cards" }, "Cards counted by hand"), h("input", { id: "cards", inputmode: "numeric", maxlength: 4 })) : null, ticks);
}

export async function faultReport(slot, now) {
  const top = h("div", {});
  const head = h("div", { class: "stack" });
  const steps = h("ol", { class: "steps", id: "steps", "aria-label": "Return to service" });
  const more = h("div", { class: "list", id: "orders" });
  const answer = h("p", { class: "message", role: "alert", id: "stepmessage" });
  let reading = false;
  let later = false;
  let offered = "";

  const send = async (button, role, name, cards, title) => {
    if (button.disabled) return;
    button.disabled = true;
    answer.textContent = "";
    const result = await submitAs(role, "return_step", { fault_report: Number(steps.dataset.report), step: name, cards }, { signing: `${machineName(slot)}: ${title}` });
    button.disabled = false;
    if (result) { answer.textContent = refusalText(result); toast(refusalText(result) || "Saved", !result.ok); }
    await look();
  };
  const tick = (button, one) => {
    const cards = one.ticks === "number" ? Number(document.getElementById("cards").value) : null;
    send(button, one.role !== "floorperson" || one.name !== "return" ? (STEP_ROLES.includes(session.role) ? session.role : one.role) : one.role, one.name, cards, one.title);
  };
  const look = async () => {
    if (reading) { later = true; return; }
    reading = true;
    const all = await read("/api/fault_reports");
    reading = false;
    if (!box.open) return;
    const report = Array.isArray(all) ? all.find((each) => each.slot === slot) : null;
    if (!report) { show(top, h("h2", {}, machineName(slot)), h("p", {}, all.ok === false ? all.text : "This machine has no fault report.")); return; }
    steps.dataset.report = report.number;
    show(top, h("h2", {}, report.title), report.path ? h("div", { class: "path mono", role: "img", "aria-label": `card path: ${report.path.map(([piece]) => piece).join("")}` }, report.path.map(([piece, style]) => h("span", { class: STYLES[style] || "" }, piece))) : null);
    show(head, report.rule ? [lines("Rule", report.rule), lines("Where", [...report.where, report.cards]), lines("Causes", report.causes)] : null);
    const typed = document.activeElement && document.activeElement.id === "cards";
    if (!typed) show(steps, report.steps.map((one) => step(report.begun ? one : { ...one, state: "later" }, tick)));
    const begin = h("button", { type: "button", class: "go", "data-step": "begin", onclick: (event) => send(event.target, report.staff && session.role !== "technician" ? "floorperson" : "technician", "begin", null, "Begin the return to service") }, "Begin the return to service");
    const leave = h("button", { type: "button", "data-step": "leave", onclick: (event) => send(event.target, "technician", "leave", null, "Leave test mode") }, "Leave test mode");
    const machine = now(slot);
    const tested = machine && machine.testing === report.number;
    const kinds = JSON.stringify([report.begun, tested, machine && machine.orders]);
    if (kinds !== offered) { // forms are drawn again only when the offered orders change
      offered = kinds;
      show(more, report.begun ? null : begin, tested ? [leave, h("p", { class: "soft" }, "Completed steps are kept. The machine stays out of service until somebody continues.")] : null, report.begun && machine ? [h("h3", {}, "Orders, each signed by a technician"), orderRows(machine, answer, look)] : null);
    }
    if (later) { later = false; setTimeout(look, EVERY); }
  };
  const box = dialog(top, h("div", { class: "halves" }, h("div", { class: "scroll", tabindex: "0", "aria-label": "Fault report" }, head), h("div", { class: "scroll", tabindex: "0", "aria-label": "Return to service and orders" }, h("h2", {}, "Return to service"), steps, more)), answer, h("div", { class: "row" }, closer()));
  box.classList.add("large", "report");
  let due = null;
  open = () => { if (due === null) due = setTimeout(() => { due = null; if (box.open) look(); }, EVERY); };
  const again = setInterval(look, QUIET); // changes of the file are not announced
  box.addEventListener("close", () => { open = null; clearInterval(again); });
  await look();
}
