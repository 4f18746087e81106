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

  // Shows the files and translates one after the other; folders only get a message.
  async function translateAll(files, folders = []) {
    const run = selected();
    if (!run) return;
    const wanted = wishes();
    const states = files.map(() => h("span", { class: "muted" }, "waiting"));
    const row = (file, state) => h("li", {}, h("span", {}, file.name), state);
    list.prepend(...files.map((file, i) => row(file, states[i])),
      ...folders.map((folder) => row(folder, h("span", { class: "bad" }, "Drop files, not folders"))));
    for (const [i, file] of files.entries()) await translate(file, states[i], run, wanted);
  }

  async function translate(file, state, run, wanted) {
    state.className = "";
    state.replaceChildren(h("progress", { "aria-label": `Translating ${file.name}` }));
    const form = new FormData();
    form.append("file", file);
    form.append("source", run.source);
    form.append("target", run.target);
    for (const [name, value] of Object.entries(wanted)) form.append(name, value);
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

  input.addEventListener("change", async () => { await translateAll([...input.files]); input.value = ""; });
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  const over = (event) => { if (hasFiles(event)) { event.preventDefault(); card.classList.add("over"); } };
  const leave = () => card.classList.remove("over");
  const drop = (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    leave();
    const items = [...event.dataTransfer.items].filter((each) => each.kind === "file");
    const isFolder = (item) => item.webkitGetAsEntry()?.isDirectory;
    const filesOf = (some) => some.map((each) => each.getAsFile());
    translateAll(filesOf(items.filter((each) => !isFolder(each))), filesOf(items.filter(isFolder)));
  };
  // Anywhere on the page: a file beside the card would otherwise replace the page.
  const handlers = { dragover: over, dragleave: leave, drop };
  for (const [name, handler] of Object.entries(handlers)) addEventListener(name, handler);
  return { card, stop: () => { for (const [name, handler] of Object.entries(handlers)) removeEventListener(name, handler); } };
}
