// Promise: who calls is known to whoever decides what they may do, and to nobody at any door: not by which they could be
// taken for them, and not what they were let in with.
import { expect, it } from "vitest";
import * as principals from "../src/contracts/trust/principal.ts";
import { plantedHouse, storyFor } from "./doors/planted-house.ts";
import { readEverything } from "./doors/read-everything.ts";
import { talkAtDoors } from "./doors/talk-at-doors.ts";
import { typeCommand } from "./doors/type-command.ts";

/** What the tools of the story are called with is not looked for here. */
function ofPrincipals(leaks: Readonly<Record<string, readonly string[]>>): Readonly<Record<string, readonly string[]>> {
  const isTheirs = (where: string) => where.startsWith("its ");
  const found = Object.entries(leaks).map(([place, wheres]) => [place, wheres.filter(isTheirs)] as const);
  return Object.fromEntries(found.filter(([, wheres]) => wheres.length > 0));
}

it("tells nobody of a token what it may do, nor what it is", async () => {
  const house = await plantedHouse();
  const { served, plants, alice, manager, hear } = house;
  const guidelines = ["read", "edit_posts", "publish_posts", "edit_agent_memory", "edit_private_agent_memory"];
  const own = ["chat", "threads.read", "threads.write", "files.read", "files.write", "requests.answer", "agents.read"];
  const more = ["sessions.read", "sessions.write", "memory.read", "memory.write", "bridge.use", "tokens.manage"];
  const workflows = ["workflows.read", "workflows.run"];
  const { token, metadata } = await served.holdfast.tokens.create({
    ...{ agent: "visitor", owner_user_id: alice.user, client_id: "planted-phone" },
    allowed_capabilities: [...own, ...more, ...workflows, ...guidelines, plants.plantPlain("its capability")],
    ...{ label: plants.plantPlain("its label"), metadata: { of: plants.plantPlain("its metadata") } },
  });
  plants.plantThis("its text", token);
  plants.plantThis("its secret part", token.slice(metadata.token_prefix.length));
  const planted = { ...alice, token, token_id: metadata.token_id };
  const story = await storyFor(house, planted);
  for (const [door, told] of Object.entries(await talkAtDoors(served, token, "pay"))) hear(door, told);
  await readEverything(house, { ...story, tokens: [token, manager] });
  for (const id of story.threads) hear("threads export", await typeCommand(served.url, token, "threads", "export", id));
  // Whoever manages tokens sees what each may do, and never the token itself.
  expect(ofPrincipals(house.leaks())).toEqual({
    "holdfast/list-tokens": ["its capability", "its label", "its metadata"],
  });
});

it("tells nobody whom a visitor was told from others by, nor what is claimed of them", async () => {
  const house = await plantedHouse();
  const { served, plants, alice, manager, hear } = house;
  const plant = (where: string) => plants.plantPlain(`its ${where}`);
  const principal = principals.fromArray({
    ...{ acting_user_id: 0, effective_agent_id: "helper", auth_source: "audience", request_context: "rest" },
    ...{ audience_id: "guests", audience_claims: { email: plant("claim"), groups: [plant("listed claim")] } },
    ...{ owner_type: "browser_session", owner_key: plant("owner key") },
    request_metadata: { ip: plant("request metadata") },
  });
  await served.holdfast.grants.grant({ agent: "helper", audience_id: "guests", role: "operator" });
  // biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects of an answer
  const call = async (name: string, input: object): Promise<any> => {
    const answer = await served.holdfast.abilities.call(name, input, { principal, door: "http" });
    expect(answer, name).not.toHaveProperty("code");
    // A session says whose it is to those whose it is.
    if (name !== "agents/create-conversation-session") hear(`the visitor's ${name}`, JSON.stringify(answer));
    return answer;
  };
  const { id } = await call("holdfast/open-thread", { agent: "helper", key: "mine" });
  await call("holdfast/send-message", { thread_id: id, content: "login", wait: true });
  const { session_id: chat } = await call("agents/chat", { agent: "helper", message: "pay" });
  const { session } = await call("agents/create-conversation-session", { metadata: {} });
  await call("holdfast/list-threads", {});
  await call("holdfast/list-requests", {});
  await call("holdfast/export-thread", { thread_id: id });

  const theirs = { ...(await storyFor(house, alice)).theirs, thread_id: id, session_id: String(session.session_id) };
  await readEverything(house, { theirs, threads: [id, String(chat)], tokens: [alice.token, manager] });
  for (const path of [`/threads/${id}/stream?until=rest`, `/api/chat/mine`]) {
    hear(path.replace(id, ":id"), (await served.ask(manager, path)).text);
  }
  hear("threads show", await typeCommand(served.url, manager, "threads", "show", id));
  hear("threads list", await typeCommand(served.url, manager, "threads", "list"));
  expect(ofPrincipals(house.leaks())).toEqual({});
});
