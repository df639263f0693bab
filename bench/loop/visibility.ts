// What it costs to settle which of a thousand tools the model sees, beside a plain filter over the same tools.
import assert from "node:assert/strict";
import { createToolSources, resolveVisibleTools, type ToolDeclaration } from "../../src/index.ts";
import { figure, table, times } from "../markdown.ts";
import { median } from "../median.ts";
import type { Section } from "../section.ts";

const TOOLS = 1000;

/** The most that a policy may cost, in plain filters. */
const MOST_FILTERS = 20;

/** Each subject is timed for so long in each round: a single pass is too short for the clock. */
const PASSES = 200;

/** One way to narrow the tools, and how many it leaves. */
type Policy = { readonly says: string; readonly context: Readonly<Record<string, unknown>>; readonly leaves: number };

const principal = { auth_source: "user_session", acting_user_id: 5 };
const names = (count: number) => Array.from({ length: count }, (_, index) => `desk/tool_${index * 3}`);

const policies: readonly Policy[] = [
  { says: "allow by category", context: { tool_policy: { mode: "allow", categories: ["read"] } }, leaves: 200 },
  { says: "deny 50 by name", context: { tool_policy: { mode: "deny", tools: names(50) } }, leaves: 950 },
  { says: "allow only 50", context: { allow_only: names(50) }, leaves: 50 },
  {
    says: "every layer",
    context: {
      mode: "chat",
      agent_config: { tool_policy: { mode: "deny", categories: ["admin"] } },
      tool_policy: { mode: "allow", categories: ["read", "write", "search"], runtime_categories: ["search"] },
      categories: ["read", "write", "search"],
      deny: names(50),
    },
    leaves: 570,
  },
];

export const visibility: Section = {
  name: "visibility",
  title: `What the model sees among ${TOOLS} tools`,
  async measure(size) {
    const costs = await measureCosts(size === "quick" ? 5 : 25);
    return {
      targets: [
        {
          says: `Settling which of ${TOOLS} tools the model sees: at most ${MOST_FILTERS} plain filters, whatever the policy`,
          limit: { atMost: MOST_FILTERS },
          measured: Math.max(...costs.map(({ filters }) => filters)),
        },
      ],
      tables: [
        table(
          ["", "Microseconds", "Plain filters"],
          costs.map(({ says, microseconds, filters }) => [says, figure(microseconds), times(filters)]),
        ),
      ],
      reading: `The policies are resolved over ${TOOLS} declared tools of five categories, as a registry of sources gives them,
with the function that the loop asks once a turn; the plain filter keeps the tools of one category. Both run in one process, in
turns.`,
    };
  },
};

type Cost = { readonly says: string; readonly microseconds: number; readonly filters: number };

/** The median cost of each policy over the rounds, and how many plain filters that is. */
async function measureCosts(rounds: number): Promise<readonly Cost[]> {
  const tools = await catalogue();
  const list = Object.values(tools);
  const filter = () => list.filter((tool) => tool.category === "read").length;
  const subjects = policies.map(({ says, context, leaves }) => {
    const resolve = () => resolveVisibleTools(tools, { principal, ...context }).length;
    assert.equal(resolve(), leaves, `the policy "${says}" did not narrow the tools as it should`);
    return { says, resolve };
  });
  assert.equal(filter(), 200);
  const filterTimes: number[] = [];
  const times = new Map<string, number[]>(subjects.map(({ says }) => [says, []]));
  for (let round = -2; round < rounds; round++) {
    const filtered = timed(filter);
    if (round >= 0) filterTimes.push(filtered);
    for (const { says, resolve } of subjects) {
      const resolved = timed(resolve);
      if (round >= 0) times.get(says)?.push(resolved);
    }
  }
  const plain = median(filterTimes);
  return [
    { says: "plain filter", microseconds: plain, filters: 1 },
    ...[...times].map(([says, taken]) => ({ says, microseconds: median(taken), filters: median(taken) / plain })),
  ];
}

/** A thousand declared tools as a registry of sources gives them. */
async function catalogue(): Promise<Readonly<Record<string, ToolDeclaration>>> {
  const categories = ["read", "write", "search", "admin", "money"];
  const tools = Object.fromEntries(
    Array.from({ length: TOOLS }, (_, index) => [
      `desk/tool_${index}`,
      { description: `Tool ${index}.`, category: categories[index % categories.length] },
    ]),
  );
  const sources = createToolSources();
  sources.register({ slug: "desk", tools: () => tools });
  return await sources.gather({});
}

function timed(work: () => number): number {
  const began = process.hrtime.bigint();
  let count = 0;
  for (let pass = 0; pass < PASSES; pass++) count += work();
  assert.ok(count > 0);
  return Number(process.hrtime.bigint() - began) / 1000 / PASSES;
}
