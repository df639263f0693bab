// Requests that are wrong, with a secret in them: in the wrong field, in the wrong form, or in what cannot be read at all.
import type { Served } from "../served-runtime.ts";
import type { Belongings } from "./two-tenants.ts";

/** What each of them is answered with. None of them is let through. */
export async function askWrongly(
  served: Served,
  token: string,
  { thread_id, approval, client, variables }: Belongings,
  secret: string,
): Promise<readonly (readonly [what: string, answered: string])[]> {
  const json = (path: string, body: object, init: RequestInit = {}) => served.ask(token, path, { ...init, json: body });
  const raw = (path: string, body: string, type = "application/json") =>
    served.ask(token, path, { method: "POST", body, headers: { "content-type": type } });
  const set = `/threads/${variables.thread_id}/variables/${variables.request_id}`;
  const rpc = { jsonrpc: "2.0", id: 1, method: "message/send" };
  const asked = {
    "an environment that is a text": json("/threads", { agent: "helper", env: secret }),
    "an environment of lists": json("/threads", { agent: "helper", env: { OWN: [secret] } }),
    "an environment for an agent that there is not": json("/threads", { agent: "nobody", env: { OWN: secret } }),
    "parameters that are a text": json(`/threads/${thread_id}/tools`, { name: "shop/login", parameters: secret }),
    "parameters of a tool that there is not": json(`/threads/${thread_id}/tools/call`, {
      ...{ name: "shop/nothing", parameters: { password: secret } },
    }),
    "parameters without a tool": json(`/threads/${thread_id}/tools`, { parameters: { password: secret } }),
    "a decision that is none": json(`/approvals/${approval.request_id}`, {
      ...{ decision: "perhaps", parameters: { token: secret } },
    }),
    "other parameters for a client's tool": json(`/requests/${client.request_id}`, { parameters: { token: secret } }),
    "parameters that are no map": json(`/requests/${approval.request_id}`, {
      ...{ decision: "accepted", parameters: [secret] },
    }),
    "variables that are a text": json(set, { env: secret }),
    "variables that are not asked for": json(set, { env: { OTHER: secret } }),
    "variables of nobody": json(`/threads/${variables.thread_id}/variables/nothing`, { env: { MAIL_TOKEN: secret } }),
    "half of a body": raw("/threads", `{"agent":"helper","env":{"OWN":${JSON.stringify(secret)}`),
    "a body of another type": raw("/threads", `env=${encodeURIComponent(secret)}`, "text/plain"),
    "a body that is a text": raw("/threads", JSON.stringify(secret)),
    "a wrong token": served.ask(undefined, "/threads", { headers: { authorization: `Bearer ${plainOf(secret)}` } }),
    "a wrong scheme": served.ask(undefined, "/threads", { headers: { authorization: `Basic ${plainOf(secret)}` } }),
    "a wrong ticket": served.ask(undefined, `/threads/${thread_id}/stream?ticket=${encodeURIComponent(secret)}`),
    "half of a message": raw("/agents-api/v1/agent/helper", `{"jsonrpc":"2.0","params":${JSON.stringify(secret)}`),
    "a message without a text": json("/agents-api/v1/agent/helper", { ...rpc, params: { metadata: { key: secret } } }),
    "a chat without messages": json("/api/chat", { id: "wrong", messages: secret }),
    "a completion without messages": json("/v1/chat/completions", { model: "helper", messages: [{ role: secret }] }),
    "a tool that is no tool": json("/mcp", { jsonrpc: "2.0", id: 1, method: secret }),
  };
  return await Promise.all(
    Object.entries(asked).map(async ([what, answer]) => {
      const { status, text } = await answer;
      return [what, `${status} ${text}`] as const;
    }),
  );
}

/** As a header can carry it. */
function plainOf(secret: string): string {
  return secret.replaceAll(/[^\w~.-]/g, "");
}
