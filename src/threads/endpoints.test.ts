import { expect, it } from "vitest";
import { hostAtRest } from "../../test/host-at-rest.ts";
import { endpoint } from "./definitions/endpoint.ts";
import { callEndpoint } from "./endpoints.ts";

const report = endpoint({
  path: "report/[id]",
  method: "post",
  async handler(request, state, params, auth) {
    await state.setValue("report", await request.text());
    state.emit("reported", { id: params.id ?? "" });
    const { execution, threadId, arguments: given } = state;
    return Response.json({ params, auth, execution, threadId, given }, { status: 201 });
  },
});

const broken = endpoint({
  path: "broken",
  handler: () => {
    throw new Error("secret detail");
  },
});

const silent = endpoint({ path: "silent", handler: () => undefined as unknown as Response });

async function called(path: string, init: RequestInit = {}, threadId?: string) {
  const world = await hostAtRest({ endpoints: [report, broken, silent] });
  const { host, thread } = world;
  const told: unknown[] = [];
  const response = await callEndpoint(host, {
    ...{ threadId: threadId ?? thread.id, path, onEvent: (...event) => told.push(event) },
    request: new Request(`http://localhost/threads/t/${path}`, init),
  });
  return { ...world, response, body: await response.text(), told };
}

it("is called with the request, the thread's state, what its path captures and who calls", async () => {
  const { response, body, stores, thread, told } = await called("report/7", { method: "POST", body: "Fine." });

  expect(response.status).toBe(201);
  expect(JSON.parse(body)).toEqual({
    params: { id: "7" },
    auth: { caller: null, threadAccess: null },
    execution: null,
    threadId: thread.id,
    given: { topic: "rain" },
  });
  expect(await stores.state.value(thread.id, "report")).toBe('"Fine."');
  expect(told).toContainEqual([thread.id, "reported", { id: "7" }]);
});

it("is not found for another path, another method or another thread", async () => {
  expect((await called("nothing")).response.status).toBe(404);
  expect((await called("report/7")).response.status).toBe(404);
  const { response, body, stores, thread } = await called("report/7", { method: "POST", body: "Fine." }, "nobody");
  expect(response.status).toBe(404);
  expect(JSON.parse(body)).toEqual({ error: 'There is no thread "nobody".' });
  expect(await stores.state.value(thread.id, "report")).toBeUndefined();
});

it.each(["broken", "silent"])(
  "answers with 500 and no details when the handler is %s, which is reported",
  async (path) => {
    const { response, body, reported } = await called(path);

    expect(response.status).toBe(500);
    expect(body).toBe('{"error":"The endpoint failed."}');
    expect(reported).toHaveLength(1);
  },
);
