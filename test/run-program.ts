// The other end of `startProcess`: runs a program on the database that it is told of.
import { postgres } from "../src/backend/postgres/postgres.ts";
import { sqlite } from "../src/backend/sqlite/sqlite.ts";
import { createHoldfast } from "../src/holdfast.ts";
import type { Program } from "./another-process.ts";
import type { Address } from "./databases.ts";

const { address, secretKey, program, given } = JSON.parse(process.argv[2] ?? "") as {
  address: Address;
  secretKey: string;
  program: string;
  given: object;
};
const backend = "path" in address ? sqlite(address.path) : postgres(address.url, { schema: address.schema });
const { run } = (await import(program)) as { run: Program<object> };
await run((agents, options) => createHoldfast({ backend, agents, secretKey, verifies: true, ...options }), given);
