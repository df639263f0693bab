import { expect, it } from "vitest";
import { exitCodeOf, exitCodes, Refusal } from "./refusal.ts";

it.each([
  ["ability_forbidden", exitCodes.forbidden],
  ["ability_invalid_permissions", exitCodes.forbidden],
  ["unauthenticated", exitCodes.forbidden],
  ["thread_not_found", exitCodes.notFound],
  ["database_in_use", exitCodes.unreachable],
  ["server_unreachable", exitCodes.unreachable],
  ["usage", exitCodes.usage],
  ["invalid_input", exitCodes.usage],
  ["file_not_written", exitCodes.failed],
  ["aborted", exitCodes.interrupted],
  ["request_answered", exitCodes.failed],
])("what is refused with %s exits with %i", (code, exitCode) => {
  expect(exitCodeOf(new Refusal({ code, message: "No." }))).toBe(exitCode);
});
