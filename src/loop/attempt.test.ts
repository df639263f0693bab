import { describe, expect, it } from "vitest";
import { attempt } from "./attempt.ts";

const never = new Promise(() => undefined);

describe("attempt", () => {
  it("tells what a call returned or threw, at once or later", async () => {
    const { signal } = new AbortController();
    for (const given of [undefined, signal]) {
      expect(await attempt(() => 1, given)).toEqual({ returned: 1 });
      expect(await attempt(async () => 2, given)).toEqual({ returned: 2 });
      expect(await attempt(() => Promise.reject("no"), given)).toEqual({ threw: "no" });
      const threw = await attempt(() => {
        throw undefined;
      }, given);
      expect(threw).toEqual({ threw: undefined });
    }
  });

  it("lets go of a call when the signal fires, whatever becomes of it", async () => {
    const controller = new AbortController();
    queueMicrotask(() => controller.abort());
    expect(await attempt(() => never, controller.signal)).toBeUndefined();
  });

  it("does not wait at all for a promise when the signal has fired before", async () => {
    expect(await attempt(() => never, AbortSignal.abort())).toBeUndefined();
  });

  it("keeps what came back at once, even when the signal fired meanwhile", async () => {
    const controller = new AbortController();
    const call = () => {
      controller.abort();
      return "done";
    };
    expect(await attempt(call, controller.signal)).toEqual({ returned: "done" });
  });

  it("takes a complaint after the signal for the abort itself", async () => {
    const rejects = attempt(() => Promise.reject(new Error("aborted")), AbortSignal.abort());
    expect(await rejects).toBeUndefined();
    const throws = attempt(() => expect.fail("aborted"), AbortSignal.abort());
    expect(await throws).toBeUndefined();
  });

  it("reports a promise that breaks when it is listened to", async () => {
    // biome-ignore lint/suspicious/noThenProperty: a promise of somebody else's making
    const broken = { then: () => expect.fail("broken") };
    for (const signal of [undefined, new AbortController().signal]) {
      expect(await attempt(() => broken, signal)).toMatchObject({ threw: { message: "broken" } });
    }
  });

  it("leaves no listener on the signal behind", async () => {
    const { signal } = new AbortController();
    let listening = 0;
    const { addEventListener, removeEventListener } = signal;
    signal.addEventListener = (...given: Parameters<typeof addEventListener>) => {
      listening++;
      addEventListener.apply(signal, given);
    };
    signal.removeEventListener = (...given: Parameters<typeof removeEventListener>) => {
      listening--;
      removeEventListener.apply(signal, given);
    };
    await attempt(async () => 1, signal);
    await attempt(() => Promise.reject(1), signal);
    expect(listening).toBe(0);
  });
});
