// Several jobs of one plugin at a time: a crash leaves all of them behind.
import { gatewayPlugin } from "../../../src/gateway/plugins/in-process-plugin.ts";
import { different } from "../check-run.ts";
import type { GatewayScenario } from "../scenario.ts";

const parts = ["one", "two", "three", "four", "five"];

export const parallelJobs: GatewayScenario = {
  name: "parallel jobs",
  config: () => ({
    service: { max_workers: 3 },
    plugins: {
      resize: { parallelism: 3, retry: { backoff_base: "1ms" } },
      gallery: { retry: { backoff_base: "1ms" } },
    },
    pipelines: [
      {
        name: "pictures",
        on: "picture.added",
        steps: [
          { id: "resize", uses: "resize" },
          { id: "gallery", uses: "gallery" },
        ],
      },
    ],
  }),
  plugins: (world) => [
    gatewayPlugin({
      name: "resize",
      concurrency_safe: true,
      commands: {
        handle: {
          async run(request) {
            await world.executed("resize", request);
            return { events: [{ type: "picture.resized", payload: { part: request.event?.payload.part ?? null } }] };
          },
        },
      },
    }),
    gatewayPlugin({
      name: "gallery",
      commands: {
        handle: {
          async run(request) {
            await world.executed("gallery", request);
            const { shown = [] } = request.state as { readonly shown?: string[] };
            return { state_updates: { shown: [...shown, String(request.event?.payload.part)] } };
          },
        },
      },
    }),
  ],
  async play(gateway) {
    for (const part of parts) {
      await gateway.emit({ type: "picture.added", payload: { part }, dedupe_key: part }, { via: "api" });
    }
  },
  async check({ reading }) {
    const { shown } = (await reading.state("gallery")) as { readonly shown?: string[] };
    const jobs = await reading.rows("select plugin, status from gateway_jobs order by plugin, seq");
    return [
      ...different("the gallery", [...(shown ?? [])].sort(), [...parts].sort()),
      ...different(
        "the queue",
        jobs.map(({ plugin, status }) => `${plugin} ${status}`),
        [...parts.map(() => "gallery succeeded"), ...parts.map(() => "resize succeeded")],
      ),
    ];
  },
};
