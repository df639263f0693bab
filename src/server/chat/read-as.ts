// Reads what a client has sent by its schema, and tells in one line what is wrong with it.
import type { z } from "zod";
import { invalidInput } from "./refused.ts";

const MOST_PROBLEMS = 5;

/** Throws `Refused`; `otherwise` is what its words begin with. */
export function readAs<Schema extends z.ZodType>(schema: Schema, given: unknown, otherwise: string): z.output<Schema> {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  const problems = read.error.issues
    .slice(0, MOST_PROBLEMS)
    .map(({ path, message }) => `${path.map(String).join(".")}: ${message}`);
  throw invalidInput(`${otherwise}: ${problems.join("; ")}`);
}
