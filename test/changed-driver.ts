// A real database with something in the way: the same backend, of whose driver a test changes what it is about.
import type { Backend, SqlDriver } from "../src/backend/sql-driver.ts";

export function withDriver(backend: Backend, change: (driver: SqlDriver) => Partial<SqlDriver>): Backend {
  return {
    ...backend,
    async open() {
      const driver = await backend.open();
      return { ...driver, ...change(driver) };
    },
  };
}
