// A card for documents: choose or drop them, and fetch their translations.

import { call } from "./api.js";
import { h } from "./dom.js";

// selected: returns the run to translate with, or undefined; wishes: further fields of the request
export function filesCard(selected, wishes) {
  const input = h("input", { type: "file", id: "files", multiple: true, class: "visually-hidden" });
  const formats = h("span", { class: "small muted" });
  const list = h("ul", { class: "files", "aria-live": "polite" });
  const choose = h("label", { class: "button", for: "files" }, "Choose files");
  const card = h("section", { class: "card drop", id: "documents" },
    h("h2", {}, "Documents"),
    h("div", { class: "bar" }, input, choose, h("span", {}, "or drop them here"), formats), list);

  call("/frontend/settings").then((found) => {
    formats.textContent = found.supportedFilesFormat.join(", ");
    input.accept = found.supportedFilesFormat.join(",");
  }).catch(() => {});

  async function translate(file) {
    const run = selected();
    if (!run) return;
    const state = h("span", {}, h("progress", { "aria-label": `Translating ${file.name}` }));
    list.prepend(h("li", {}, h("span", {}, file.name), state));
    const form = new FormData();
    form.append("file", file);
    form.append("source", run.source);
    form.append("target", run.target);
    for (const [name, value] of Object.entries(wishes())) form.append(name, value);
    try {
      const found = await call("/translate_file", form);
      const { pathname } = new URL(found.translatedFileUrl);
      const address = pathname.slice(pathname.indexOf("/download_file/") + 1);
      const name = decodeURIComponent(address.split("/").at(-1));
      state.replaceChildren(h("a", { href: address, download: name }, name), found.encoding ? ` (read as ${found.encoding}, written as UTF-8)` : "",
        found.missing_terms ? ` Terms that could not be placed: ${found.missing_terms.join(", ")}.` : "");
    } catch (error) {
      state.replaceChildren(h("span", { class: "bad" }, error.message));
    }
  }

  const translateAll = async (files) => { for (const file of [...files]) await translate(file); };
  input.addEventListener("change", async () => { await translateAll(input.files); input.value = ""; });
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  const over = (event) => { if (hasFiles(event)) { event.preventDefault(); card.classList.add("over"); } };
  const leave = () => card.classList.remove("over");
  const drop = (event) => { if (hasFiles(event)) { event.preventDefault(); leave(); translateAll(event.dataTransfer.files); } };
  // Anywhere on the page: a file beside the card would otherwise replace the page.
  const handlers = { dragover: over, dragleave: leave, drop };
  for (const [name, handler] of Object.entries(handlers)) addEventListener(name, handler);
  return { card, stop: () => { for (const [name, handler] of Object.entries(handlers)) removeEventListener(name, handler); } };
}
