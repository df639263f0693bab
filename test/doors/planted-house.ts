// A server whose threads have secrets planted all over them: in what tools are called with and return, in what they throw,
// in the environment, in variables, in headers, in what models fail with. And everything that is heard of it.
import { onTestFinished } from "vitest";
import { callsTool } from "../../src/models/scripted/scripted-model.ts";
import { tool } from "../../src/threads/tool.ts";
import { createPlants, type Plants } from "../secrets/plants.ts";
import { printing, reported } from "../secrets/whatever-is-told.ts";
import {
  type Belongings,
  belongingsOf,
  type House,
  type Tenant,
  type Tenants,
  threadsOf,
  twoTenants,
} from "./two-tenants.ts";

export type PlantedHouse = Tenants & {
  readonly plants: Plants;
  /** Something that somebody was told. */
  hear(place: string, told: string): void;
  /** Which secrets were found, place by place, in what was heard, logged, printed and reported. */
  leaks(): Readonly<Record<string, readonly string[]>>;
  readonly house: string;
};

export async function plantedHouse(more: House = {}): Promise<PlantedHouse> {
  const plants = createPlants();
  const printed = printing();
  const errors: unknown[] = [];
  const heard: [string, string][] = [];
  const hear = (place: string, told: string) => heard.push([place, told]);
  const house = plants.plant("house");
  const tenants = await twoTenants({
    ...more,
    ...storyOf(plants, house),
    runtime: {
      ...{ env: { API_KEY: house }, userEnv: async () => ({ USER_KEY: plants.known("user") }) },
      onError: (error) => errors.push(error),
      ...more.runtime,
    },
    server: { log: (line) => hear("log", line), ...more.server },
  });
  onTestFinished(() => tenants.served.close());
  return {
    ...tenants,
    ...{ plants, hear, house },
    leaks() {
      const found: Record<string, string[]> = {};
      const told = [...heard, ...Object.entries({ ...printed(), ...reported(errors) })];
      for (const [place, text] of told) {
        for (const where of plants.foundIn(text)) {
          found[place] ??= [];
          if (!found[place].includes(where)) found[place].push(where);
        }
      }
      return found;
    },
  };
}

/** What the model does about each word, and the tools that it calls. */
function storyOf(plants: Plants, house: string): Pick<House, "told" | "tools"> {
  const password = plants.plant("password");
  const key = plants.plant("key");
  const issued = plants.plant("issued");
  const approved = plants.plant("approved");
  const asked = plants.plant("asked");
  const scheduled = plants.plant("scheduled");
  const bearer = plants.plantPlain("bearer");
  plants.plant("user");
  return {
    told: {
      login: () => callsTool("shop/login", { user: "anna", password }),
      fail: () => callsTool("shop/fail", { api_key: key }),
      fetch: () => callsTool("web/fetch", { headers: { authorization: `Bearer ${bearer}` } }),
      environment: () => callsTool("shop/environment", {}),
      remind: () => callsTool("shop/remind", {}),
      pay: () => callsTool("shop/pay", { token: approved }),
      look: () => callsTool("client/look", { token: asked }),
      break: () => {
        throw new Error(`The provider refused ${house}.`, { cause: new Error(`Since ${house}`) });
      },
    },
    tools: [
      tool({
        name: "shop/login",
        description: "Logs in.",
        execute: (input) => ({ access_token: issued, note: `Use ${issued}, not ${String(input.password)}.` }),
      }),
      tool({
        name: "shop/fail",
        description: "Fails.",
        execute: ({ api_key }) => {
          throw new Error(`Refused ${String(api_key)}.`, { cause: new Error(`It was ${String(api_key)}.`) });
        },
      }),
      tool({
        name: "web/fetch",
        description: "Fetches.",
        execute: ({ headers }) => {
          const { authorization } = headers as { authorization: string };
          throw new Error(`401 for ${authorization.slice(7)}`);
        },
      }),
      tool({
        name: "shop/environment",
        description: "Reads.",
        execute: async (_input, { state }) => {
          const values = await Promise.all(["API_KEY", "USER_KEY", "OWN"].map((name) => state.env(name)));
          return `They are ${values.join(" and ")}.`;
        },
      }),
      tool({
        name: "shop/pay",
        description: "Pays.",
        actionPolicy: "preview",
        execute: ({ token }) => `Paid with ${String(token)}.`,
      }),
      tool({
        name: "shop/remind",
        description: "Reminds.",
        execute: async (_input, { state }) => await state.scheduleEffect("remind", { password: scheduled }, 3_600_000),
      }),
    ],
  };
}

/** The words that set off a secret each. */
export const words: readonly string[] = ["login", "fail", "fetch", "environment", "remind", "break"];

/** Everything that somebody has here, and the threads on which the secrets were used. What they are answered is heard. */
export async function storyFor(
  house: PlantedHouse,
  tenant: Tenant,
): Promise<{ readonly theirs: Belongings; readonly threads: readonly string[] }> {
  const { served, plants, hear, manager } = house;
  const { token, name } = tenant;
  const heard: typeof served = {
    ...served,
    async ask(...given) {
      const answer = await served.ask(...given);
      hear(`the answer to ${given[2]?.method ?? "GET"} ${given[1].replaceAll(/[0-9a-f-]{32,}/g, "…")}`, answer.text);
      return answer;
    },
  };
  const { ask, open, say, waiting, variables } = threadsOf(heard, token);
  const theirs = await belongingsOf(served, tenant);
  const plant = (where: string) => plants.plant(`${where} of ${name}`);

  const spoken = await open({ env: { OWN: plant("own") } });
  for (const word of words) await say(spoken, word);
  const called = await open();
  await ask("POST", `/threads/${called}/tools/call`, { name: "shop/login", parameters: { password: plant("called") } });
  await ask("POST", `/threads/${called}/tools`, { name: "shop/fail", parameters: { api_key: plant("queued") } });
  const answered = await waiting("look");
  await ask("POST", `/requests/${answered.request_id}`, { result: { refresh_token: plant("brought") } });
  const decided = await waiting("pay");
  const parameters = { token: plant("edited") };
  await heard.ask(manager, `/approvals/${decided.request_id}`, { json: { decision: "accepted", parameters } });
  const set = await variables();
  await ask("POST", `/threads/${set.thread_id}/variables/${set.request_id}`, {
    env: { MAIL_TOKEN: plant("variable") },
  });
  const threads = [spoken, called, answered.thread_id, decided.thread_id, set.thread_id];
  for (const id of threads) await (await served.holdfast.threads.get(id)).wait();
  const waits = [theirs.approval, theirs.client, theirs.variables].map(({ thread_id }) => thread_id);
  return { theirs, threads: [...threads, ...waits, theirs.effect.thread_id] };
}
