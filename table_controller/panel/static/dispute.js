// One round told again from the journal, for a dispute: choose a round, read its whole story. Only reads.

import { clause, closer, dialog, h, read, show } from "./common.js";

const CLAUSE = /^(\d{3}a?\.\d+[a-z]?(?:\([a-z0-9]+\))*|DR-\d+)$/;

// A line of the story: its time apart, and the clauses that it names as buttons.
function line(text) {
  const [, time, rest] = /^(\d\d:\d\d:\d\d)? *(.*)$/.exec(text);
  const cited = /^(.*?) *\[([^\]]*)\]$/.exec(rest);
  const ids = cited ? cited[2].split(", ") : [];
  const named = ids.length > 0 && ids.every((id) => CLAUSE.test(id));
  return h("li", {}, time ? h("time", { class: "mono soft" }, time) : null, h("span", {}, named ? cited[1] : rest, named ? ids.map((id) => [" ", clause(id)]) : null));
}

function part(one) {
  return h("section", { class: "part" }, h("h3", {}, one.title), h("ul", {}, one.lines.map(line)),
    one.more ? h("p", { class: "soft" }, `${one.more} more lines: pitbox journal show`) : null);
}

function affected(story) {
  if (!story.affected.length) return h("p", {}, h("span", { class: "badge good" }, "not affected"), " No finding names this round.");
  return h("div", {}, h("span", { class: "badge bad" }, "affected"), h("ul", {}, story.affected.map((one) => h("li", {}, `${one.text} (record ${one.seq})`))));
}

function told(story) {
  return [h("h2", {}, `Round ${story.number}: ${story.end}`),
    h("p", { class: "soft" }, `${story.game}. Opened ${story.opened}. Records ${story.records[0]} to ${story.records[1]}. Nobody records the order of cards.`),
    affected(story), story.parts.map(part)];
}

function choice(one) {
  const at = new Date(one.at).toISOString().slice(0, 16).replace("T", " ");
  const marks = [one.end, one.wrong ? `${one.wrong} irregular` : "", one.affected ? "affected" : ""].filter(Boolean).join(", ");
  return h("option", { value: one.number }, `${one.number}: ${at} UTC, ${marks}`);
}

export function dispute(wanted = null) {
  const pick = h("select", { id: "round" });
  const story = h("div", { class: "story", id: "story", tabindex: "0", "aria-live": "polite", "aria-label": "the round's story" });
  const older = h("button", { type: "button", class: "small", id: "older", onclick: () => list("?older", pick.value) }, "Older rounds");
  let asked = 0; // only the newest question's answer is shown

  const tell = async () => {
    const mine = asked += 1;
    show(story, h("p", { class: "soft" }, "The journal is read…"));
    const found = await read(`/api/round/${pick.value}`);
    if (mine !== asked) return;
    show(story, found.ok === false ? h("p", { class: "said", role: "alert" }, found.text) : told(found));
    story.dataset.round = found.ok === false ? "" : found.number;
    story.scrollTop = 0;
  };
  const list = async (more, keep) => {
    older.disabled = true;
    const found = await read(`/api/rounds${more}`);
    if (found.ok === false) { show(story, h("p", { class: "said", role: "alert" }, found.text)); older.disabled = false; return; }
    older.disabled = !found.older;
    show(pick, found.rounds.map(choice));
    if (!found.rounds.length) { show(story, h("p", {}, "The journal has no round.")); return; }
    const numbers = found.rounds.map((one) => String(one.number));
    pick.value = keep && numbers.includes(String(keep)) ? String(keep) : numbers[0];
    await tell();
  };
  pick.addEventListener("change", tell);
  const box = dialog(h("div", { class: "row" }, h("label", { for: "round" }, "Round"), h("div", { class: "grow" }, pick), older, closer()), story);
  box.classList.add("large");
  list("", wanted);
}
