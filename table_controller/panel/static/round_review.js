// The review of one round from the journal, for a dispute: choose a round and read it.

import { clause, closer, dialog, h, read, show, timeText } from "./common.js";

const CLAUSE = /^(\d{3}a?\.\d+[a-z]?(?:\([a-z0-9]+\))*|DR-\d+)$/;

// The journal's lines have UTC times of day; `base` is when the round opened (ms).
function localTime(time, base) {
  const at = new Date(base);
  at.setUTCHours(...time.split(":").map(Number), 0);
  const day = 24 * 3600 * 1000;
  const ms = at.getTime() + (at.getTime() < base - day / 2 ? day : 0);
  return timeText(ms, { seconds: true });
}

const localStart = (text, base) => text.replace(/^\d\d:\d\d:\d\d/, (time) => localTime(time, base));
const localDate = (text) => text.replace(/^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) UTC/, (_, day, time) => timeText(Date.parse(`${day}T${time}Z`), { date: true }));

// A line of the review: its time, and its clauses as buttons.
function line(raw, base) {
  const [, time, text] = /^(\d\d:\d\d:\d\d)? *(.*)$/.exec(raw);
  const cited = /^(.*?) *\[([^\]]*)\]$/.exec(text);
  const ids = cited ? cited[2].split(", ") : [];
  const named = ids.length > 0 && ids.every((id) => CLAUSE.test(id));
  return h("li", {}, time ? h("time", { class: "mono soft" }, localTime(time, base)) : null, h("span", {}, named ? cited[1] : text, named ? ids.map((id) => [" ", clause(id)]) : null));
}

function part(one, base) {
  return h("section", { class: "part" }, h("h3", {}, one.title), h("ul", {}, one.lines.map((raw) => line(raw, base))),
    one.more ? h("p", { class: "soft" }, `${one.more} more lines: pitbox journal show`) : null);
}

function affected(review) {
  if (!review.affected.length) return h("p", {}, h("span", { class: "badge good" }, "Not affected by a finding"));
  return h("div", {}, h("span", { class: "badge bad" }, "Affected by a finding"), h("ul", {}, review.affected.map((one) => h("li", {}, `${one.text} (record ${one.seq})`))));
}

function reviewOf(review) {
  return [h("h2", {}, `Round ${review.number}: ${localStart(review.end, review.at)}`),
    h("p", { class: "soft" }, `${review.game}. Opened ${localDate(review.opened)}. Records ${review.records[0]} to ${review.records[1]}. The order of cards is not recorded.`),
    affected(review), review.parts.map((one) => part(one, review.at))];
}

function choice(one) {
  const at = timeText(one.at, { date: true });
  const marks = [one.end, one.irregularities ? `${one.irregularities} ${one.irregularities === 1 ? "irregularity" : "irregularities"}` : "", one.affected ? "affected by a finding" : ""].filter(Boolean).join(", ");
  return h("option", { value: one.number }, `${one.number}: ${at}, ${marks}`);
}

export function reviewRound(number = null) {
  const pick = h("select", { id: "round" });
  const review = h("div", { class: "review", id: "review", tabindex: "0", "aria-live": "polite", "aria-label": "Review of the round" });
  const older = h("button", { type: "button", class: "small", id: "older", onclick: () => list("?older", pick.value) }, "Older rounds");
  let asked = 0; // only the newest request's result is shown

  const load = async () => {
    const mine = asked += 1;
    show(review, h("p", { class: "soft" }, "Reading the journal…"));
    const answer = await read(`/api/round/${pick.value}`);
    if (mine !== asked) return;
    show(review, answer.ok === false ? h("p", { class: "message", role: "alert" }, answer.text) : reviewOf(answer));
    review.dataset.round = answer.ok === false ? "" : answer.number;
    review.scrollTop = 0;
  };
  const list = async (more, keep) => {
    older.disabled = true;
    const answer = await read(`/api/rounds${more}`);
    if (answer.ok === false) { show(review, h("p", { class: "message", role: "alert" }, answer.text)); older.disabled = false; return; }
    older.disabled = !answer.older;
    show(pick, answer.rounds.map(choice));
    if (!answer.rounds.length) { show(review, h("p", {}, "The journal has no round.")); return; }
    const numbers = answer.rounds.map((one) => String(one.number));
    pick.value = keep && numbers.includes(String(keep)) ? String(keep) : numbers[0];
    await load();
  };
  pick.addEventListener("change", load);
  const box = dialog(h("div", { class: "row" }, h("label", { for: "round" }, "Round"), h("div", { class: "grow" }, pick), older, closer()), review);
  box.classList.add("large");
  list("", number);
}
