// A menu at a word.

import { h } from "./dom.js";

const MARGIN = 8; // pixels between the menu and the edge of the window

export function wordMenu() {
  const list = h("div", { class: "menu", role: "menu", popover: "auto" }); // the browser closes it on Escape and on a click elsewhere
  list.addEventListener("keydown", (event) => {
    const items = [...list.children];
    const here = items.indexOf(document.activeElement);
    const there = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: -1 }[event.key];
    if (event.key === "Tab") list.hidePopover(); // the focus returns to the word, and moves on from there
    if (there === undefined) return;
    event.preventDefault();
    items.at(there % items.length).focus();
  });
  return {
    list,
    close: () => list.hidePopover(),
    // items: [text, what to do if it is chosen]
    open(element, label, lang, items) {
      list.setAttribute("aria-label", label);
      list.replaceChildren(...items.map(([text, choose]) =>
        h("button", { type: "button", role: "menuitem", tabindex: -1, lang, dir: "auto", onclick: () => { list.hidePopover(); choose(); } }, text)));
      list.showPopover();
      const place = element.getBoundingClientRect();
      const top = place.bottom + list.offsetHeight + MARGIN > innerHeight ? place.top - list.offsetHeight : place.bottom;
      list.style.left = `${scrollX + Math.max(MARGIN, Math.min(place.left, innerWidth - list.offsetWidth - MARGIN))}px`;
      list.style.top = `${scrollY + Math.max(MARGIN, top)}px`;
      list.firstChild.focus({ preventScroll: true });
    },
  };
}
