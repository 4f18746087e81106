// The choice of a theme, at the end of the header; the browser remembers it.

import { stored } from "./api.js";
import { h } from "./dom.js";

function show(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

const theme = h("select", { id: "theme" }, h("option", { value: "" }, "system"),
  h("option", { value: "light" }, "light"), h("option", { value: "dark" }, "dark"));
theme.value = stored("localStorage", "theme");
show(theme.value);
theme.addEventListener("change", () => show(stored("localStorage", "theme", theme.value)));
document.querySelector("header").append(h("label", {}, "Theme ", theme));
