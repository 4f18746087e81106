// The view Compare: two runs on one text, and on a held-out set.

import { latest, stored } from "./api.js";
import { debounced, h } from "./dom.js";

export function start(main) {
  const runs = [h("select", { id: "first" }), h("select", { id: "second" })];
  const asks = [latest(), latest()];
  const requests = [0, 0];
  const askRuns = latest();
  const askComparison = latest();
  const outputs = runs.map((_, i) => h("div", { class: "output", dir: "auto", "aria-live": "polite", role: "group", "aria-label": `Translation of the ${["first", "second"][i]} run` }));
  const heads = runs.map(() => h("h2"));
  const text = h("textarea", { id: "text", dir: "auto", "aria-label": "Text to translate", placeholder: "Type a sentence" });
  const split = h("select", {}, h("option", { value: "test" }, "test"), h("option", { value: "validation" }, "validation"));
  const count = h("input", { type: "number", min: 1, max: 500, value: 100 });
  const button = h("button", { type: "submit", class: "main", disabled: true }, "Compare");
  const results = h("div", { id: "results", "aria-live": "polite" });
  const notice = h("p", { class: "card", hidden: true }, "One run is served. To compare two: ", h("code", {}, "nmt serve --run runs/a --run runs/b"));
  const rest = h("div");
  text.value = stored("sessionStorage", "compared");
  main.append(
    h("h1", {}, "Compare"), notice, rest,
  );
  rest.append(
    h("div", { class: "bar" }, h("label", {}, "First ", runs[0]), h("label", {}, "Second ", runs[1])),
    h("section", { class: "card" }, text),
    h("div", { class: "pair" }, heads.map((head, i) => h("section", { class: "card" }, head, outputs[i]))),
    h("section", { class: "card" }, h("h2", {}, "On a held-out set"),
      h("form", { class: "bar", onsubmit: (event) => { event.preventDefault(); compare(); } },
        h("label", {}, "Set ", split), h("label", {}, "Sentences ", count), button),
      results),
  );

  function hint(i, text = "The translation appears here.") {
    outputs[i].replaceChildren(h("span", { class: "empty" }, text));
  }

  function translate() {
    if (!text.isConnected) return; // another view is shown
    if (!runs[0].value) return loadRuns(); // it translates
    runs.forEach(async (run, i) => {
      const request = ++requests[i];
      heads[i].textContent = run.value;
      if (!text.value.trim()) {
        asks[i].cancel();
        hint(i);
        return;
      }
      hint(i, "…");
      const found = await asks[i]("/v1/translate", { text: text.value, run: run.value });
      if (request !== requests[i]) return; // asked again meanwhile
      if (!found) {
        hint(i);
        return;
      }
      const scores = found.texts[0].sentences.map((each) => each.translations[0].score.toFixed(3)).join(", ");
      outputs[i].replaceChildren(found.texts[0].translation, h("p", { class: "score" }, `score ${scores}`));
    });
  }

  async function compare() {
    button.disabled = true;
    results.replaceChildren(h("p", {}, "Translating …"));
    const found = await askComparison("/v1/compare", { runs: runs.map((run) => run.value), split: split.value, sentences: Number(count.value) });
    if (found) showResults(found);
    else results.replaceChildren();
    button.disabled = false;
  }

  function showResults(found) {
    const summary = h("p", {}, `${found.sentences.length} of ${found.count} translations differ. BLEU: ${found.runs[0]} ${found.bleu[0].toFixed(2)}, ${found.runs[1]} ${found.bleu[1].toFixed(2)}.`);
    if (!found.sentences.length) {
      results.replaceChildren(summary);
      return;
    }
    results.replaceChildren(summary, h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Translations that differ" }, h("table", { class: "wide" },
      h("thead", {}, h("tr", {}, ["Source", "Reference", ...found.runs].map((title) => h("th", { scope: "col" }, title)))),
      h("tbody", {}, found.sentences.map((row) => h("tr", {}, h("td", { dir: "auto" }, row.source), h("td", { dir: "auto" }, row.reference),
        row.translations.map((translation, i) => h("td", { dir: "auto" }, translation, h("span", { class: "score" }, `chrF ${row.chrf[i].toFixed(1)}${row.chrf[i] > row.chrf[1 - i] ? " ✓ better" : ""}`)))))))));
  }

  const translateSoon = debounced(translate, 250);
  text.addEventListener("input", () => { stored("sessionStorage", "compared", text.value); translateSoon(); });
  for (const run of runs) run.addEventListener("change", () => { keepApart(); translate(); });

  // A run is not compared with itself.
  function keepApart() {
    runs.forEach((run, i) => {
      for (const option of run.options) option.disabled = option.value === runs[1 - i].value;
    });
  }

  async function loadRuns() {
    const found = await askRuns("/v1/runs");
    const served = found?.filter((each) => each.served) ?? [];
    if (!served.length) return;
    runs.forEach((run, i) => {
      run.replaceChildren(...served.map((each) => h("option", { value: each.name }, each.name)));
      run.selectedIndex = Math.min(i, served.length - 1);
    });
    notice.hidden = served.length > 1;
    rest.hidden = served.length < 2;
    keepApart();
    button.disabled = false;
    translate();
  }

  loadRuns();
  return () => [...asks, askRuns, askComparison].forEach((ask) => ask.cancel());
}
