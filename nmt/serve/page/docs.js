// The OpenAPI document, rendered for reading.

import { call } from "./api.js";
import { h } from "./dom.js";
import "./theme.js";

const main = document.getElementById("main");

const nameOf = (reference) => reference.split("/").at(-1);

function typeOf(schema) {
  if (schema.$ref) return [h("a", { href: `#${nameOf(schema.$ref)}` }, nameOf(schema.$ref))];
  if (schema.anyOf) return schema.anyOf.flatMap((each, i) => [i ? " or " : "", ...typeOf(each)]);
  if (schema.enum) return [schema.enum.map((each) => JSON.stringify(each)).join(" or ")];
  if (schema.const) return [JSON.stringify(schema.const)];
  if (schema.type === "array") return schema.items ? ["list of ", ...typeOf(schema.items)] : ["list"];
  return [schema.type ?? "anything"];
}

function fields(schema) {
  if (!schema.properties) return h("p", {}, typeOf(schema));
  const required = new Set(schema.required ?? []);
  return h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Fields" }, h("table", {},
    h("thead", {}, h("tr", {}, ["Field", "Type", "Default", "Meaning"].map((title) => h("th", { scope: "col" }, title)))),
    h("tbody", {}, Object.entries(schema.properties).map(([name, field]) => h("tr", {},
      h("td", {}, h("code", {}, name), required.has(name) ? " (required)" : ""), h("td", {}, typeOf(field)),
      h("td", {}, field.default === undefined || field.default === null ? "" : JSON.stringify(field.default)), h("td", {}, field.description ?? ""))))));
}

function operation(path, method, found) {
  const content = found.requestBody?.content;
  const kinds = content ? Object.keys(content) : [];
  const answer = Object.values(found.responses["200"].content)[0].schema;
  return h("section", { class: "card" }, h("h2", {}, h("code", {}, `${method.toUpperCase()} ${path}`)), h("p", {}, found.summary),
    h("pre", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Example" }, h("code", {}, curl(path, method, content))),
    content ? h("div", {}, h("h3", {}, `Body (${kinds.join(", ")})`), content[kinds[0]].schema.$ref ? h("p", {}, typeOf(content[kinds[0]].schema)) : fields(content[kinds[0]].schema)) : null,
    h("h3", {}, "Response"), h("p", {}, typeOf(answer)));
}

// A command that calls an operation.
function curl(path, method, content) {
  const address = `${document.baseURI.replace(/docs([?#].*)?$/, "")}${path.slice(1)}`;
  const [[kind, body] = []] = Object.entries(content ?? {});
  if (!kind) return `curl ${method === "get" ? "" : `-X ${method.toUpperCase()} `}'${address}'`;
  if (kind === "multipart/form-data") {
    const fields = ["file=@letter.docx", ...Object.entries(body.example).map(([name, value]) => `${name}=${value}`)];
    return `curl '${address}' ${fields.map((field) => `-F ${field}`).join(" ")}`;
  }
  return `curl '${address}' -H 'Content-Type: ${kind}' -d '${JSON.stringify(body.example)}'`;
}

// The endpoints that never need a key.
function keyless(paths) {
  const open = Object.entries(paths).filter(([, methods]) => Object.values(methods).every((each) => !each.security));
  return h("p", {}, "No key is needed for ", open.flatMap(([path], i) => [i ? ", " : "", h("code", {}, path)]), ".");
}

call("/openapi.json").then((found) => {
  const statuses = Object.entries(Object.values(Object.values(found.paths)[0])[0].responses).filter(([status]) => status !== "200");
  main.append(
    h("h1", {}, found.info.title), h("p", {}, found.info.description, " The document: ", h("a", { href: "openapi.json" }, "openapi.json"), "."),
    ...Object.entries(found.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, each]) => operation(path, method, each))),
    h("section", { class: "card" }, h("h2", {}, "Errors"), h("p", {}, "Every error response is ", h("code", {}, '{"error": "…"}'), " with one of these status codes."),
      h("dl", { class: "facts" }, statuses.flatMap(([status, each]) => [h("dt", {}, status), h("dd", {}, each.description)]))),
    h("section", { class: "card" }, h("h2", {}, "Keys"), h("p", {}, "If the server requires a key, send it in the header ", h("code", {}, "Authorization: Bearer KEY"), ", or as ", h("code", {}, "api_key"), " in the body."), keyless(found.paths)),
    h("h2", {}, "Schemas"),
    ...Object.entries(found.components.schemas).map(([name, schema]) => h("section", { class: "card", id: name }, h("h3", {}, name), schema.description ? h("p", {}, schema.description) : null, fields(schema))),
  );
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}, () => {});
