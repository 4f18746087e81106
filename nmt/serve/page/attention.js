// Pictures of attention: lines between two columns of words, and a heat map.

import { svg, percent, shorten } from "./dom.js";

const ROW = 26;

const MOST = 24; // characters of a word
const pen = document.createElement("canvas").getContext("2d");
pen.font = "700 13px system-ui, sans-serif"; // as in style.css; the chosen word is bold
const short = (word) => shorten(word.text, MOST);
const width = (words) => Math.max(30, ...words.map((word) => pen.measureText(short(word)).width + 4));

export function drawLines(sides, weights, chosen, choose) {
  const left = width(sides.source);
  const right = left + 150;
  const height = ROW * Math.max(sides.source.length, sides.target.length) + 8;
  const y = (i) => ROW * i + 20;
  const strongest = chosen === null ? -1 : weights[chosen].indexOf(Math.max(...weights[chosen]));
  const lines = weights.flatMap((row, t) =>
    row.flatMap((weight, s) => {
      const shown = chosen === null ? weight : t === chosen ? weight : weight * 0.12;
      if (shown < 0.02) return [];
      return [svg("line", {
        class: "link", x1: left + 8, y1: y(s) - 5, x2: right - 8, y2: y(t) - 5,
        "stroke-width": 1 + 5 * shown, "stroke-opacity": Math.min(1, 0.1 + shown),
      })];
    }),
  );
  return svg("svg", {
    width: right + width(sides.target) + 8, height, role: "img",
    "aria-label": "Lines from each source word, left, to the words of the translation that attend to it, right",
  },
    lines,
    sides.source.map((word, i) => svg("text", { x: left, y: y(i), "text-anchor": "end", class: i === strongest ? "chosen" : "" }, short(word))),
    sides.target.map((word, i) => svg("text", {
      x: right, y: y(i), class: i === chosen ? "chosen" : "", "data-word": i, onmouseenter: () => choose(i), onclick: () => choose(i),
    }, short(word))),
  );
}

export function drawHeat(sides, weights, chosen, choose) {
  const left = width(sides.target) + 6;
  const top = width(sides.source) * 0.75 + 14;
  const cells = weights.flatMap((row, t) =>
    row.map((weight, s) => svg("rect", {
      class: "cell", x: left + ROW * s, y: top + ROW * t, width: ROW, height: ROW, "fill-opacity": weight,
      onmouseenter: () => choose(t),
    }, svg("title", {}, `${sides.target[t].text} ← ${sides.source[s].text}: ${percent(weight)}`))),
  );
  return svg("svg", {
    width: left + ROW * sides.source.length + top * 0.8, height: top + ROW * sides.target.length + 4, role: "img",
    "aria-label": "Heat map: a row for each word of the translation, a column for each source word",
  },
    cells,
    sides.source.map((word, i) => svg("text", { transform: `translate(${left + ROW * i + 16},${top - 6}) rotate(-50)` }, short(word))),
    sides.target.map((word, i) => svg("text", { x: left - 6, y: top + ROW * i + 18, "text-anchor": "end", class: i === chosen ? "chosen" : "" }, short(word))),
  );
}
