import { describe, expect, it } from "vitest";
import type { ReadyModel } from "./model-choice.ts";
import { cappingModels } from "./provider-caps.ts";

type Call = { readonly end: () => void; readonly fail: (error: Error) => void };

/** A model that answers when it is told to, and the calls that it is at. */
function aModel(name: string) {
  const calls: Call[] = [];
  const ask = () =>
    new Promise((resolve, reject) => {
      calls.push({ end: () => resolve("done"), fail: reject });
    });
  return { model: { name, ask, price: null, maxOutputTokens: null } satisfies ReadyModel, calls };
}

const asked = (model: ReadyModel | undefined, signal?: AbortSignal) =>
  Promise.resolve(model?.ask([], {}, { tools: {}, ...(signal && { signal }) }));

const settled = () => new Promise(setImmediate);

describe("a cap on a provider", () => {
  it("lets so many calls of its models be made at a time, and the others in the order in which they came", async () => {
    const { model, calls } = aModel("openai/gpt-5");
    const small = aModel("openai/gpt-5-mini");
    const capped = cappingModels({ openai: 2 });
    const [large] = capped([model]);
    const [mini] = capped([small.model]);
    const answers = [asked(large), asked(mini), asked(large), asked(mini)];
    await settled();
    expect([calls.length, small.calls.length]).toEqual([1, 1]);
    small.calls[0]?.end();
    await settled();
    expect([calls.length, small.calls.length]).toEqual([2, 1]);
    calls[0]?.fail(new Error("Overloaded."));
    await expect(answers[0]).rejects.toThrow("Overloaded.");
    await settled();
    expect([calls.length, small.calls.length]).toEqual([2, 2]);
    calls[1]?.end();
    small.calls[1]?.end();
    expect(await Promise.all(answers.slice(1))).toEqual(["done", "done", "done"]);
  });

  it("leaves the models of others as they are", async () => {
    const { model, calls } = aModel("anthropic/claude");
    const [same] = cappingModels({ openai: 1 })([model]);
    expect(same).toBe(model);
    void asked(same);
    void asked(same);
    expect(calls).toHaveLength(2);
  });

  it("gives the place of a call that was cut off to the next, whether its model listens or not", async () => {
    const { model, calls } = aModel("openai/gpt-5");
    const [capped] = cappingModels({ openai: 1 })([model]);
    const cut = new AbortController();
    void asked(capped, cut.signal);
    await settled();
    const next = asked(capped);
    const last = asked(capped);
    cut.abort();
    await settled();
    expect(calls).toHaveLength(2);
    // That the first one answers after all makes no second place.
    calls[0]?.end();
    await settled();
    expect(calls).toHaveLength(2);
    calls[1]?.end();
    await next;
    await settled();
    calls[2]?.end();
    expect(await last).toBe("done");
  });

  it("does not ask for somebody who has left just when there was a place", async () => {
    const { model, calls } = aModel("openai/gpt-5");
    const [capped] = cappingModels({ openai: 1 })([model]);
    const cut = new AbortController();
    const first = asked(capped, cut.signal);
    const next = asked(capped);
    cut.abort(new Error("Too slow."));
    await expect(first).rejects.toThrow("Too slow.");
    await settled();
    calls[0]?.end();
    expect(await next).toBe("done");
    expect(calls).toHaveLength(1);
  });

  it("lets whoever waits leave the line", async () => {
    const { model, calls } = aModel("openai/gpt-5");
    const [capped] = cappingModels({ openai: 1 })([model]);
    const first = asked(capped);
    const impatient = new AbortController();
    const second = asked(capped, impatient.signal);
    const third = asked(capped);
    impatient.abort(new Error("Too slow."));
    await expect(second).rejects.toThrow("Too slow.");
    await expect(asked(capped, impatient.signal)).rejects.toThrow("Too slow.");
    calls[0]?.end();
    await first;
    await settled();
    calls[1]?.end();
    expect(await third).toBe("done");
    expect(calls).toHaveLength(2);
  });
});
