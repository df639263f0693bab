// Promise: who acts is known to whoever decides what they may do. Models, readers and exports get to know that somebody
// acts, and nothing by which another could act as them.
import { expect, it } from "vitest";
import type { JsonMap, UnknownMap } from "../src/contracts/json.ts";
import { calls, callsTool, says } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import type { OpenOptions } from "../src/threads/open-thread.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase } from "./databases.ts";
import { createScene, type Scene } from "./secrets/scene.ts";

/** A principal with something planted in whatever nobody else may know of it. */
function plantedPrincipal(scene: Scene): UnknownMap {
  const plant = (where: string) => scene.plantPlain(where);
  return {
    acting_user_id: 7,
    effective_agent_id: "desk",
    auth_source: "user",
    request_context: "chat",
    token_id: scene.plantNumber("token id"),
    request_metadata: { ip: plant("request metadata"), headers: { referer: plant("request header") } },
    workspace_id: "house",
    client_id: "browser",
    capability_ceiling: {
      user_id: 7,
      allowed_capabilities: ["read", plant("capability")],
      metadata: { of: plant("ceiling metadata") },
    },
    audience_id: "guests",
    audience_claims: { email: plant("claim"), groups: [plant("listed claim")] },
    owner_type: "browser_session",
    owner_key: plant("owner key"),
    binding: { proof: plant("binding") },
  };
}

/** Every way in which a principal comes to a thread: of the agent, of its context, of the thread itself. */
const ways: Readonly<
  Record<string, (principal: UnknownMap) => { readonly own?: object; readonly opened?: Partial<OpenOptions> }>
> = {
  "the agent": (principal) => ({ own: { principal } }),
  "the context of the agent": (principal) => ({ own: { context: { principal } } }),
  "the thread": (principal) => ({ opened: { principal } }),
};

eachDatabase((newWorld) => {
  for (const [whose, given] of Object.entries(ways)) {
    it(`is told to no model, tool, reader or export when it is the principal of ${whose}`, async () => {
      const scene = createScene(await newWorld());
      const principal = plantedPrincipal(scene);
      const seen: unknown[] = [];
      const reads = tool({
        name: "site/read",
        description: "Reads.",
        requiredCapability: "read",
        execute: (input, { state: _state, ...context }) => {
          scene.hear("what tools are told", { input, ...context, signal: undefined });
          return "read";
        },
      });
      const publishes = tool({
        name: "site/publish",
        description: "Publishes.",
        requiredCapability: "publish_posts",
        execute: () => "never",
      });
      const asks = tool({ name: "site/ask", description: "Asks.", actionPolicy: "preview", execute: () => "asked" });
      const { own = {}, opened = {} } = given(principal);
      const model = scene.speaking(
        calls(callsTool("site/read", {}), callsTool("site/publish", { title: "News" })),
        callsTool("site/ask", {}),
        says("Done."),
      );
      const authorize = (who: JsonMap, capability: string) => {
        seen.push(who);
        return capability === "read";
      };
      const holdfast = await scene.open(
        agent({ slug: "desk", model, tools: [reads, publishes, asks], authorize, ...own }),
      );
      const thread = await holdfast.threads.open("t", { agent: "desk", ...opened });
      const sent = await thread.send("Go.");
      scene.hear("what the send came to", sent);
      const request = sent.waiting_for?.request_id ?? "";
      scene.hear("the whole request", await holdfast.requests.open(request));
      // Who acts as the agent does not decide for it; a person with the same secrets may.
      const person = { ...principal, auth_source: "user", token_id: null };
      const decided = await holdfast.requests.submit(request, { decision: "accepted" }, { principal: person });
      scene.hear("what the decision came to", decided);
      expect(await thread.wait()).toMatchObject({ final_content: "Done." });

      // Whoever decides gets to see all of it.
      expect(seen[0]).toMatchObject({ token_id: principal.token_id, owner_key: principal.owner_key });
      const denied = (await thread.messages()).find(({ message }) => message.payload.success === false);
      expect(denied?.message.payload.metadata).toMatchObject({
        denial: { principal: { acting_user_id: 7, owner_type: "browser_session", has_capability_ceiling: true } },
      });
      // Whom a thread acts for is stored with the thread, in one place; and a session says whose it is to those whose it is.
      const {
        "table thread_subjects": stored,
        session,
        "database files": _bytes,
        ...elsewhere
      } = await scene.leaks(holdfast);
      expect([stored !== undefined, session]).toEqual([true, ["owner key"]]);
      expect(elsewhere).toEqual({});
    });
  }
});
