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

  // The server's glossaries have tabs. A line without a translation is still being typed; like a
  // comment, it is empty for the server, whose messages count the lines.
  const lines = () => field.value.split("\n").map((line) => line.trim())
    .map((line) => (line.includes("\t") ? line : line.replace(/\s*=\s*/, "\t")))
    .map((line) => (!line.startsWith("#") && /\S\t.*\S/.test(line) ? line : ""));

  const glossary = () => lines().join("\n").trimEnd();

  function showCount() {
    const { length } = lines().filter(Boolean);
    count.textContent = length ? `(${length.toLocaleString("en")})` : "";
  }

  field.addEventListener("input", () => {
    stored("localStorage", name, field.value);
    showCount();
    changed();
  });
  return {
    card,
    wishes: () => (glossary() ? { glossary: glossary() } : {}),
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
