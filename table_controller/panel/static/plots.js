// Plots for the technician: lines, a heat map, bars. Every plot has a text alternative.

import { h, machineName, svg, timeText } from "./common.js";

const WIDTH = 640;
const LEFT = 72;
const COLORS = 8; // colors of lines in the style sheet

function scale(least, most, from, to) {
  const span = most - least || 1;
  return (value) => from + ((value - least) / span) * (to - from);
}

function short(value) {
  return Math.abs(value) >= 100 ? String(Math.round(value)) : String(Math.round(value * 10) / 10);
}

function axis(least, most, y, unit) {
  return [least, (least + most) / 2, most].flatMap((value) => [
    svg("line", { class: "axis", x1: LEFT, x2: WIDTH, y1: y(value), y2: y(value) }),
    svg("text", { x: LEFT - 6, y: y(value) + 5, "text-anchor": "end" }, `${short(value)}${unit}`)]);
}

// Lines: `series` is [{name, points: [[x, y], …]}], `foot` the labels below both ends.
export function lines(title, unit, series, foot) {
  const points = series.flatMap((one) => one.points);
  if (!points.length) return h("p", { class: "soft" }, `${title}: no data yet.`);
  const height = 150;
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  const least = Math.min(0, ...ys);
  const most = Math.max(least + 1, ...ys);
  const x = scale(Math.min(...xs), Math.max(...xs), LEFT, WIDTH - 4);
  const y = scale(least, most, height - 6, 10);
  const values = series.map((one) => `${one.name} ${short(one.points[one.points.length - 1][1])}`).join(", ");
  return h("figure", {}, h("figcaption", {}, title),
    svg("svg", { viewBox: `0 0 ${WIDTH} ${height + 22}`, role: "img", "aria-label": `${title}; last: ${values}` }, axis(least, most, y, unit),
      series.map((one, at) => (one.points.length > 1
        ? svg("polyline", { class: `line c${at % COLORS}`, points: one.points.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(" ") })
        : svg("circle", { class: `dot c${at % COLORS}`, cx: x(one.points[0][0]), cy: y(one.points[0][1]), r: 4 }))),
      svg("text", { x: LEFT, y: height + 16 }, foot[0]), svg("text", { x: WIDTH, y: height + 16, "text-anchor": "end" }, foot[1])),
    h("div", { class: "legend" }, series.map((one, at) => h("span", {}, h("i", { class: `c${at % COLORS}` }), `${one.name} ${short(one.points[one.points.length - 1][1])}${unit}`))));
}

// Heat map of faults: a row for each place, a cell for each hour of the day (local time); darker is more.
export function heat(utcRows) {
  const shift = Math.round(new Date().getTimezoneOffset() / 60); // whole hours from local time to UTC
  const rows = utcRows.map((row) => ({ place: row.place, hours: row.hours.map((_, hour) => row.hours[(hour + shift + 24) % 24]) }));
  if (!rows.length) return h("p", { class: "soft" }, "No faults in the journal.");
  const label = 170;
  const cell = (WIDTH - label) / 24;
  const most = Math.max(...rows.flatMap((row) => row.hours));
  return h("figure", {}, h("figcaption", {}, "Faults by segment and hour of the day (local time)"),
    svg("svg", { viewBox: `0 0 ${WIDTH} ${24 + 26 * rows.length}`, role: "img", "aria-label": rows.map((row) => `${machineName(row.place)}: ${row.hours.reduce((a, b) => a + b)} faults`).join("; ") },
      [0, 6, 12, 18, 23].map((hour) => svg("text", { x: label + cell * (hour + 0.5), y: 14, "text-anchor": "middle" }, String(hour))),
      rows.map((row, j) => [svg("text", { x: 0, y: 24 + 26 * j + 18 }, machineName(row.place)),
        row.hours.map((count, hour) => [svg("rect", { class: count ? "hot" : "cold", x: label + cell * hour, y: 24 + 26 * j, width: cell - 2, height: 24, rx: 3, "fill-opacity": count ? 0.35 + 0.65 * (count / most) : 1 }),
          count ? svg("text", { class: "on", x: label + cell * (hour + 0.5) - 1, y: 24 + 26 * j + 17, "text-anchor": "middle" }, String(count)) : null])])));
}

function seconds(value) {
  if (value === null) return "not yet";
  return value < 600 ? `${value} s` : `${Math.round(value / 60)} min`;
}

// Time to clear: a bar for each fault, with marks at acknowledgment and clearing.
export function waits(faults) {
  if (!faults.length) return null;
  const label = 250;
  const longest = Math.max(1, ...faults.map((one) => one.returned || 0));
  const x = scale(0, longest, label, WIDTH - 70);
  const when = (one) => timeText(one.at, { date: true });
  return h("figure", {}, h("figcaption", {}, "Time to clear: from the fault to return to service; marks: acknowledged, cleared"),
    svg("svg", { viewBox: `0 0 ${WIDTH} ${22 * faults.length}`, role: "img", "aria-label": faults.map((one) => `${machineName(one.slot)} ${when(one)} ${seconds(one.returned)}`).join("; ") },
      faults.map((one, j) => [svg("text", { x: 0, y: 22 * j + 15 }, `${when(one)} ${machineName(one.slot)} ${one.segment === "not known" ? "" : one.segment}`),
        svg("rect", { class: one.returned === null ? "open" : "bar", x: label, y: 22 * j + 3, width: Math.max(3, x(one.returned === null ? longest : one.returned) - label), height: 15, rx: 3 }),
        [one.acknowledged, one.cleared].filter((at) => at !== null).map((at) => svg("line", { class: "mark", x1: x(Math.min(at, longest)), x2: x(Math.min(at, longest)), y1: 22 * j + 1, y2: 22 * j + 20 })),
        svg("text", { x: x(one.returned === null ? longest : one.returned) + 6, y: 22 * j + 15 }, seconds(one.returned))])));
}
