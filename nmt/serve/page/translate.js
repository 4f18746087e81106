// The view Translate: text, translation, and inspection.

import { call, latest, stored } from "./api.js";
import { drawHeat, drawLines } from "./attention.js";
import { debounced, h, percent, shorten } from "./dom.js";
import { filesCard } from "./files.js";
import { wordMenu } from "./menu.js";
import { termsCard } from "./terms.js";
import { bothSides, cut, probability, weights } from "./words.js";

const MOST_INSPECTED = 20; // sentences; the server has the same limit
const OPTIONS = 5;
const EXAMPLES = 3;
const LONGEST_ADDRESS = 2000; // characters; some programs cut longer ones
const LIKELY = 50; // per cent of words that are known in another language
const countSentences = (text) => [...new Intl.Segmenter(undefined, { granularity: "sentence" }).segment(text)].filter((each) => each.segment.trim()).length; // roughly as the server does

const kept = { text: "", run: "", address: "" }; // while another view is shown, or while the page has no key

export function start(main, query) {
  const state = { runs: [], loading: null, sentences: [], gap: "", chosen: 0, word: null, asked: null, shown: null, body: null, looks: 0, failed: false };
  const ask = latest();
  const askInside = latest();
  const askLanguage = latest();
  const askWords = latest();

  // ------------------------------------------------------------------------------- the two texts
  const run = h("select", { id: "run" });
  const swap = h("button", { type: "button", hidden: true, title: "Translate the translation back" }, "⇄ Swap");
  const address = h("select", { id: "address" },
    h("option", { value: "" }, "as the model chooses"), h("option", { value: "du" }, "du"),
    h("option", { value: "ihr" }, "ihr (several people)"), h("option", { value: "sie" }, "Sie"));
  const addressField = h("label", { hidden: true }, "Address readers ", address);
  address.value = stored("localStorage", "address");
  const text = h("textarea", { id: "text", dir: "auto", "aria-label": "Text to translate", placeholder: "Type a sentence", spellcheck: "false" });
  const notes = h("p", { class: "small muted", id: "notes", role: "status" });
  const output = h("div", { class: "output", id: "output", dir: "auto", "aria-live": "polite", "aria-label": "Translation", role: "group" });
  const begins = h("input", { id: "begins", dir: "auto", autocomplete: "off", spellcheck: "false" });
  const menu = wordMenu();
  const shade = h("input", { type: "checkbox", id: "shade" });
  const source = h("h2");
  const target = h("h2");
  const counter = h("span", { class: "small muted", id: "counter" });
  const clear = h("button", { type: "button", id: "clear", hidden: true }, "Clear");
  const examples = h("p", { class: "small", id: "examples", hidden: true });
  const otherLanguage = h("p", { class: "small", id: "other-language", role: "status", hidden: true });
  const copied = h("span", { class: "small muted", role: "status" });
  const copy = h("button", { type: "button" }, "Copy");
  const link = h("button", { type: "button" }, "Copy link");
  // The text may have been changed since the address was opened.
  if (kept.address !== location.hash) kept.text = query.get("text") ?? kept.text;
  text.value = kept.text;

  // ------------------------------------------------------------------------------- inspection
  const options = h("ol", { class: "options", id: "options" });
  const layer = h("select", { id: "layer" });
  const head = h("select", { id: "head" });
  const looked = h("p", { id: "looked", "aria-live": "polite" });
  const figures = h("div", { class: "figures", tabindex: 0, role: "group", "aria-label": "Pictures of attention" });
  const step = h("input", { type: "range", id: "step", min: 1, max: 1, value: 1 });
  const stepText = h("output", { for: "step" });
  const hypotheses = h("tbody");
  const which = h("select", { id: "sentence" });
  const whichField = h("label", { hidden: true }, "Sentence ", which);
  const inside = h("div", { id: "inside", hidden: true },
    h("div", { class: "bar" }, whichField),
    h("details", { class: "card", open: true }, h("summary", {}, "Alternatives"), options),
    h("details", { class: "card", open: true }, h("summary", {}, "Attention"),
      h("div", { class: "bar" }, h("label", {}, "Layer ", layer), h("label", {}, "Head ", head)), looked, figures),
    h("details", { class: "card", id: "beam" }, h("summary", {}, "Beam search"),
      h("div", { class: "bar" }, h("label", {}, "Step ", step), stepText),
      h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Hypotheses" }, h("table", {},
        h("thead", {}, h("tr", {}, h("th", {}, "Hypothesis"), h("th", { class: "number" }, "Log-probability"), h("th", {}, "Fate"))), hypotheses))),
  );
  const beam = inside.querySelector("#beam");
  const terms = termsCard(() => translateSoon());
  const files = filesCard(() => selected(), () => wishes());
  main.append(
    h("h1", { class: "visually-hidden" }, "Translate"),
    h("div", { class: "bar" }, h("label", {}, "Run ", run), swap, addressField,
      h("label", {}, shade, " Shade uncertain words")),
    h("div", { class: "pair" },
      h("section", { class: "card" }, source, text, examples, otherLanguage, h("div", { class: "bar below" }, counter, h("span", { class: "end" }, clear))),
      h("section", { class: "card" }, target, output, notes, h("label", { class: "small begins" }, "The translation begins with ", begins), h("div", { class: "bar below" }, copied, h("span", { class: "end" }, copy, link)))),
    terms.card, inside, files.card, menu.list,
  );

  const names = new Intl.DisplayNames(["en"], { type: "language" });
  const selected = () => state.runs.find((each) => each.name === run.value);
  // How the user wants it translated; the server takes these fields with each request.
  const wishes = () => ({ ...terms.wishes(), ...(addressField.hidden || !address.value ? {} : { address: address.value }) });
  const reverse = () => state.runs.find((each) => selected() && each.source === selected().target && each.target === selected().source);

  function nameLanguages() {
    const found = selected();
    source.textContent = found ? names.of(found.source) : "Text";
    target.textContent = found ? names.of(found.target) : "Translation";
    swap.hidden = !reverse();
    addressField.hidden = !found?.address;
    terms.show(found);
    showExamples(found);
  }

  // Sentences of the validation part, to try while there is no text.
  async function showExamples(found) {
    examples.hidden = true;
    if (!found || text.value) return;
    const details = await call(`/v1/runs/${encodeURIComponent(found.name)}`, undefined, undefined, examples).catch(() => null);
    if (text.value || found !== selected() || !examples.isConnected) return;
    const sources = (details?.metrics.at(-1)?.samples ?? []).slice(0, EXAMPLES).map((each) => each.source);
    const buttons = sources.map((each) => h("button", { type: "button", onclick: () => { setText(each); text.focus(); } }, shorten(each, 80)));
    examples.replaceChildren("Try: ", ...buttons);
    examples.hidden = !buttons.length;
  }

  function setText(value) {
    if (text.value !== value) text.value = value; // forgets what can be undone
    showCurrent();
    translate();
  }

  async function detect(value) {
    const { source: expected } = selected();
    otherLanguage.hidden = true;
    if (!value.trim()) return;
    const found = (await askLanguage("/detect", { q: value })) ?? [];
    const [likeliest] = found;
    const asExpected = found.find((each) => each.language === expected)?.confidence ?? 0;
    if (!likeliest || likeliest.confidence < LIKELY || likeliest.confidence <= asExpected) return;
    if (text.value !== value || selected()?.source !== expected) return; // changed meanwhile
    const language = names.of(likeliest.language);
    const other = reverse();
    if (other?.source === likeliest.language) {
      otherLanguage.replaceChildren(`This looks like ${language}. `,
        h("button", { type: "button", onclick: () => { run.value = other.name; nameLanguages(); showCurrent(); translate(); } }, `Translate from ${language}`));
    } else {
      otherLanguage.textContent = `This looks like ${language}; the run translates from ${names.of(expected)}.`;
    }
    otherLanguage.hidden = false;
  }

  // ------------------------------------------------------------------------------- rendering
  function showOutput() {
    output.replaceChildren(state.gap, ...state.sentences.flatMap((sentence, number) => [showSentence(sentence, number), sentence.gap]));
    output.classList.toggle("shaded", shade.checked);
    const first = output.querySelector(".word");
    if (first) first.tabIndex = 0;
    if (!state.sentences.length) output.append(h("span", { class: "empty" }, "The translation appears here."));
    which.replaceChildren(...state.sentences.map((each, i) => h("option", { value: i }, `${i + 1}: ${shorten(each.source, 60)}`)));
    const missing = state.sentences.flatMap((each) => each.missing_terms ?? []);
    notes.textContent = [
      describeDoubts(state.sentences.map((each) => each.translations[0])),
      missing.length ? `Terms that could not be placed: ${[...new Set(missing)].join(", ")}.` : "",
    ].filter(Boolean).join(" ");
    showProbabilities();
  }

  function describeDoubts(best) {
    const unknown = [...new Set(best.flatMap((each) => each.unknown))].slice(0, 20);
    return [
      best.every((each) => each.complete && each.in_proportion) ? "" : "Words may be missing: the length of the translation is unusual.",
      best.some((each) => each.from_memory) ? "Taken from the translation memory, in whole or in part." : "",
      best.some((each) => each.parts > 1) ? "A long sentence was translated in parts." : "",
      unknown.length ? `The model cannot read: ${unknown.join(" ")}` : "",
    ].filter(Boolean).join(" ");
  }

  function showSentence(sentence, number) {
    const best = sentence.translations[0].text;
    let count = 0;
    let place = 0;
    return h("span", { lang: selected()?.target }, cut(best).map((each) => {
      const before = best.slice(0, place);
      place += each.text.length;
      if (!each.word) return each.text;
      const word = count++;
      return h("span", {
        class: number === state.chosen && word === state.word ? "word chosen" : "word", role: "button", "aria-haspopup": "menu", tabindex: -1, "data-sentence": number, "data-number": word,
        onmouseenter: () => choose(number, word), onclick: (event) => { choose(number, word); offer(event.currentTarget, number, before); }, onfocus: () => choose(number, word),
      }, each.text);
    }));
  }

  // Shows what else could stand at the place of a word; before: the text before it in its sentence.
  async function offer(element, number, before) {
    const sentence = state.sentences[number];
    const [best] = sentence.translations;
    if (best.parts > 1) return;
    const found = await askWords("/v1/alternatives", { ...state.body, text: sentence.source, prefix: before, n_best: OPTIONS + 1 });
    const focused = document.activeElement;
    if (!found || !element.isConnected || (focused !== element && output.contains(focused))) return; // on to another word
    const rest = best.text.slice(before.length);
    const isThere = (word) => rest.startsWith(word) && !/^[\p{L}\p{N}]/u.test(rest.slice(word.length));
    const others = found.words.filter((each) => !isThere(each.word)).slice(0, OPTIONS);
    const items = others.map((each) => [each.word, () => settle(number, each.prefix)]);
    menu.open(element, `Instead of ${element.textContent}`, others.length ? selected()?.target : "en", items.length ? items : [["No other word fits here", () => {}]]);
  }

  // Translates a sentence again, from its settled words onward.
  async function settle(number, prefix) {
    const { body, word } = state;
    const { source, gap } = state.sentences[number];
    output.classList.add("busy");
    const found = await askWords("/v1/translate", { ...body, text: source, prefix, attention: true });
    if (body !== state.body || state.asked !== state.shown) return; // another text has been asked for meanwhile
    output.classList.remove("busy");
    if (!found) return;
    const [again] = found.texts[0].sentences;
    state.sentences[number] = { problem: "The steps are those of the model's own translation only.", ...again, gap, settled: true };
    Object.assign(state, { chosen: number, word });
    showOutput();
    showInside();
    focusWord(number, word);
  }

  function focusWord(number, word) {
    output.querySelector(`[data-sentence="${number}"][data-number="${word}"]`)?.focus();
  }

  // Changes no text, which a screen reader would read again.
  function showProbabilities() {
    for (const [number, sentence] of state.sentences.entries()) {
      if (!sentence.attention) continue;
      const elements = output.querySelectorAll(`[data-sentence="${number}"]`);
      const words = cut(sentence.translations[0].text, sentence.attention.target_spans).filter((each) => each.word);
      for (const [i, word] of words.entries()) {
        if (!word.tokens.length) continue;
        const sure = probability(sentence, word);
        elements[i].style.setProperty("--doubt", 1 - sure);
        elements[i].title = `probability ${percent(sure)}`;
      }
    }
  }

  function choose(number, word) {
    const other = number !== state.chosen;
    if (!other && word === state.word) return; // redrawing a picture under the pointer
    Object.assign(state, { chosen: number, word });
    if (other) which.value = number;
    output.querySelector(".word.chosen")?.classList.remove("chosen");
    output.querySelector(`[data-sentence="${number}"][data-number="${word}"]`)?.classList.add("chosen");
    if (other) showInside();
    else showAttention();
  }

  function showInside() {
    const sentence = state.sentences[state.chosen];
    inside.hidden = !sentence;
    if (!sentence) return;
    whichField.hidden = state.sentences.length < 2;
    which.value = state.chosen;
    options.replaceChildren(...sentence.translations.map((each, rank) => h("li", {},
      h("button", { type: "button", class: "option", lang: selected()?.target, dir: "auto", "aria-pressed": String(rank === 0), onclick: () => prefer(rank) }, each.text || "(empty)"), h("span", { class: "score" }, `score ${each.score.toFixed(3)}`),
      each.complete ? null : h("span", { class: "score" }, "truncated"), each.parts > 1 ? h("span", { class: "score" }, `${each.parts} parts`) : null,
      each.in_proportion ? null : h("span", { class: "score" }, "unusual length"))));
    const cross = sentence.attention?.cross;
    if (cross) {
      keepOptions(layer, ["average", ...cross.keys()]);
      keepOptions(head, ["average", ...cross[0].keys()]);
    }
    showAttention();
    showBeam();
  }

  // Shows another translation of the sentence; what is known of the pieces belongs to the best one.
  function prefer(rank) {
    const sentence = state.sentences[state.chosen];
    if (!rank || !sentence) return;
    const [chosen] = sentence.translations.splice(rank, 1);
    sentence.translations.unshift(chosen);
    Object.assign(sentence, { attention: undefined, beam: undefined, settled: true, problem: "Attention is shown of the best translation only." });
    askInside.cancel();
    state.looks++;
    state.word = null;
    showOutput();
    showInside();
    options.querySelector("button").focus();
  }

  function keepOptions(select, values) {
    const before = select.value;
    select.replaceChildren(...values.map((value) => h("option", { value }, value === "average" ? value : value + 1)));
    select.value = values.map(String).includes(before) ? before : "average";
  }

  function showAttention() {
    const sentence = state.sentences[state.chosen];
    if (!sentence?.attention) {
      figures.replaceChildren();
      looked.textContent = sentence?.problem ?? notInspected();
      return;
    }
    const sides = bothSides(sentence);
    const found = weights(sentence, sides, layer.value, head.value);
    const word = sides.targetIsWords && state.word < sides.target.length ? state.word : null;
    looked.textContent = !sides.targetIsWords ? "The tokens below do not match the words of this translation."
      : word === null ? "Point at a word of the translation, or reach it with Tab and the arrow keys, to see where the model looked."
      : describe(sides, found, word);
    const chooseHere = (number) => { if (sides.targetIsWords) choose(state.chosen, number); };
    const places = [...figures.children].map((each) => each.scrollLeft);
    figures.replaceChildren(
      h("div", {}, drawLines(sides, found, word, chooseHere)), h("div", {}, drawHeat(sides, found, word, chooseHere)));
    [...figures.children].forEach((each, i) => { each.scrollLeft = places[i] ?? 0; });
  }

  const notInspected = () =>
    state.sentences.length > MOST_INSPECTED ? `Only texts of up to ${MOST_INSPECTED} sentences can be inspected; shorten the text.`
    : state.failed ? "Not available; see the message above." : "…";

  function describe(sides, found, word) {
    const best = found[word].map((weight, i) => [weight, sides.source[i].text]).sort((a, b) => b[0] - a[0]).slice(0, 3);
    return `“${sides.target[word].text}” looks at ${best.map(([weight, text]) => `“${text}” ${percent(weight)}`).join(", ")}`;
  }

  function showBeam() {
    const { beam: steps, problem } = state.sentences[state.chosen] ?? {};
    step.disabled = !steps;
    if (!steps) {
      hypotheses.replaceChildren();
      stepText.textContent = beam.open ? problem ?? notInspected() : "";
      return;
    }
    step.max = steps.length;
    if (Number(step.value) > steps.length) step.value = steps.length;
    const number = Number(step.value) - 1;
    stepText.textContent = `${number + 1} of ${steps.length}`;
    const rows = [...steps[number]].sort((a, b) => b.log_probability - a.log_probability);
    hypotheses.replaceChildren(...rows.map((each) => h("tr", {},
      h("td", { dir: "auto" }, each.text || "(empty)"), h("td", { class: "number" }, each.log_probability.toFixed(2)),
      h("td", {}, h("span", { class: `fate ${each.fate}` }, each.fate), each.score === null ? null : h("span", { class: "score" }, `score ${each.score.toFixed(3)}`)))));
  }

  // ------------------------------------------------------------------------------- requests
  async function translate() {
    const value = text.value;
    if (!output.isConnected) return; // another view is shown; leave its address alone
    if (!run.value) return loadRuns(); // it translates
    const asked = askedFor(value);
    if (state.asked === asked) return;
    state.asked = asked;
    history.replaceState(null, "", addressOf(value));
    output.classList.remove("stale");
    state.looks++;
    askInside.cancel();
    askWords.cancel();
    menu.close();
    if (!value.trim()) {
      ask.cancel();
      output.classList.remove("busy");
      Object.assign(state, { sentences: [], gap: "", chosen: 0, word: null, shown: null });
      showOutput();
      showInside();
      showCurrent();
      return;
    }
    output.classList.add("busy");
    // Alternatives take longer, and only the inspection shows them.
    const body = { text: value, run: run.value, n_best: countSentences(value) > MOST_INSPECTED ? 1 : OPTIONS, ...beginning(), ...wishes() };
    const found = await ask("/v1/translate", body);
    if (state.asked !== asked) return; // another text or run has been asked for meanwhile
    output.classList.remove("busy");
    if (!found) {
      output.classList.add("stale"); // it belongs to another text
      Object.assign(state, { asked: null, failed: true }); // allow a retry
      showInside();
      return;
    }
    const [{ sentences, gap }] = found.texts;
    Object.assign(state, { sentences, gap, chosen: 0, word: null, shown: asked, body, failed: false });
    showCurrent();
    target.title = `run ${found.run}, engine ${found.engine}`;
    detect(value);
    showOutput();
    showInside();
    await lookInside();
  }

  async function lookInside() {
    if (!state.sentences.length || state.sentences.length > MOST_INSPECTED) return;
    const { body } = state; // the same search: a wider one may find another translation
    const look = ++state.looks;
    const found = await askInside("/v1/translate", { ...body, attention: true, beam: beam.open });
    if (look !== state.looks) return; // asked again meanwhile
    state.failed = !found;
    if (!found) {
      showInside();
      return;
    }
    const before = translations();
    state.sentences = found.texts[0].sentences.map((each, i) => (state.sentences[i]?.settled ? state.sentences[i] : each));
    if (translations() === before) {
      showProbabilities();
    } else {
      const focused = output.contains(document.activeElement) ? document.activeElement.dataset : null;
      showOutput();
      if (focused) focusWord(focused.sentence, focused.number);
    }
    showInside();
  }

  const linkOf = (value) => (value.trim() ? `#/translate?${new URLSearchParams({ run: run.value, text: value })}` : "#/translate");

  const beginning = () => (begins.value.trim() ? { prefix: begins.value } : {});

  const askedFor = (value) => linkOf(value) + JSON.stringify({ ...beginning(), ...wishes() });

  const addressOf = (value) => (linkOf(value).length > LONGEST_ADDRESS ? "#/translate" : linkOf(value));

  async function copyText(value, done) {
    try {
      await navigator.clipboard.writeText(value);
      copied.textContent = done;
    } catch {
      copied.textContent = "The browser does not allow copying here";
    }
    setTimeout(() => { copied.textContent = ""; }, 3000);
  }

  const translations = () => JSON.stringify(state.sentences.map((each) => each.translations[0].text));
  const translation = () => state.gap + state.sentences.map((each) => each.translations[0].text + each.gap).join("");

  // Remembers the input; a translation of earlier input can be neither copied nor swapped.
  function showCurrent() {
    Object.assign(kept, { text: text.value, run: run.value || kept.run, address: location.hash });
    const most = state.most ? ` of ${state.most.toLocaleString("en")}` : "";
    counter.textContent = `${[...text.value].length.toLocaleString("en")}${most} characters`;
    counter.classList.toggle("bad", Boolean(state.most && text.value.length > state.most));
    clear.hidden = !text.value;
    if (text.value) examples.hidden = true;
    else otherLanguage.hidden = true;
    copy.disabled = swap.disabled = state.shown !== askedFor(text.value);
    link.disabled = linkOf(text.value).length > LONGEST_ADDRESS;
  }

  function empty() {
    begins.value = "";
    text.focus();
    text.select();
    document.execCommand("delete"); // unlike an assignment, the browser can undo this
    setText("");
    showExamples(selected());
  }

  const translateSoon = debounced(translate, 250);
  text.addEventListener("input", () => { showCurrent(); translateSoon(); });
  text.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.isComposing || !text.value) return; // Escape ends a composition
    event.preventDefault();
    empty();
  });
  clear.addEventListener("click", empty);
  begins.addEventListener("input", () => { showCurrent(); translateSoon(); });
  address.addEventListener("change", () => { stored("localStorage", "address", address.value); showCurrent(); translate(); });
  run.addEventListener("change", () => { nameLanguages(); showCurrent(); translate(); });
  swap.addEventListener("click", () => {
    const translated = translation();
    begins.value = "";
    run.value = reverse().name;
    text.value = translated;
    nameLanguages();
    showCurrent();
    translate();
  });
  shade.addEventListener("change", () => output.classList.toggle("shaded", shade.checked));
  copy.addEventListener("click", () => copyText(translation(), "Copied"));
  link.addEventListener("click", () => copyText(location.origin + location.pathname + linkOf(text.value), "Link copied"));
  which.addEventListener("change", () => choose(Number(which.value), null));
  layer.addEventListener("change", showAttention);
  head.addEventListener("change", showAttention);
  step.addEventListener("input", showBeam);
  beam.addEventListener("toggle", () => {
    if (!beam.open || state.sentences[state.chosen]?.beam) return;
    showBeam();
    if (state.asked === state.shown || state.asked === null) lookInside(); // otherwise, it follows the translation
  });
  output.addEventListener("keydown", (event) => {
    const words = [...output.querySelectorAll(".word")];
    const here = words.indexOf(document.activeElement);
    if (here >= 0 && ["Enter", " "].includes(event.key)) {
      event.preventDefault();
      words[here].click();
    }
    const there = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: words.length - 1 }[event.key];
    if (here < 0 || there === undefined || !words[there]) return;
    event.preventDefault();
    words[here].tabIndex = -1;
    words[there].tabIndex = 0;
    words[there].focus();
  });

  async function loadRuns() {
    state.loading ??= call("/v1/runs").finally(() => { state.loading = null; });
    const found = await state.loading.catch(() => []);
    state.runs = found.filter((each) => each.served);
    const wanted = query.get("run") ?? kept.run;
    run.replaceChildren(...state.runs.map((each) => h("option", { value: each.name }, `${each.name} (${each.source} → ${each.target})`)));
    if (state.runs.some((each) => each.name === wanted)) run.value = wanted;
    nameLanguages();
    if (text.value && run.value) translate();
  }

  call("/frontend/settings").then((found) => { state.most = found.charLimit; showCurrent(); }).catch(() => {});
  if (document.activeElement === document.body && matchMedia("(hover: hover)").matches) text.focus({ preventScroll: true });
  showOutput();
  showCurrent();
  copy.disabled = swap.disabled = true;
  loadRuns();
  return () => {
    state.asked = null;
    ask.cancel();
    askInside.cancel();
    askLanguage.cancel();
    askWords.cancel();
    files.stop();
  };
}
