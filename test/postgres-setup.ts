// Starts the PostgreSQL of a test run and takes it down afterwards. One that was there before is left as it was found.
import { dropSchemas, ownPostgres, TEST_RUN, TEST_URL } from "./postgres.ts";

export default async function setup(): Promise<() => Promise<void>> {
  const run = crypto.randomUUID().slice(0, 8);
  process.env[TEST_RUN] = run;
  const { DATABASE_URL } = process.env;
  if (DATABASE_URL) return () => dropSchemas(DATABASE_URL, run);
  const server = await ownPostgres();
  process.env[TEST_URL] = server.url;
  // Not waited for: most runs of a few files need no database, and those that do wait in `emptySchema`.
  const started = server.start().catch((error: unknown) => console.error(error));
  return async () => {
    await started;
    await server.stop();
  };
}
