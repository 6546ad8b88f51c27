// The sign: a display for players with the meter and the posting. It grays an amount that may be out of date.

import { $, follow, h, show, timeText } from "./common.js";

const MOTION = 1500; // how long (ms) the amount rolls to a new one
const WIDEST = 150; // font size times digits, in percent of the display's width
const TALLEST = { alone: 15, posted: 7 }; // font size, in percent of the display's width; above the posting
const still = matchMedia("(prefers-reduced-motion: reduce)");
let shown = null; // micro-dollars, as drawn
let moving = null; // { from, to, since } while it rolls
let lost = false;
let halted = false;
let received = null; // when the last message arrived

// Whole cents; fractions are in the meter and are not shown.
function write(amount) {
  const text = `$${(Math.floor(amount / 10000) / 100).toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
  $("value").textContent = text;
  $("value").style.fontSize = `${Math.min(document.body.classList.contains("posted") ? TALLEST.posted : TALLEST.alone, WIDEST / text.length).toFixed(1)}vw`; // a long amount still fits
}

function run(now) {
  if (!moving) return;
  const part = Math.min(1, (now - moving.since) / MOTION);
  shown = part === 1 ? moving.to : moving.from + (moving.to - moving.from) * (1 - (1 - part) ** 3);
  write(shown);
  if (part === 1) { moving = null; $("value").classList.remove("moving"); report(); } else requestAnimationFrame(run);
}

function go(amount) {
  if (shown === null || still.matches || document.hidden) { moving = null; shown = amount; write(amount); return; }
  if (amount === (moving ? moving.to : shown)) return;
  const running = moving !== null;
  moving = { from: shown, to: amount, since: performance.now() };
  $("value").classList.add("moving");
  if (!running) requestAnimationFrame(run);
}

function mark() {
  $("value").classList.toggle("stale", lost || halted);
  const since = lost && received ? ` (as of ${timeText(received)})` : "";
  const what = $("value").classList.contains("hidden") ? "sign" : "amount";
  $("state").textContent = lost ? `The ${what} is being checked${since}` : halted ? "This table is closed for the moment" : "";
}

function won(hit) {
  const paid = ["paid", "documented", "hand pay paid"].includes(hit.state);
  return h("div", { class: "hit", "data-seat": hit.seat }, h("b", {}, `Seat ${hit.seat} wins ${hit.amount}`), h("span", {}, ` ${hit.hand}${paid ? "" : ", not paid yet"}`));
}

// The posting: wagers, odds, payout limit and special rules of this table.
function drawPosting(posting) {
  const read = (tag, text) => h(tag, { "data-read": "" }, text);
  const wagers = posting.wagers.map((wager) => h("article", {}, read("h2", wager.title),
    h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "Hand"), ...wager.columns.map((head) => read("th", head)))),
      h("tbody", {}, ...wager.lines.map((line) => h("tr", {}, read("td", line.hand), ...line.pays.map((pay) => read("td", pay)))))),
    ...wager.notes.map((note) => read("p", note))));
  const rules = [...(posting.limit ? [posting.limit] : []), ...posting.rules].map((rule) => read("li", rule.text));
  $("posting").replaceChildren(...wagers, h("article", {}, h("h2", {}, "Rules of this table"), h("ul", {}, ...rules)));
  document.body.classList.add("posted");
  if (shown !== null) write(shown);
}

// The number of the posting as this page shows it: a CRC-32 of every text in order.
function shownPosting() {
  if (!document.querySelector("#posting [data-read]")) return "";
  const texts = [...document.querySelectorAll("[data-read]")].map((element) => element.textContent);
  let crc = 0xffffffff;
  for (const byte of new TextEncoder().encode(texts.join("|"))) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return ((crc ^ 0xffffffff) >>> 0).toString(16).toUpperCase().padStart(8, "0");
}

// Reports the amount and the posting that this page shows: the table opens no round while no sign shows them.
let page = null;
const REPORT = 1000; // how often (ms)
async function report() {
  const posting = shownPosting();
  if (!page || lost || moving || document.hidden || (shown === null && !posting)) return;
  try {
    await fetch("/api/sign_shown", { method: "POST", cache: "no-store", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ page, text: $("value").textContent, posting }) });
  } catch { /* the box counts a silent sign as stale */ }
}
setInterval(report, REPORT);

follow("/api/sign", { page: (now) => { page = now.page; }, posting: drawPosting, state: (now) => {
  received = new Date();
  halted = Boolean(now.halted);
  mark();
  $("game").textContent = now.game || now.table;
  const meter = now.meter;
  show($("pending"), meter && meter.pending ? `Pending: jackpot at ${now.table}` : "");
  $("value").classList.toggle("hidden", !meter && document.body.classList.contains("posted"));
  if (!meter) { shown = moving = null; $("value").textContent = "–"; show($("won")); return; }
  go(meter.current);
  show($("won"), meter.hits.slice(-3).map(won));
} }, (gone) => { if (gone !== lost) { lost = gone; mark(); } if (!gone) received = new Date(); });

document.addEventListener("click", () => { if (!document.fullscreenElement) document.documentElement.requestFullscreen().catch(() => {}); });
