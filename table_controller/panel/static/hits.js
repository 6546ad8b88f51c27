// The last hits of each level of the progressive, for floorperson and auditor; can be printed.

import { $, h, read, session, show, signOff, start, timeText } from "./common.js";

function level(one) {
  const head = ["Claimed", "Round", "Seat", "Amount", "State"];
  return h("section", { class: "card" }, h("h2", {}, `${one.level}: last ${one.hits.length}`),
    h("table", {}, h("thead", {}, h("tr", {}, head.map((text) => h("th", {}, text)))),
      h("tbody", {}, one.hits.map((hit) => h("tr", {}, [timeText(hit.at, { date: true }), hit.round, hit.seat, hit.amount, hit.state].map((text) => h("td", {}, String(text))))))));
}

start("Last hits", async () => {
  $("page").classList.remove("hidden");
  const now = await read("/api/hits");
  show($("bar"), h("span", { class: "name" }, `${now.table || ""}: last hits`), h("span", { class: "grow" }), h("a", { href: "/floor" }, "Floor"),
    h("span", { class: "badge calm" }, session.id), h("button", { type: "button", id: "print", onclick: () => print() }, "Print"), h("button", { type: "button", onclick: signOff }, "Sign off"));
  if (!now.levels) { show($("hits"), h("p", { class: "message", role: "alert" }, now.text)); return; }
  show($("hits"), now.levels.length ? now.levels.map(level) : h("section", { class: "card" }, "No hit has been claimed."));
});
