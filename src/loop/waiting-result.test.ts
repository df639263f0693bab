import { expect, it } from "vitest";
import * as toolResult from "../contracts/tools/result.ts";
import { isPending } from "./waiting-result.ts";

const result = (more: object) => toolResult.normalize({ success: true, tool_name: "ability/save", ...more });

it("takes a result for pending by its status, and by its metadata only when it has none", () => {
  const metadata = { status: "runtime_tool_pending" };
  expect(isPending(result({ status: "runtime_tool_pending" }))).toBe(true);
  expect(isPending(result({ metadata }))).toBe(true);
  expect(isPending(result({ status: "done", metadata }))).toBe(false);
  expect(isPending(result({}))).toBe(false);
});
