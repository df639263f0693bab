// holdfast openapi: the description of the HTTP interface, for generators of clients.

import { sqlite } from "../../backend/sqlite/sqlite.ts";
import { createHoldfast } from "../../holdfast.ts";
import { createOpenApi } from "../../server/openapi.ts";
import { projectedOperations } from "../../server/routes.ts";
import type { Verb } from "../verb.ts";

export const openApiVerbs: readonly Verb[] = [
  {
    name: "openapi",
    summary: "the HTTP interface as OpenAPI 3.1",
    async run({ terminal, version }) {
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
