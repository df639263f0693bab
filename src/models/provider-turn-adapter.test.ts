import { expect, it, vi } from "vitest";
import * as providerTurn from "../contracts/conversation/provider-turn.ts";
import { createProviderTurnAdapter, type Dispatch, type ProviderTurnAdapterOptions } from "./provider-turn-adapter.ts";

const busy = Object.assign(new Error("busy"), { code: 503 });

function adapterOn(dispatch: Dispatch, options: Partial<ProviderTurnAdapterOptions> = {}) {
  const sleep = vi.fn(async (_seconds: number) => undefined);
  return { sleep, adapter: createProviderTurnAdapter({ dispatch, sleep, random: () => 0, ...options }) };
}

it("asks the provider, model and system prompt that the request names, and its own otherwise", async () => {
  const dispatch = vi.fn<Dispatch>(async () => ({ text: "hello" }));
  const { adapter } = adapterOn(dispatch, { provider_id: "own", model_id: "small", system_prompt: "Be kind." });
  await adapter(providerTurn.request({ model: { model_id: "large" }, runtime: { system_prompt: "Be brief." } }));
  expect(dispatch.mock.lastCall?.[0]).toMatchObject({
    provider_id: "own",
    model_id: "large",
    system_prompt: "Be brief.",
  });
});

it("offers tools under safe names and with a schema that is an object", async () => {
  const dispatch = vi.fn<Dispatch>(async () => ({ text: "" }));
  const tool = (parameters: unknown) => ({ source: "abilities", description: "d", parameters });
  const tool_declarations = { "ability/a": tool([]), "ability/b": tool({ type: "object", properties: [] }) };
  await adapterOn(dispatch).adapter(providerTurn.request({ tool_declarations }));
  expect(dispatch.mock.lastCall?.[0].tools).toEqual([
    { name: "ability__a", description: "d", parameters: { type: "object", properties: {} } },
    { name: "ability__b", description: "d", parameters: { type: "object", properties: {} } },
  ]);
});

it("does not repeat a turn of which something was already streamed", async () => {
  const dispatch = vi.fn<Dispatch>(async (_call, { onDelta }) => {
    onDelta?.("Hel");
    throw busy;
  });
  const seen: unknown[] = [];
  const turn = adapterOn(dispatch).adapter(providerTurn.request({}), { onDelta: (delta) => seen.push(delta) });
  await expect(turn).rejects.toBe(busy);
  expect(dispatch).toHaveBeenCalledTimes(1);
  expect(seen).toEqual(["Hel"]);
});

it("throws an error that the provider returned, with that error as the cause", async () => {
  const returned = { code: "bad_key", message: "The key is not valid.", data: { status: 401 } };
  await expect(adapterOn(async () => returned).adapter(providerTurn.request({}))).rejects.toMatchObject({
    code: "provider_turn_failed",
    detail: "The key is not valid.",
    cause: returned,
  });
});

it("stops between attempts when the caller aborts", async () => {
  const controller = new AbortController();
  const dispatch = vi.fn<Dispatch>(async () => Promise.reject(busy));
  const sleep = async () => controller.abort();
  const turn = adapterOn(dispatch, { sleep }).adapter(providerTurn.request({}), { signal: controller.signal });
  await expect(turn).rejects.toMatchObject({ code: "aborted" });
  expect(dispatch).toHaveBeenCalledTimes(1);
});

it("tells a request when its time is up", async () => {
  const untilAborted: Dispatch = (_call, { signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const turn = adapterOn(untilAborted, { request_timeout: 0.01 }).adapter(providerTurn.request({}));
  await expect(turn).rejects.toMatchObject({ name: "TimeoutError" });
});

it("goes on when those who watch it fail", async () => {
  const dispatch = vi.fn<Dispatch>().mockRejectedValueOnce(busy);
  dispatch.mockImplementation(async (_call, { onDelta }) => {
    onDelta?.("Hello");
    return { text: "Hello" };
  });
  const fail = () => {
    throw new Error("watcher");
  };
  const turn = adapterOn(dispatch, { onRetry: fail }).adapter(providerTurn.request({}), { onDelta: fail });
  await expect(turn).resolves.toMatchObject({ content: "Hello" });
});

it("fails a turn whose answer is not what was asked for, unless the request is lenient", async () => {
  const answering = (text: string, strict: boolean) =>
    adapterOn(async () => ({ text })).adapter(
      providerTurn.request({ structured_output: { schema: { type: "object" }, strict } }),
    );
  expect(await answering("[1]", true)).toEqual({
    failure: { type: "structured_output_schema_mismatch", message: expect.any(String) },
    provider_diagnostics: { structured_output: { status: "schema_mismatch", code: "type_mismatch" } },
  });
  expect(await answering("[1]", false)).toMatchObject({ structured_output: { parsed: [1] } });
});

it("adds up the tokens when the provider gives no total", async () => {
  const usage = { prompt_tokens: 3, completion_tokens: 4 };
  const turn = adapterOn(async () => ({ text: "", usage })).adapter(providerTurn.request({}));
  await expect(turn).resolves.toMatchObject({ usage: { ...usage, total_tokens: 7 } });
});
