// holdfast openapi: the description of the HTTP interface, for generators of clients.
import type { Verb } from "../verb.ts";

export const openApiVerbs: readonly Verb[] = [
  {
    name: "openapi",
    summary: "the HTTP interface as OpenAPI 3.1",
    async run({ terminal, version }) {
      const { sqlite } = await import("../../backend/sqlite/sqlite.ts");
      const { createHoldfast } = await import("../../holdfast.ts");
      const { createOpenApi } = await import("../../server/openapi.ts");
      const { projectedOperations } = await import("../../server/routes.ts");
      // Nothing is read or written for it: a database that is gone afterwards will do.
      const holdfast = await createHoldfast({ backend: sqlite(":memory:"), agents: [], runs: false });
      try {
        const description = createOpenApi(projectedOperations(holdfast), version);
        terminal.answer(description, (found) => JSON.stringify(found, null, 2));
      } finally {
        await holdfast.close();
      }
    },
  },
];
