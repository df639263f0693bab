import { describe, expect, it } from "vitest";
import { commandHere } from "./command-here.ts";
import { welcome } from "./welcome.ts";
import type { Served } from "./what-is-served.ts";

const served: Served = {
  ...{ url: "http://127.0.0.1:8484", token_file: ".holdfast/owner-token" },
  ...{ agents: ["desk"], workflows: [], model: "demo", is_tour: false, has_tour_gateway: false },
};

function told(about: Partial<Served>): string {
  const typed = { chat: "npx holdfast chat", start: "npx holdfast gateway runs start" };
  const startWorkflow = "npx holdfast workflows start";
  const options = { ...typed, startWorkflow, reloads: false, bold: (text: string) => text };
  return welcome({ ...served, ...about }, options).join("\n");
}

describe("the welcome of holdfast dev", () => {
  it("asks the tour's agent the tour's questions, down to the decision that they end in", () => {
    const words = told({ agents: ["support"], is_tour: true });
    expect(words).toContain('/agents/support/chat -d \'{"message":"Please refund order 7, 12 euros."}\'');
    expect(words).toContain('http://127.0.0.1:8484/approvals/REQUEST_ID -d \'{"decision":"accepted"}\'');
  });

  it("starts an agent run on a page that the tour's gateway may fetch, where there is one", () => {
    const start = 'gateway runs start "fetch http://127.0.0.1:8484/reference and produce a 2 para critique"';
    expect(told({ has_tour_gateway: true })).toContain(start);
    expect(told({ has_tour_gateway: true, url: "http://192.168.0.7:8484" })).not.toContain("runs start");
    expect(told({ is_tour: true })).not.toContain("runs start");
  });

  it("starts the tour's workflow with what it takes in, and another one as far as is known", () => {
    const tour = told({ is_tour: true, workflows: ["refund", "other"] });
    expect(tour).toContain("\nWorkflows: refund, other\n");
    expect(tour).toContain("  npx holdfast workflows start refund --input order=7 --follow\n");
    expect(told({ workflows: ["it's mine"] })).toContain(String.raw`workflows start 'it'\''s mine' --follow`);
    expect(told({})).not.toContain("orkflow");
  });

  it("asks the agents of a project nothing that only the tour's can answer", () => {
    const words = told({});
    expect(words).toContain("Agents: desk\n");
    expect(words).toContain("  npx holdfast chat\n");
    expect(words).toContain('/agents/desk/chat -d \'{"message":"Hello"}\'');
    expect(words).not.toContain("order");
    expect(words).not.toContain("/approvals");
  });

  it("says what is missing in a project without agents, and names none", () => {
    const words = told({ agents: [], model: null });
    expect(words).toContain("There are no agents yet:");
    expect(words).not.toContain("Agents:");
    expect(words).not.toContain("chat");
    expect(words).not.toContain("Model:");
  });

  it("says which model answers, and how to have another one", () => {
    expect(told({ model: "demo" })).toMatch(/^Model: demo, .*HOLDFAST_MODEL=openai\/gpt-5/m);
    expect(told({ model: "openai/gpt-5" })).toMatch(/^Model: openai\/gpt-5, .*HOLDFAST_MODEL=demo/m);
    expect(told({ model: null })).not.toContain("Model:");
  });

  it("writes paths as a shell reads them", () => {
    expect(told({ token_file: "my data/owner-token" })).toContain("$(cat 'my data/owner-token')");
    const command = commandHere("chat", { cwd: "/tmp", data: "it's here", config: "a.mts" });
    expect(command).toBe(String.raw`npx holdfast chat --config a.mts --data 'it'\''s here'`);
  });
});
