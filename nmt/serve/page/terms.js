// A card for terms: how the user wants them translated, remembered by the browser for each direction.

import { stored } from "./api.js";
import { h } from "./dom.js";

// changed: called when the terms change
export function termsCard(changed) {
  let name = ""; // under which the browser remembers them
  const field = h("textarea", { id: "terms", rows: 4, spellcheck: "false", placeholder: "bill = Rechnung" });
  const count = h("span", { class: "small muted", id: "terms-count" });
  const card = h("details", { class: "card", id: "terms-card" }, h("summary", {}, "Terms ", count),
    h("label", { for: "terms", class: "small" }, "One on each line: term = translation. Inflected forms follow; = as the translation keeps the term."), field);

  // The server's glossaries have tabs.
  const lines = () => field.value.split("\n").map((line) => line.trim()).filter((line) => line && !line.startsWith("#"))
    .map((line) => (line.includes("\t") ? line : line.replace(/\s*=\s*/, "\t")));

  // A line without a translation is still being typed.
  const complete = () => lines().filter((line) => /\S\t.*\S/.test(line));

  function showCount() {
    const { length } = complete();
    count.textContent = length ? `(${length.toLocaleString("en")})` : "";
  }

  field.addEventListener("input", () => {
    stored("localStorage", name, field.value);
    showCount();
    changed();
  });
  return {
    card,
    wishes: () => (complete().length ? { glossary: complete().join("\n") } : {}),
    show: (run) => {
      const wanted = run ? `terms ${run.source} ${run.target}` : "";
      card.hidden = !run;
      if (!run || wanted === name) return;
      name = wanted;
      field.value = stored("localStorage", name);
      showCount();
    },
  };
}
