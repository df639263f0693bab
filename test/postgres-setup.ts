// Starts the PostgreSQL of a test run and takes it down afterwards.
import { ownPostgres, TEST_URL } from "./postgres.ts";

export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.DATABASE_URL) return undefined;
  const server = await ownPostgres();
  process.env[TEST_URL] = server.url;
  // Not waited for: most runs of a few files need no database, and those that do wait in `emptySchema`.
  const started = server.start().catch((error: unknown) => console.error(error));
  return async () => {
    await started;
    await server.stop();
  };
}
