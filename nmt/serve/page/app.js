// The frame of the page: navigation between views, the API key.

import { forgetProblems, showProblem, stored } from "./api.js";
import "./theme.js";

const VIEWS = { translate: "Translate", runs: "Runs", compare: "Compare" };
const main = document.getElementById("main");
let stop = () => {};
let shows = 0; // calls of show() so far

async function show(focus) {
  const [, name, query] = location.hash.match(/^#\/(\w+)\??(.*)$/) ?? [];
  const view = Object.hasOwn(VIEWS, name ?? "") ? name : "translate";
  document.title = `${VIEWS[view]} – nmt`;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#/${view}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  stop();
  stop = () => {};
  forgetProblems();
  main.replaceChildren();
  const number = ++shows;
  let start;
  try {
    ({ start } = await import(`./${view}.js`));
  } catch {
    if (number === shows) showProblem("The server does not answer. Is nmt serve still running?");
    return;
  }
  if (number !== shows) return; // the user has chosen another view meanwhile
  stop = start(main, new URLSearchParams(query)) ?? (() => {});
  if (focus) main.focus();
}

const key = document.getElementById("key");
key.value = stored("sessionStorage", "key");
key.addEventListener("change", () => {
  stored("sessionStorage", "key", key.value);
  show(false);
});
// If this fails, the field appears when a request is refused.
fetch("frontend/settings").then((answer) => answer.json()).then((found) => {
  if (found.keyRequired) document.getElementById("key-field").hidden = false;
}).catch(() => {});

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // keep the address, which has the view and the text
  main.focus();
});
addEventListener("hashchange", () => show(true));
show(false);
