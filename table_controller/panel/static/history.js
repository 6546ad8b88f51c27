// The history of the machines as one dialog: what failed where and when, how long it took, what drifts, the links.

import { closer, dialog, h, read, show } from "./common.js";
import { heat, lines, waits } from "./plots.js";

function table(slots) {
  const heads = ["machine", "cards", "faults", "failures", "cards per fault", "again", "back after (median)"];
  return h("table", {}, h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))), h("tbody", {}, slots.map((one) =>
    h("tr", {}, h("th", { scope: "row" }, one.slot), [one.cards, one.interruptions + one.failures, one.failures, one.between_interruptions, one.repeats, one.return_s === null ? null : `${one.return_s} s`]
      .map((cell) => h("td", {}, cell === null || cell === undefined ? "–" : String(cell)))))));
}

function drift(one) {
  const foot = ["", `after ${one.cards} cards`];
  return h("section", { class: "part" }, h("h3", {}, `${one.slot} (${one.serial})`), one.warnings.map((text) => h("p", { class: "said" }, `Before the jam: ${text}`)),
    lines("Transit drift by segment", one.unit.startsWith("%") ? " %" : " ms", one.transit, foot), lines("Margin of each sensor (levels)", "", one.margin, foot));
}

function link(one) {
  const took = one.looks.filter(([, ms]) => ms !== null);
  const wrong = one.looks.reduce((sum, [, , count]) => sum + count, 0);
  const gone = one.looks.length - took.length;
  const at = (look) => new Date(look[0]).toISOString().slice(11, 16);
  return h("div", { "data-link": one.slot }, lines(`${one.slot}: how long an answer takes`, " ms", took.length ? [{ name: "answer", points: took.map(([x, y]) => [x, y]) },
    { name: "repeated, lost or late", points: one.looks.map(([x, , count]) => [x, count]) }] : [], took.length ? [`${at(one.looks[0])} UTC`, at(one.looks[one.looks.length - 1])] : []),
  h("p", { class: "soft" }, `${wrong} repeated, lost or late; ${gone ? `without a link at ${gone} of ${one.looks.length} looks` : "never without a link"}`));
}

export function history() {
  const told = h("div", { class: "story", id: "history", tabindex: "0", "aria-label": "history of the machines" }, h("p", { class: "soft" }, "The journal is read…"));
  const box = dialog(h("div", { class: "row" }, h("h2", { class: "grow" }, "History of the machines"), closer()), told);
  box.classList.add("large");
  read("/api/history").then((found) => {
    if (found.ok === false) { show(told, h("p", { class: "said", role: "alert" }, found.text)); return; }
    const moving = (one) => (/^(shuffler|shoe)/.test(one.slot) ? 0 : 1);
    show(told, h("p", { class: "soft" }, found.since ? `${found.since} to ${found.until} UTC` : "The journal tells nothing yet"), table(found.slots), heat(found.heat), waits(found.waits),
      found.drift.length ? found.drift.map(drift) : h("p", { class: "soft" }, "Transit drift: no machine has moved enough cards yet (four decks are a window)."),
      h("section", { class: "part" }, h("h3", {}, "Links, the last hour"), [...found.links].sort((a, b) => moving(a) - moving(b)).map(link)));
    told.dataset.ready = "";
  });
}
