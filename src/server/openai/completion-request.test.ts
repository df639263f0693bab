import { describe, expect, it } from "vitest";
import { checkTools, readCompletionRequest } from "./completion-request.ts";

const request = { model: "support", messages: [{ role: "user", content: "Hello." }] };
const long = "n".repeat(1_000_000);

/** What it was refused with. */
function refusalOf(work: () => unknown): object {
  try {
    work();
  } catch (thrown) {
    return (thrown as { refusal: object }).refusal;
  }
  throw new Error("It was not refused.");
}

describe("a completion request", () => {
  it("is refused with the place where it is wrong", () => {
    expect(refusalOf(() => readCompletionRequest({ ...request, messages: [{ role: "nobody" }] }))).toMatchObject({
      code: "invalid_input",
      data: { param: "messages.0.role" },
    });
    expect(refusalOf(() => readCompletionRequest({ ...request, n: 2 }))).toMatchObject({ data: { param: "n" } });
  });

  it("may name the tools that a client runs for the agent, as they are or as functions are named", () => {
    const tools = ["where", "client/where"].map((name) => ({ type: "function", function: { name } }));
    checkTools(readCompletionRequest({ ...request, tools }), ["client/where", "shop/refund"]);
    const others = readCompletionRequest({ ...request, tools: [{ function: { name: "shop/refund" } }] });
    expect(refusalOf(() => checkTools(others, ["shop/refund"]))).toMatchObject({ data: { param: "tools.0" } });
  });

  it("that is long is not sent back with its refusal", () => {
    const named = refusalOf(() => readCompletionRequest({ ...request, metadata: { [long]: 1 } }));
    const declared = readCompletionRequest({ ...request, tools: [{ function: { name: long } }] });
    const refused = [named, refusalOf(() => checkTools(declared, []))];
    for (const refusal of refused) expect(JSON.stringify(refusal).length).toBeLessThan(10_000);
  });
});
