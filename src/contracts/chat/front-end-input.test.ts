import { describe, expect, it } from "vitest";
import { frontEndInput } from "./front-end-input.ts";

function read(client_context: unknown) {
  return frontEndInput({ agent: "writer", message: "hi", client_context });
}

describe("a chat request of a web page", () => {
  it("keeps the name that a client gives itself as it is written", () => {
    const named = (client_name: string) => ({ client_context: { client_name, source: "rest" } });
    expect(read({ client_name: " widget " })).toMatchObject(named(" widget "));
    expect(read({ client_name: 5 })).toMatchObject(named("5"));
    for (const client_name of [undefined, null, " ", ["widget"]]) {
      expect(read({ client_name })).toMatchObject(named("frontend-chat"));
    }
  });
});
