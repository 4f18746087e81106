// The theme, chosen in the header and remembered by the browser.

import { stored } from "./api.js";

function show(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

const theme = document.getElementById("theme");
theme.value = stored("localStorage", "theme");
show(theme.value);
theme.addEventListener("change", () => show(stored("localStorage", "theme", theme.value)));
