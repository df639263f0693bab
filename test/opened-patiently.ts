// A PostgreSQL database that a test is impatient with once it is open: on a busy machine opening it may take longer.

import type { Backend } from "../src/backend/sql-driver.ts";
import { HoldfastError } from "../src/contracts/error.ts";

/** The same, but opened again and again for as long as it is said to be away. */
export function openedPatiently(backend: Backend): Backend {
  return {
    ...backend,
    async open() {
      for (;;) {
        try {
          return await backend.open();
        } catch (thrown) {
          if (!(thrown instanceof HoldfastError) || thrown.code !== "database_unavailable") throw thrown;
        }
      }
    },
  };
}
