// Requests to the server; errors are shown above the page.

const problem = document.getElementById("problem");

export function showProblem(text) {
  problem.textContent = text;
  problem.hidden = !text;
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

export async function call(path, body, signal) {
  const headers = {};
  const key = stored("sessionStorage", "key");
  if (key) headers.Authorization = `Bearer ${key}`;
  if (body) headers["Content-Type"] = "application/json";
  let answer;
  let found;
  try {
    answer = await fetch(path, { method: body ? "POST" : "GET", headers, signal, body: body && JSON.stringify(body) });
    found = await answer.json();
  } catch (error) {
    if (error.name !== "AbortError") showProblem("The server does not answer. Is nmt serve still running?");
    throw error;
  }
  if (!answer.ok) {
    const message = answer.status === 403 ? `${found.error}. Enter it above.` : found.error || `Error ${answer.status}`;
    showProblem(message);
    throw new Error(message);
  }
  showProblem("");
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
      return await call(path, body, controller.signal);
    } catch {
      return null;
    }
  };
  ask.cancel = () => controller.abort();
  return ask;
}
