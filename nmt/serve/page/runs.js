// The view Runs: a table, training curves, and everything about one run.

import { call } from "./api.js";
import { h } from "./dom.js";
import { plot } from "./plot.js";

const COLUMNS = [
  ["name", "Run"], ["languages", "Languages"], ["config", "Config"], ["data", "Data"],
  ["parameters", "Parameters"], ["updates", "Updates"], ["bleu", "BLEU"], ["seconds", "Changed"],
];
const NUMBERS = new Set(["parameters", "updates", "bleu", "seconds"]);
// A title, and for each curve its name, the points that it is drawn from, and whether it is dashed.
const PLOTS = [
  ["Loss (training dashed)", [["training", (found) => trained(found, "loss", "train_loss"), true], ["validation", (found) => validated(found, "loss"), false]]],
  ["BLEU on validation, or chrF in languages without spaces", [["", scored, false]]],
  ["Learning rate", [["", (found) => trained(found, "learning_rate", "learning_rate"), false]]],
];
const MOST_SERIES = 6;
const POLL = { training: 2000, idle: 4000 }; // milliseconds

const pointsOf = (lines, field) => lines.map((line) => [line.update, line[field]]).filter(([, y]) => y !== null);
const validated = (found, field) => pointsOf(found.metrics, field);

// chrF in languages that BLEU cannot score.
function scored(found) {
  return validated(found, found.metrics.some((line) => "chrf" in line) ? "chrf" : "bleu");
}
const scoreOf = (row) => (row.chrf ?? null) === null ? (row.bleu?.toFixed(2) ?? "–") : `chrF ${row.chrf.toFixed(2)}`;

// Every few updates; runs of earlier versions recorded only validations.
function trained(found, field, former) {
  return found.updates.length ? pointsOf(found.updates, field) : validated(found, former);
}

function age(seconds) {
  for (const [unit, length] of [["d", 86400], ["h", 3600], ["min", 60]]) {
    if (seconds >= 2 * length) return `${Math.round(seconds / length)} ${unit}`;
  }
  return `${Math.round(seconds)} s`;
}

export function start(main) {
  const state = { rows: [], sort: "seconds", up: true, shown: new Set(), details: new Map(), chosen: null, validation: -1, drawn: "", poll: POLL.training };
  const table = h("table", { id: "runs", class: "wide" });
  const plots = h("div", { class: "plots" });
  const legend = h("p", { class: "small" });
  const about = h("section", { class: "card", id: "about", hidden: true });
  main.append(
    h("h1", {}, "Runs"),
    h("section", { class: "card scroll", tabindex: 0, "aria-label": "Table of runs" }, table),
    h("section", { class: "card" }, h("h2", {}, "Training"), legend, plots),
    about,
  );

  function value(row, column) {
    return column === "languages" ? `${row.source} → ${row.target}` : row[column];
  }

  function showTable() {
    const rows = [...state.rows].sort((a, b) => {
      const [one, two] = [value(a, state.sort), value(b, state.sort)];
      if (one === null || two === null) return (one === null) - (two === null);
      return (one < two ? -1 : one > two ? 1 : 0) * (state.up ? 1 : -1);
    });
    const active = document.activeElement?.dataset?.key;
    const heads = COLUMNS.map(([column, title]) => h("th", {
      scope: "col", class: NUMBERS.has(column) ? "number" : "", "aria-sort": state.sort === column ? (state.up ? "ascending" : "descending") : null,
    }, h("button", { type: "button", "data-key": `sort ${column}`, onclick: () => sortBy(column) }, title, state.sort === column ? (state.up ? " ▲" : " ▼") : "")));
    table.replaceChildren(
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Plot"), heads)),
      h("tbody", {}, rows.map(showRow)),
    );
    if (active) table.querySelector(`[data-key="${CSS.escape(active)}"]`)?.focus();
  }

  function showRow(row) {
    const texts = {
      parameters: row.parameters?.toLocaleString("en") ?? "–", updates: row.updates?.toLocaleString("en") ?? "–",
      bleu: scoreOf(row), seconds: row.seconds === null ? "–" : `${age(row.seconds)} ago`,
    };
    const box = h("input", { type: "checkbox", "data-key": `plot ${row.name}`, "aria-label": `Plot ${row.name}`, onchange: () => toggle(row.name) });
    box.checked = state.shown.has(row.name);
    return h("tr", {}, h("td", {}, box), COLUMNS.map(([column]) => {
      if (column === "name") return h("td", {}, h("button", { type: "button", "data-key": `run ${row.name}`, "aria-pressed": String(state.chosen === row.name), onclick: () => chooseRun(row.name) }, row.name), row.served ? h("span", { class: "small muted" }, " served") : null);
      return h("td", { class: NUMBERS.has(column) ? "number" : "" }, texts[column] ?? String(value(row, column)));
    }));
  }

  function sortBy(column) {
    state.up = state.sort === column ? !state.up : true;
    state.sort = column;
    showTable();
  }

  async function toggle(name) {
    if (!state.shown.delete(name)) state.shown.add(name);
    await refresh();
  }

  async function chooseRun(name) {
    state.chosen = name;
    state.validation = -1;
    await load(name).catch(() => {}); // the error is shown above the page
    showTable();
    showAbout();
    about.scrollIntoView({ block: "nearest" });
  }

  function showPlots() {
    const names = [...state.shown].slice(0, MOST_SERIES).filter((name) => state.details.has(name));
    legend.replaceChildren(...(names.length
      ? names.map((name, i) => h("span", { class: `s${i + 1}` }, h("span", { class: "swatch" }), `${name}  `)).concat(state.shown.size > MOST_SERIES ? h("span", { class: "muted" }, `At most ${MOST_SERIES} runs are drawn.`) : [])
      : [h("span", { class: "muted" }, "Choose runs in the table to see their curves.")]));
    plots.replaceChildren(...PLOTS.map(([title, curves]) => h("figure", {}, h("figcaption", { class: "small muted" }, title),
      plot(title, names.flatMap((name, i) => curves.map(([curve, points, dashed]) => ({
        name: curve ? `${name} ${curve}` : name, color: i + 1, dashed, points: points(state.details.get(name)),
      })))))));
  }

  function showAbout() {
    const found = state.details.get(state.chosen);
    about.hidden = !found;
    if (!found) return;
    const open = [...about.querySelectorAll("details")].map((each) => each.open);
    const within = () => [...about.querySelectorAll("summary, select, .scroll")];
    const [focused, places] = [within().indexOf(document.activeElement), within().map((each) => each.scrollLeft)];
    about.replaceChildren(h("h2", {}, found.name), ...[samplesOf(found), reportOf(found), configOf(found)].map((content, i) =>
      h("details", { open: open.length ? open[i] : i === 0 }, h("summary", {}, content[0]), content[1])));
    within().forEach((each, i) => { each.scrollLeft = places[i] ?? 0; });
    within()[focused]?.focus();
  }

  function samplesOf(found) {
    if (!found.metrics.length) return ["Sample translations", h("p", {}, "No validation yet.")];
    const count = found.metrics.length;
    const number = state.validation < 0 ? count - 1 : Math.min(state.validation, count - 1);
    const choose = h("select", { id: "validation", onchange: () => { state.validation = Number(choose.value); showAbout(); } },
      found.metrics.map((line, i) => h("option", { value: i }, `update ${line.update}: ${"chrf" in line ? "" : "BLEU "}${scoreOf(line)}`)));
    choose.value = number;
    return ["Sample translations", h("div", {}, h("label", {}, "Validation ", choose), h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Sample translations" }, h("table", { class: "wide" },
      h("thead", {}, h("tr", {}, ["Source", "Translation", "Reference"].map((title) => h("th", { scope: "col" }, title)))),
      h("tbody", {}, found.metrics[number].samples.map((each) => h("tr", {}, [each.source, each.translation, each.reference].map((text) => h("td", { dir: "auto" }, text))))))))];
  }

  function reportOf(found) {
    const report = found.report;
    const list = (object) => Object.entries(object).map(([name, count]) => `${name} ${count.toLocaleString("en")}`).join(", ") || "none";
    const length = (side) => `${side}: mean ${report.lengths[side].mean}, 95% ≤ ${report.lengths[side].p95}, longest ${report.lengths[side].longest}`;
    const facts = [
      ["Pairs read", report.read.toLocaleString("en")], ["Dropped", list(report.dropped)], ["Kept", list(report.pairs)],
      ["Length in tokens", `${length("source")}; ${length("target")}`], ["Vocabulary", list(report.vocabulary_size)],
      ...Object.entries(report.coverage).map(([split, sides]) => [`Known tokens, ${split}`, Object.entries(sides).map(([side, share]) => `${side} ${(100 * share).toFixed(2)}%`).join(", ")]),
      ["Source also in training", list(report.source_in_train)],
    ];
    return ["Data", h("dl", { class: "facts" }, facts.flatMap(([name, text]) => [h("dt", {}, name), h("dd", {}, text)]))];
  }

  function configOf(found) {
    return ["Configuration", h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Fields" }, h("table", { class: "fields" },
      h("thead", {}, h("tr", {}, ["Field", "Value", "Default", "What it does"].map((title) => h("th", { scope: "col" }, title)))),
      h("tbody", {}, found.config.map((field) => h("tr", {}, h("td", {}, h("code", {}, field.name)), h("td", {}, field.value), h("td", { class: "muted" }, field.default), h("td", { class: "small" }, field.description))))))];
  }

  async function load(name) {
    state.details.set(name, await call(`/v1/runs/${encodeURIComponent(name)}`, undefined, undefined, "/v1/runs"));
  }

  async function refresh() {
    try {
      const rows = await call("/v1/runs");
      const readable = rows.filter((row) => row.seconds !== null);
      if (!state.rows.length) for (const row of readable.slice(0, 1)) state.shown.add(row.name);
      const names = new Set(rows.map((row) => row.name));
      for (const name of [...state.shown, ...state.details.keys()]) {
        if (names.has(name)) continue;
        state.shown.delete(name); // it was deleted
        state.details.delete(name);
      }
      if (!names.has(state.chosen)) {
        state.chosen = readable[0]?.name ?? null;
        state.validation = -1;
        about.hidden = true; // until the details are loaded
      }
      const wanted = new Set([...state.shown, state.chosen]);
      const updates = (name) => state.details.get(name).metrics.at(-1)?.update ?? null;
      const stale = readable.filter((row) => wanted.has(row.name) && (!state.details.has(row.name) || row.updates !== updates(row.name)));
      await Promise.all(stale.map((row) => load(row.name)));
      state.rows = rows; // after loading, so that a failed load is repeated
      // Redrawing under the pointer loses clicks and selected text.
      const drawn = JSON.stringify([rows.map((row) => ({ ...row, seconds: age(row.seconds ?? 0) })), [...state.shown], state.chosen]);
      if (stale.length || drawn !== state.drawn) {
        showTable();
        showPlots();
      }
      state.poll = stale.length ? POLL.training : POLL.idle;
      state.drawn = drawn;
      if (stale.some((row) => row.name === state.chosen) || about.hidden) showAbout();
    } catch {
      // the error is shown above the page
    }
  }

  let timer;
  async function poll() {
    if (!document.hidden) await refresh();
    if (table.isConnected) timer = setTimeout(poll, state.poll);
  }
  poll();
  return () => clearTimeout(timer);
}
