// A line plot: several series over the updates of a training run.

import { svg } from "./dom.js";

const WIDTH = 460;
const HEIGHT = 260;
const MOST_MARKED = 30; // points of a curve; more would hide it
const EDGE = { left: 52, right: 20, top: 10, bottom: 34 };

function ticks(low, high) {
  const raw = (high - low) / 5 || 1;
  const scale = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * scale).find((each) => each >= raw);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step / 1e6; value += step) found.push(value);
  return found;
}

// gap: to the nearest other number shown, which must look different
function short(value, gap = Math.abs(value)) {
  const size = Math.abs(value);
  if (!size || size < gap / 1e6) return "0";
  if (size >= 1e6) return `${+(value / 1e6).toFixed(2)}M`;
  if (size >= 1e4) return `${+(value / 1e3).toFixed(1)}k`;
  const rounded = +value.toPrecision(Math.max(3, Math.ceil(Math.log10(size / gap)) + 1));
  return size < 1e-2 ? rounded.toExponential() : `${rounded}`;
}

// series: [{name, color, dashed, points: [[x, y], …]}]
export function plot(title, series) {
  const points = series.flatMap((each) => each.points);
  if (!points.length) return svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${title}: nothing yet` });
  const range = (values) => [Math.min(...values), Math.max(...values)];
  const [left, right] = [0, Math.max(...points.map(([x]) => x))];
  let [low, high] = range(points.map(([, y]) => y));
  if (low === high) [low, high] = [low - Math.abs(low) / 2 - 1e-9, high + Math.abs(high) / 2 + 1e-9];
  const x = (value) => EDGE.left + ((value - left) / (right - left || 1)) * (WIDTH - EDGE.left - EDGE.right);
  const y = (value) => HEIGHT - EDGE.bottom - ((value - low) / (high - low)) * (HEIGHT - EDGE.top - EDGE.bottom);
  const last = series.flatMap((each) => each.points.slice(-1).map((point) => `${each.name} ${short(point[1])}`)).join(", ");
  const [down, across] = [ticks(low, high), ticks(left, right)];
  return svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${title} by update; last: ${last}` },
    down.map((value) => [
      svg("line", { class: "axis", x1: EDGE.left, x2: WIDTH - EDGE.right, y1: y(value), y2: y(value) }),
      svg("text", { class: "tick", x: EDGE.left - 6, y: y(value) + 4, "text-anchor": "end" }, short(value, down[1] - down[0])),
    ]),
    across.map((value) => svg("text", { class: "tick", x: x(value), y: HEIGHT - EDGE.bottom + 16, "text-anchor": "middle" }, short(value))),
    svg("text", { class: "tick", x: WIDTH - EDGE.right, y: HEIGHT - 4, "text-anchor": "end" }, "update"),
    series.map((each) => [
      svg("path", { class: `series s${each.color}${each.dashed ? " dashed" : ""}`, d: each.points.map(([a, b], i) => `${i ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("") }),
      (each.points.length > MOST_MARKED ? [] : each.points).map(([a, b]) => svg("circle", { class: `s${each.color}`, cx: x(a), cy: y(b), r: 2.5 }, svg("title", {}, `${each.name}, update ${a}: ${short(b)}`))),
    ]),
  );
}
