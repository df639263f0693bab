import { expect, it } from "vitest";
import { errorCodes } from "../contracts/error.ts";
import { problemOf, statusOf } from "./problem.ts";

it("knows a status for every code, and none that is no refusal", () => {
  for (const code of errorCodes) expect(statusOf(code), code).toBeGreaterThanOrEqual(400);
});

it.each([
  ["unauthenticated", 401],
  ["ability_forbidden", 403],
  ["thread_not_found", 404],
  ["something_of_a_host_not_found", 404],
  ["thread_busy", 409],
  ["database_unavailable", 503],
  ["ability_exception", 500],
  ["a_refusal_of_a_host", 400],
  ["toString", 400],
])("answers %s with %d", (code, status) => {
  expect(statusOf(code)).toBe(status);
});

it("tells what was wrong with a request, and not what went wrong in the server", () => {
  expect(problemOf({ code: "invalid_input", message: "name: missing", data: { problems: [] } }, "r1")).toEqual({
    type: "urn:holdfast:problem:invalid_input",
    title: "Invalid input",
    status: 400,
    code: "invalid_input",
    detail: "name: missing",
    hint: expect.stringContaining("Correct the fields"),
    data: { problems: [] },
    request_id: "r1",
  });
  for (const code of ["ability_exception", "internal_error", "database_refused"]) {
    const told = problemOf({ code, message: "password=hunter2", data: { at: "/home" } }, "r1");
    expect(JSON.stringify(told)).not.toMatch(/hunter2|home/);
  }
});
