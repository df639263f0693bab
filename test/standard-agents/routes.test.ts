// Promise: every route of Standard Agents is there under its path, is there under another that the documentation names, or is
// named there as not offered. The prefix and the names of what stands in a path are ours to choose.
import { readFileSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { createApp } from "../../src/server/app.ts";
import references from "../references/canonical.json" with { type: "json" };
import { serveRuntime } from "../served-runtime.ts";

const [routes = []] = Object.values(references.routes);

/** Without the names of what stands in the path. */
const shape = (route: string) => route.replaceAll(/\{\w+\}/g, "{}");

/** What the section on Standard Agents says: where the others are, and which are not. */
function documented() {
  const page = readFileSync(new URL("../../docs/doors/http.md", import.meta.url), "utf8");
  const [section = ""] = page.split("\n## Standard Agents\n")[1]?.split("\n## ") ?? [];
  const rows = [...section.matchAll(/^\| `([^`]+)` \| (?:`([^`]+)`|not offered)(.*) \|$/gm)];
  const elsewhere = rows.flatMap(([, route = "", ours]) => (ours === undefined ? [] : [{ route, ours }]));
  return { elsewhere, missing: rows.flatMap(([, route = "", ours]) => (ours === undefined ? [route] : [])) };
}

it("the routes of Standard Agents are offered as they are, or as the documentation says", async () => {
  const served = await serveRuntime();
  onTestFinished(served.close);
  const own = createApp(served.holdfast).routes.map(({ method, path }) =>
    `${method} ${path}`.replaceAll(/:\w+(\{[^}]*\})?/g, "{}"),
  );
  const { elsewhere, missing } = documented();
  expect(elsewhere.filter(({ ours }) => !own.includes(shape(ours)))).toEqual([]);
  expect(missing.filter((route) => own.includes(shape(route)))).toEqual([]);
  const offered = routes.filter((route) => own.includes(shape(route)));
  const listed = [...offered, ...elsewhere.map(({ route }) => route), ...missing];
  expect(listed.toSorted()).toEqual(routes.toSorted());
});
