// Two events through three steps, the second of which splits: what steps store, queue and record as facts has happened once,
// however often they were executed.
import type { PluginRequest } from "../../../src/contracts/gateway/protocol/request.ts";
import { type CommandAnswer, gatewayPlugin } from "../../../src/gateway/plugins/in-process-plugin.ts";
import type { BuiltInPlugin } from "../../../src/gateway/plugins/resolve-plugins.ts";
import { different } from "../check-run.ts";
import type { Ended, GatewayScenario, World } from "../scenario.ts";

const orders = ["A17", "A18"];

export const orderPipeline: GatewayScenario = {
  name: "order pipeline",
  config: () => ({
    plugins: quickRetries("intake", "stock", "invoice", "mail"),
    pipelines: [
      {
        name: "orders",
        on: "order.placed",
        steps: [
          { id: "intake", uses: "intake", baggage: { order: "payload.order" } },
          {
            id: "work",
            split: [
              { id: "stock", uses: "stock" },
              { id: "invoice", uses: "invoice" },
            ],
          },
          { id: "mail", uses: "mail", with: { text: "{payload.done} of {context.order}" } },
        ],
      },
    ],
  }),
  plugins: (world) => [
    counting(world, "intake", ({ event }) => ({
      events: [{ type: "order.taken", payload: { order: event?.payload.order ?? null } }],
    })),
    counting(world, "stock", () => ({ events: [{ type: "stock.reserved", payload: { done: "stock" } }] })),
    counting(world, "invoice", () => ({ events: [{ type: "invoice.written", payload: { done: "invoice" } }] })),
    counting(world, "mail", ({ event }) => ({ result: String(event?.payload.text) })),
  ],
  async play(gateway) {
    for (const order of orders) {
      await gateway.emit({ type: "order.placed", payload: { order }, dedupe_key: order }, { via: "api" });
    }
  },
  isInOrder: true,
  async check(ended) {
    const { reading } = ended;
    const jobs = await reading.rows("select id, seq, plugin, status from gateway_jobs order by seq");
    const each = ["intake", "invoice", "mail", "mail", "stock"].flatMap((plugin) => orders.map(() => plugin));
    return [
      ...different(
        "the queue",
        jobs.map(({ plugin, status }) => `${plugin} ${status}`).sort(),
        each.map((plugin) => `${plugin} succeeded`).sort(),
      ),
      ...(await checkEffects(ended, { intake: 2, stock: 2, invoice: 2, mail: 4 })),
      ...checkExecutions(
        ended,
        jobs.map(({ id }) => String(id)),
      ),
    ];
  },
};

/** A plugin that counts in its state, records each count as a fact, and answers once the execution was recorded. */
export function counting(
  world: World,
  name: string,
  answer: (request: PluginRequest) => Exclude<CommandAnswer, string>,
  command = "handle",
): BuiltInPlugin {
  const plugin = gatewayPlugin({
    name,
    commands: {
      [command]: {
        async run(request) {
          await world.executed(name, request);
          const { count = 0, jobs = [] } = request.state as { readonly count?: number; readonly jobs?: string[] };
          return { ...answer(request), state_updates: { count: count + 1, jobs: [...jobs, request.job_id] } };
        },
      },
    },
  });
  const fact = { command, fact_type: "counted", mirrors: false };
  return { ...plugin, manifest: { ...plugin.manifest, fact_outputs: [fact] } };
}

export function quickRetries(...names: readonly string[]): Record<string, object> {
  return Object.fromEntries(names.map((name) => [name, { retry: { backoff_base: "1ms" } }]));
}

/** Each plugin has counted its jobs once, in the order of their ends, and so do the facts say. */
export async function checkEffects(
  { reading }: Pick<Ended, "reading">,
  counts: Readonly<Record<string, number>>,
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const [plugin, wanted] of Object.entries(counts)) {
    const { count, jobs } = (await reading.state(plugin)) as { readonly count?: number; readonly jobs?: string[] };
    const distinct = new Set(jobs).size;
    if (count !== wanted || distinct !== wanted) {
      problems.push(`${plugin} has counted ${count}, of ${distinct} jobs, not ${wanted}`);
    }
    const facts = await reading.stores.pluginState.facts({ plugin, limit: 100 });
    const values = facts.map(({ sealed_value }) => reading.sealed.open("fact", plugin, sealed_value).count);
    const rising = Array.from({ length: wanted }, (_, index) => index + 1);
    problems.push(...different(`the facts of ${plugin}`, values.map(String), rising.map(String)));
  }
  return problems;
}

/** Each job was executed, again only after a crash, and none before one that was queued earlier. */
function checkExecutions({ executions, crashes, hasSlept }: Ended, queue: readonly string[]): readonly string[] {
  const places = executions.map(({ job_id }) => queue.indexOf(job_id));
  const repeated = places.length - new Set(places).size;
  const isInOrder = places.every((place, index) => index === 0 || place >= (places[index - 1] ?? 0));
  return [
    ...(new Set(places).size === queue.length ? [] : [`${new Set(places).size} of ${queue.length} jobs were executed`]),
    ...(repeated <= crashes ? [] : [`${repeated} executions were repeated after ${crashes} crashes`]),
    ...(isInOrder || hasSlept ? [] : [`jobs were executed in the order ${places}`]),
  ];
}
