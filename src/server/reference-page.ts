// The description of the HTTP interface for people: a page without scripts, made from the one for machines.
import { isMap, type UnknownMap } from "../contracts/json.ts";
import type { ApiOperation } from "./api-operation.ts";
import { type OpenApi, routeId } from "./openapi.ts";

/** What the page may do: show itself, with the styles that stand in it. */
export const pagePolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'";

export function referencePage({ info, paths, components }: OpenApi): string {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  const ids = new Set(all.map(({ operation }) => operation.operationId));
  // What has a route of its own is shown there.
  const entries = all
    .filter(({ operation }) => !ids.has(routeId(operation.operationId)))
    .toSorted(
      (left, right) => Number(isByName(left.path)) - Number(isByName(right.path)) || (left.path < right.path ? -1 : 1),
    );
  const links = entries.map(
    ({ method, path, operation }) =>
      `<li><a href="#${escaped(operation.operationId)}"><code>${method.toUpperCase()} ${escaped(path)}</code></a> ${escaped(operation.summary)}</li>`,
  );
  const sections = entries.map(({ method, path, operation }) => section(method, path, operation, components.schemas));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(String(info.title))} reference</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${escaped(String(info.title))} ${escaped(String(info.version))}</h1>
<p>Every operation of this server. Send a token with <code>Authorization: Bearer …</code>; refusals are
<code>application/problem+json</code> with a <code>code</code> to match on and a <code>hint</code>. For machines:
<a href="/openapi.json">openapi.json</a>. Each of them is also found by its name, with all of its input in the body:
<code>POST /abilities/{name}</code>; <code>GET /abilities</code> lists the names.</p>
<nav><ul>${links.join("\n")}</ul></nav>
${sections.join("\n")}
</main>
</body>
</html>
`;
}

function isByName(path: string): boolean {
  return path.startsWith("/abilities/");
}

type Schemas = OpenApi["components"]["schemas"];

function section(method: string, path: string, operation: ApiOperation, schemas: Schemas): string {
  const { operationId, summary, description = "", parameters, requestBody } = operation;
  const rows = Array.isArray(parameters) ? parameters.filter(isMap).map(parameterRow) : [];
  const body = resolved(schemaIn(requestBody), schemas);
  const answer = resolved(schemaIn(successOf(operation)), schemas);
  return `<section id="${escaped(operationId)}">
<h2><code>${method.toUpperCase()} ${escaped(path)}</code></h2>
<p><strong>${escaped(summary)}.</strong> ${escaped(String(description))}</p>
${rows.length > 0 ? `<table><tr><th>Parameter</th><th>In</th><th>Type</th></tr>${rows.join("")}</table>` : ""}
${details("Body", body)}${details("Answer", answer)}
</section>`;
}

function parameterRow({ name, in: place, required, schema, description }: UnknownMap): string {
  const type = isMap(schema) ? String(schema.type ?? "any") : "any";
  const words = description ?? (isMap(schema) ? schema.description : undefined);
  const about = words === undefined ? "" : `: ${escaped(String(words))}`;
  return `<tr><td><code>${escaped(String(name))}</code>${required ? " (required)" : ""}${about}</td><td>${escaped(String(place))}</td><td>${escaped(type)}</td></tr>`;
}

function details(title: string, schema: unknown): string {
  if (schema === undefined) return "";
  return `<details><summary>${title}</summary><pre>${escaped(JSON.stringify(schema, null, 2))}</pre></details>`;
}

function successOf({ responses }: ApiOperation): unknown {
  return isMap(responses) ? Object.entries(responses).find(([status]) => status.startsWith("2"))?.[1] : undefined;
}

function schemaIn(holder: unknown): unknown {
  const content = isMap(holder) && isMap(holder.content) ? holder.content["application/json"] : undefined;
  return isMap(content) ? content.schema : undefined;
}

/** One step of the way: what a schema refers to further in can be found in the description for machines. */
function resolved(schema: unknown, schemas: Schemas): unknown {
  if (!isMap(schema) || typeof schema.$ref !== "string") return schema;
  return schemas[schema.$ref.slice("#/components/schemas/".length)];
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const style = `
body{font:16px/1.5 system-ui,sans-serif;margin:0;color:#1d2327;background:#fff}
main{max-width:56rem;margin:0 auto;padding:2rem 1rem}
h2{font-size:1rem;margin:2.5rem 0 .25rem;padding-top:1rem;border-top:1px solid #ddd}
nav ul{padding-left:1rem;list-style:none}
code,pre{font:14px/1.4 ui-monospace,monospace}
pre{background:#f6f7f7;padding:1rem;overflow:auto}
table{border-collapse:collapse;margin:.5rem 0}
td,th{border:1px solid #ddd;padding:.25rem .5rem;text-align:left;vertical-align:top}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#1d2327}pre{background:#2c3338}a{color:#72aee6}}
`;
