// Draws the table from the dealer's side: seat 1 on the far left, the dealer below. The drawing has a text alternative.

import { svg } from "./common.js";

const WIDTH = 600;
const HEIGHT = 360;
// Seats on the arc, from the dealer's far left to the far right.
const ANGLES = [187, 220, 253, 287, 320, 353];

function at(index, radius) {
  const angle = (ANGLES[index] * Math.PI) / 180;
  return [WIDTH / 2 + Math.cos(angle) * radius * 1.19, 262 + Math.sin(angle) * radius];
}

function cards(kind, x, y) {
  if (kind === "none") return null;
  return svg("g", { class: kind === "dealt" ? "carddeck" : `carddeck ${kind}`, transform: `translate(${x} ${y})` },
    svg("rect", { x: -15, y: -11, width: 17, height: 23, rx: 3 }), svg("rect", { x: -4, y: -11, width: 17, height: 23, rx: 3 }));
}

function marker(x, y) {
  return svg("g", { transform: `translate(${x} ${y})` }, svg("rect", { class: "start", x: -30, y: -12, width: 60, height: 23, rx: 11 }),
    svg("text", { class: "starttext", y: 5 }, "START"));
}

function seat(view, one, index) {
  const [x, y] = at(index, 200);
  const [cx, cy] = at(index, 128);
  const [lx, ly] = at(index, 158);
  const starts = view.round.start_place === one.seat;
  const [sx, sy] = [x, y - 46];
  return svg("g", { class: `seat ${one.wager}`, "data-seat": one.seat },
    svg("circle", { class: "spot", cx: x, cy: y, r: 32 }),
    svg("text", { class: "no", x, y: y + (one.decided ? 4 : 9) }, String(one.seat)),
    one.decided ? svg("text", { class: "tiny no", x, y: y + 21 }, one.decided) : null,
    view.meter ? svg("circle", { class: `lamp ${one.bet}`, cx: lx, cy: ly, r: 9, "data-bet": one.bet }) : null,
    cards(one.cards, cx, cy),
    starts ? marker(sx, Math.max(13, sy)) : null);
}

export function words(view) {
  const parts = view.seats.filter((one) => one.wager !== "none" || ["sensed", "accepted", "lit", "undecided"].includes(one.bet))
    .map((one) => `seat ${one.seat} ${[one.wager === "none" ? "" : one.wager, view.meter && one.bet !== "none" && one.bet !== "open" ? `bet ${one.bet}` : ""].filter(Boolean).join(", ")}`);
  const start = view.round.start_place;
  if (start !== null) parts.unshift(`starts at ${start === 0 ? "the dealer" : `seat ${start}`}`);
  return parts.length ? parts.join(", ") : "no wagers";
}

export function felt(view) {
  const starts = view.round.start_place === 0;
  return svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `the table: ${words(view)}` },
    svg("path", { class: "felt", d: "M 20 300 C 20 60 150 12 300 12 C 450 12 580 60 580 300 Q 580 346 534 346 L 66 346 Q 20 346 20 300 Z" }),
    svg("path", { class: "arc", d: "M 130 300 C 132 178 210 140 300 140 C 390 140 468 178 470 300" }),
    svg("text", { class: view.round.text.length > 20 ? "phasetext long" : "phasetext", x: 300, y: view.meter ? 220 : 232, "data-phase": view.round.state }, view.round.text),
    view.meter ? svg("text", { class: "metertext", x: 300, y: 252 }, view.meter.text) : null,
    svg("text", { class: "feltnote", x: 300, y: 274 },
      view.round.total ? `dice ${view.round.total}` : view.round.deck ? `deck ${view.round.deck}` : view.round.dealing),
    view.seats.map((one, index) => seat(view, one, index)),
    svg("g", { class: "seat" }, svg("circle", { class: "spot", cx: 300, cy: 312, r: 26 }), svg("text", { class: "tiny", x: 300, y: 317 }, "dealer"),
      cards(view.dealer_cards, 356, 314), starts ? marker(236, 313) : null));
}
