// Requests to the server; errors are shown above the page.

const problem = document.getElementById("problem");
const problems = new Map(); // by the part of the page whose latest request failed

export function showProblem(text, owner = "page") {
  if (text) problems.set(owner, text);
  else problems.delete(owner);
  const shown = [...problems.values()].at(-1) ?? "";
  if (problem.textContent !== shown) problem.textContent = shown; // a screen reader announces each change
  problem.hidden = !shown;
}

let forgotten = 0; // calls of forgetProblems() so far

export function forgetProblems() {
  forgotten++;
  problems.clear();
  showProblem("");
}

const unsaved = {}; // where the browser blocks storage

// Returns a value of localStorage or sessionStorage, after setting it if one is given.
export function stored(area, name, value) {
  try {
    if (value !== undefined) window[area].setItem(name, value);
    return window[area].getItem(name) ?? unsaved[name] ?? "";
  } catch {
    if (value !== undefined) unsaved[name] = value;
    return unsaved[name] ?? "";
  }
}

export async function call(path, body, signal, owner = path) {
  const headers = {};
  const key = stored("sessionStorage", "key");
  if (key) headers.Authorization = `Bearer ${key.replace(/[^ -~]/g, "?")}`; // fetch refuses other characters; keys have none
  const before = forgotten;
  const complain = (text) => { if (before === forgotten) showProblem(text, owner); }; // unless the view has been left
  const isForm = body instanceof FormData;
  if (body && !isForm) headers["Content-Type"] = "application/json";
  let answer;
  let found;
  try {
    answer = await fetch(path.slice(1), { // relative: a proxy may serve this under a path of its own
      method: body ? "POST" : "GET", headers, signal, body: isForm ? body : body && JSON.stringify(body) });
    // A proxy may answer with a page of its own.
    found = await answer.json().catch((error) => { if (answer.ok || error.name === "AbortError") throw error; return {}; });
  } catch (error) {
    if (error.name !== "AbortError") complain("The server does not answer. Is nmt serve still running?");
    throw error;
  }
  if (!answer.ok) {
    const keyField = answer.status === 403 && found.error ? document.getElementById("key-field") : null;
    if (keyField) keyField.hidden = false;
    const message = keyField ? `${found.error}. Enter a key above.` : found.error || `Error ${answer.status}`;
    complain(message);
    throw new Error(message);
  }
  showProblem("", owner);
  return found;
}

// Returns a function that sends a request and cancels its previous one; null if cancelled or failed.
// `cancel()` cancels without sending.
export function latest() {
  let controller = new AbortController();
  const ask = async (path, body) => {
    ask.cancel();
    controller = new AbortController();
    try {
      return await call(path, body, controller.signal, ask);
    } catch {
      return null;
    }
  };
  ask.cancel = () => {
    controller.abort();
    showProblem("", ask);
  };
  return ask;
}
