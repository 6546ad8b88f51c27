// The meter sign: a display for players. It shows nothing that is old as if it were new.

import { $, follow } from "./common.js";

let shown = null;
let wanted = null;
let moving = null;

function write(amount) {
  $("value").textContent = `$${(Math.floor(amount / 10000) / 100).toLocaleString("en-US", { minimumFractionDigits: 2 })}`;
}

function move() {
  if (shown === wanted) { clearInterval(moving); moving = null; return; }
  const step = Math.max(10000, Math.ceil(Math.abs(wanted - shown) / 12));
  shown = Math.abs(wanted - shown) <= step ? wanted : shown + (wanted > shown ? step : -step);
  write(shown);
}

follow("/api/sign", { state: (now) => {
  $("game").textContent = now.game || now.table;
  const meter = now.meter;
  $("value").classList.toggle("stale", Boolean(now.halted));
  $("state").textContent = now.halted ? "This table is closed for the moment" : "";
  if (!meter) { $("value").textContent = "–"; $("won").textContent = ""; return; }
  wanted = meter.current;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (shown === null || still) { shown = wanted; write(shown); }
  else if (shown !== wanted && moving === null) moving = setInterval(move, 80);
  const hit = meter.hits[meter.hits.length - 1];
  $("won").textContent = hit ? `Seat ${hit.seat} wins ${hit.amount}` : meter.pending ? `${meter.pending} is being paid` : "";
} }, (lost) => {
  $("value").classList.toggle("stale", lost);
  $("state").textContent = lost ? "The amount is being checked" : "";
});
