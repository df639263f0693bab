// Promise: a secret leaves through no door. Whoever runs a tool for a thread gets the call that is to be run, and nobody
// gets anything else that is secret, whatever is asked for and however it is told.
import { expect, it } from "vitest";
import { capabilities } from "../src/abilities/capabilities.ts";
import { createHooks } from "../src/contracts/hooks.ts";
import { plantedHouse, storyFor, words } from "./doors/planted-house.ts";
import { readEverything } from "./doors/read-everything.ts";
import { talkAtDoors } from "./doors/talk-at-doors.ts";
import { belongingsOf } from "./doors/two-tenants.ts";
import { typeCommand } from "./doors/type-command.ts";
import { askWrongly } from "./doors/wrong-requests.ts";

/** Where the contract hands the whole call to whoever may answer it. */
const handedOver: readonly string[] = [
  "agents/get-runtime-tool-request",
  "agents/list-runtime-tool-requests",
  "holdfast/get-request",
];

it("is in no answer to anything that can be read, whoever asks", async () => {
  const house = await plantedHouse();
  const { alice, manager } = house;
  const tokens = [alice.token, manager];
  const answered = await readEverything(house, { ...(await storyFor(house, alice)), tokens });
  expect(answered).toBeGreaterThan(200);
  const leaks = house.leaks();
  expect(Object.keys(leaks).sort()).toEqual(handedOver);
  for (const found of Object.values(leaks)) expect(found).toEqual(["asked"]);
});

/** The doors whose clients run tools, and are told what to run them with. */
const clientsRun: readonly string[] = [
  ...["POST /api/chat", "GET /api/chat/:id", "POST /api/agents/:agent/chat", "GET /api/chat/:id/stream"],
  ...["POST /v1/chat/completions", "POST /v1/chat/completions, streamed", "message/send", "message/stream"],
  ...["POST /agents-api/v1/chat", "agents/chat"],
];

it("is told by no door at which one talks, in no piece of an answer and in no whole one", async () => {
  const house = await plantedHouse();
  const { served, alice, hear } = house;
  for (const word of [...words, "pay", "look"]) {
    const heard = await talkAtDoors(served, alice.token, word);
    for (const [door, told] of Object.entries(heard)) {
      hear(word === "look" && clientsRun.includes(door) ? "handed over" : `${door} about ${word}`, told);
    }
    if (word !== "login") continue;
    expect(heard["GET /threads/:id/stream"]).toContain("tool_input.delta");
    // Everybody was answered.
    for (const [door, told] of Object.entries(heard))
      if (!door.startsWith("what is")) expect(told, door).toContain("Yes.");
  }
  const { "handed over": whole, ...leaks } = house.leaks();
  expect(whole).toEqual(["asked"]);
  expect(leaks).toEqual({});
});

it("is told to no client that runs no tools, at whatever door", async () => {
  const house = await plantedHouse();
  const { served, hear } = house;
  const own = Object.entries(capabilities).flatMap(([name, { has }]) => (has === "own" ? [name] : []));
  const { token } = await served.holdfast.tokens.create({
    ...{ agent: "visitor", owner_user_id: 2 },
    allowed_capabilities: own.filter((name) => name !== "requests.answer"),
  });
  const heard = await talkAtDoors(served, token, "look");
  for (const [door, told] of Object.entries(heard)) hear(door, told);
  expect(house.leaks()).toEqual({});
});

it("is not repeated to whoever sends it where it does not belong", async () => {
  const house = await plantedHouse();
  const { served, alice, hear, plants } = house;
  const theirs = await belongingsOf(served, alice);
  const answers = await askWrongly(served, alice.token, theirs, plants.plantPlain("sent wrongly"));
  for (const [what, answered] of answers) {
    hear(what, answered);
    expect(answered, what).toMatch(/^(4\d\d|200 .*"error":|200 .*"success":false)/);
  }
  expect(house.leaks()).toEqual({});
});

it("stands on no page that tells how the server is used or how it does", async () => {
  const house = await plantedHouse();
  const { served, alice, manager, hear } = house;
  await storyFor(house, alice);
  for (const path of ["/openapi.json", "/reference", "/metrics", "/health", "/ready", "/abilities", "/v1/models"]) {
    const { status, text } = await served.ask(manager, path);
    expect(status, path).toBe(200);
    hear(path, text);
  }
  const { text } = await served.ask(manager, "/metrics", { headers: { accept: "text/plain" } });
  hear("metrics as text", text);
  expect(house.leaks()).toEqual({});
});

it("is printed by no command", async () => {
  const house = await plantedHouse();
  const { served, alice, manager, hear } = house;
  const { theirs, threads } = await storyFor(house, alice);
  const print = async (place: string, ...command: readonly string[]) => {
    for (const json of [[], ["--json"]]) hear(place, await typeCommand(served.url, manager, ...command, ...json));
  };
  for (const id of threads) {
    await print("threads show", "threads", "show", id);
    await print("threads export", "threads", "export", id);
    await print("threads tail", "threads", "tail", id, "--until-rest");
  }
  await print("threads list", "threads", "list");
  for (const { request_id } of [theirs.approval, theirs.decided]) {
    await print("approvals show", "approvals", "show", request_id);
    await print("requests show", "requests", "show", request_id);
  }
  await print("approvals list", "approvals", "list", "--all");
  await print("requests list", "requests", "list", "--all");
  await print("audit export", "audit", "export");
  await print("handed over", "requests", "show", theirs.client.request_id);
  const { "handed over": whole, ...leaks } = house.leaks();
  expect(whole).toEqual(["asked"]);
  expect(leaks).toEqual({});
});

it("that code of the host throws about is told at no door, and in no line of the log", async () => {
  const abilityHooks = createHooks();
  const house = await plantedHouse({ runtime: { abilityHooks } });
  const { served, alice, hear, plants } = house;
  const detail = plants.plant("detail");
  abilityHooks.filter("abilityPreExecuteDecision", () => {
    throw new Error(`The directory refused ${house.house} because of ${detail}.`);
  });
  const { code, text } = await served.ask(alice.token, "/threads");
  hear("GET /threads", text);
  expect(code).toBe("ability_exception");
  for (const [door, told] of Object.entries(await talkAtDoors(served, alice.token, "login"))) hear(door, told);
  hear("threads list", await typeCommand(served.url, alice.token, "threads", "list"));
  // Why it failed is for whoever reads the log and is told of errors, except for what is known to be secret.
  expect(house.leaks()).toEqual({ log: ["detail"], "error reports": ["detail"] });
});
