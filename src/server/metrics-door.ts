// How everything stands, in the text format of Prometheus for those who ask for it; everybody else gets JSON at the same
// place.
import { isMap, type UnknownMap } from "../contracts/json.ts";
import { isOperationError } from "../contracts/operation-error.ts";
import type { Mount } from "./door.ts";
import { problem } from "./problem.ts";

const METRICS = "holdfast/metrics";
const TEXT = /\b(text\/plain|application\/openmetrics-text)\b/;

/** What only grows while a process lives. */
const counters: ReadonlySet<string> = new Set([
  "takeovers",
  "lost_leases",
  "refused_commits",
  "overtaken_commits",
  "workflow_steps",
]);

export const metricsDoor: Mount = (app, { holdfast }) => {
  app.get("/metrics", async (context, next) => {
    if (!TEXT.test(context.req.header("accept") ?? "")) return await next();
    const caller = { principal: context.get("principal"), door: "http" } as const;
    const answer = await holdfast.abilities.call(METRICS, {}, caller);
    if (isOperationError(answer)) return problem(context, answer);
    const text = metricsText(answer as UnknownMap, descriptionsOf(holdfast.abilities.get(METRICS)?.outputSchema));
    return context.body(text, 200, { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" });
  });
};

/** Each number by its name, yes and no as 1 and 0; a map of numbers by status, and one of such maps by workflow. */
function metricsText(metrics: UnknownMap, descriptions: Readonly<Record<string, string>>): string {
  const lines = Object.entries(metrics).flatMap(([field, value]) => {
    const isCounter = counters.has(field);
    // Prometheus counts time in seconds.
    const isTime = field.endsWith("_ms");
    const name = `holdfast_${field.replace(/_ms$/, "_seconds")}${isCounter ? "_total" : ""}`;
    const shown = (amount: unknown) => Number(amount) / (isTime ? 1_000 : 1);
    const values = isMap(value)
      ? Object.entries(value).flatMap(([status, amount]) =>
          isMap(amount)
            ? Object.entries(amount).map(
                ([own, runs]) => `${name}{${label("workflow", status)},${label("status", own)}} ${shown(runs)}`,
              )
            : [`${name}{${label("status", status)}} ${shown(amount)}`],
        )
      : [`${name} ${shown(value)}`];
    const help = descriptions[field];
    return [
      ...(help === undefined ? [] : [`# HELP ${name} ${help}`]),
      `# TYPE ${name} ${isCounter ? "counter" : "gauge"}`,
      ...values,
    ];
  });
  return `${lines.join("\n")}\n`;
}

/** The id of a workflow may be any text. */
function label(name: string, value: string): string {
  const escaped = value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
  return `${name}="${escaped}"`;
}

function descriptionsOf(schema: unknown): Readonly<Record<string, string>> {
  const properties = isMap(schema) && isMap(schema.properties) ? schema.properties : {};
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, property]) =>
      isMap(property) && typeof property.description === "string" ? [[name, property.description]] : [],
    ),
  );
}
