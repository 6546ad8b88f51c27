// The history of the machines in a dialog: faults by place and time, time to clear, drift, links.

import { closer, dialog, h, machineName, read, show, timeText } from "./common.js";
import { heat, lines, waits } from "./plots.js";

function table(slots) {
  const heads = ["Machine", "Cards", "Faults", "Failures", "Cards per fault", "Repeats", "Back in service after (median)"];
  return h("table", {}, h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))), h("tbody", {}, slots.map((one) =>
    h("tr", {}, h("th", { scope: "row" }, machineName(one.slot)), [one.cards, one.interruptions + one.failures, one.failures, one.between_interruptions, one.repeats, one.return_s === null ? null : `${one.return_s} s`]
      .map((cell) => h("td", {}, cell === null || cell === undefined ? "–" : String(cell)))))));
}

function drift(one) {
  const foot = ["", `after ${one.cards} cards`];
  return h("section", { class: "part" }, h("h3", {}, `${machineName(one.slot)} (${one.serial})`), one.warnings.map((text) => h("p", { class: "message" }, `Warning: ${text}`)),
    lines("Transit drift by segment", one.unit.startsWith("%") ? " %" : " ms", one.transit, foot), lines("Margin of each sensor (levels)", "", one.margin, foot));
}

function link(one) {
  const took = one.looks.filter(([, ms]) => ms !== null);
  const wrong = one.looks.reduce((sum, [, , count]) => sum + count, 0);
  const gone = one.looks.length - took.length;
  const at = (sample) => timeText(sample[0]);
  return h("div", { "data-link": one.slot }, lines(`${machineName(one.slot)}: response time`, " ms", took.length ? [{ name: "response", points: took.map(([x, y]) => [x, y]) },
    { name: "repeated, lost or late", points: one.looks.map(([x, , count]) => [x, count]) }] : [], took.length ? [at(one.looks[0]), at(one.looks[one.looks.length - 1])] : []),
  h("p", { class: "soft" }, `${wrong} repeated, lost or late; ${gone ? `no link in ${gone} of ${one.looks.length} samples` : "link always up"}`));
}

export function history() {
  const body = h("div", { class: "review", id: "history", tabindex: "0", "aria-label": "History of the machines" }, h("p", { class: "soft" }, "Reading the journal…"));
  const box = dialog(h("div", { class: "row" }, h("h2", { class: "grow" }, "History of the machines"), closer()), body);
  box.classList.add("large");
  read("/api/history").then((past) => {
    if (past.ok === false) { show(body, h("p", { class: "message", role: "alert" }, past.text)); return; }
    const moving = (one) => (/^(shuffler|shoe)/.test(one.slot) ? 0 : 1);
    show(body, h("p", { class: "soft" }, past.since ? `${timeText(Date.parse(`${past.since}Z`), { date: true })} to ${timeText(Date.parse(`${past.until}Z`), { date: true })}` : "The journal has no steps yet"), table(past.slots), heat(past.heat), waits(past.waits),
      past.drift.length ? past.drift.map(drift) : h("p", { class: "soft" }, "Transit drift: no machine has moved enough cards yet (at least four decks)."),
      h("section", { class: "part" }, h("h3", {}, "Links, the last hour"), [...past.links].sort((a, b) => moving(a) - moving(b)).map(link)));
    body.dataset.ready = "";
  });
}
