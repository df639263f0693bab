// What is shown of the configuration: all of it but the secrets in it, whatever they look like and wherever they stand.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are what is read here
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { eventPayload, plugin } from "../gateway/gateway-world.ts";
import { serveGateway } from "./served-gateway.ts";

describe("GET /config/view", () => {
  it("redacts the whole value below a sensitive key, and the password of a URL", async () => {
    vi.stubEnv("SHOP_DSN", "postgres://anna:hunter2-of-anna@db.example/shop?ssl=1");
    onTestFinished(() => void vi.unstubAllEnvs());
    const shop = plugin("shop", (request) => String(eventPayload(request).text));
    const token = plugin("token-store");
    const served = await serveGateway({
      config: {
        plugins: {
          shop: {
            config: {
              password: 1_234_567,
              db_tokens: ["abc12"],
              credentials: { user: "anna", flags: [true, { pin: 42 }] },
              secret: null,
              dsn: "${SHOP_DSN}",
              mirrors: ["redis://:p%40ss@one.example", "http://one.example:80/a@b", "https://two.example/?q=a:b@c"],
              port: 5_432,
            },
            schedules: [{ every: "1h", payload: { api_key: 99, url: "amqp://u:xy@queue.example" } }],
          },
          "token-store": {},
        },
      },
      setup: { plugins: [shop, token] },
    });
    const owner = await served.token();
    const { body } = await served.ask(owner, "/config/view");
    expect(body.config.plugins.shop).toMatchObject({
      config: {
        password: "[redacted]",
        db_tokens: "[redacted]",
        credentials: "[redacted]",
        secret: null,
        dsn: "postgres://anna:[redacted]@db.example/shop?ssl=1",
        mirrors: ["redis://:[redacted]@one.example", "http://one.example:80/a@b", "https://two.example/?q=a:b@c"],
        port: 5_432,
      },
      schedules: [{ payload: { api_key: "[redacted]", url: "amqp://u:[redacted]@queue.example" } }],
    });
    // The names of plugins are no keys of settings.
    expect(body.config.plugins["token-store"]).toMatchObject({ enabled: true });

    // What was a part of a URL there is a secret wherever it is shown.
    const { id } = await served.run("shop", { text: "My password is hunter2-of-anna." });
    expect((await served.ask(owner, `/job/${id}`)).body.result).toBe("My password is [redacted].");
  });

  it("shows pipelines and routes as they were compiled, without the secrets in them", async () => {
    vi.stubEnv("SHOP_PIN", "pin-of-the-shop");
    onTestFinished(() => void vi.unstubAllEnvs());
    const shop = plugin("shop", (request) => JSON.stringify(request.event?.payload));
    const served = await serveGateway({
      config: {
        pipelines: [
          {
            ...{ name: "orders", on: "order.received", from_plugin: "shop", execution_mode: "synchronous" },
            steps: [
              {
                ...{ id: "book", uses: "shop", timeout: "5s", retry: { max_attempts: 2 } },
                if: { path: "payload.pin", op: "eq", value: "${SHOP_PIN}" },
                baggage: { order: "payload.order" },
                with: {
                  password: "${SHOP_PIN}",
                  token: "{payload.order}",
                  url: "http://u:pass-of-url@h",
                  text: "{payload.order}",
                },
              },
              { call: "audit" },
            ],
          },
          { name: "audit", on: "audit.asked", steps: [{ id: "write", uses: "shop" }] },
        ],
        routes: [{ from: "shop", event_type: "shop.done", to: "shop" }],
      },
      setup: { plugins: [shop] },
    });
    const owner = await served.token();
    const { body, text } = await served.ask(owner, "/config/view");
    const none = { baggage: [], on_error: "none" };
    expect(body.config.pipelines).toEqual([
      {
        ...{ name: "orders", on: "order.received", from_plugin: "shop", execution_mode: "synchronous" },
        ...{ timeout_ms: 30_000, max_depth: expect.any(Number), entries: ["book.if"] },
        steps: [
          {
            ...{ id: "book.if", uses: "core.switch", guards: "shop", ...none },
            next: [
              { to: "book", when: "true" },
              { to: "step_2.write", when: "false" },
            ],
          },
          {
            ...{ id: "book", uses: "shop", timeout_ms: 5_000, retry: { max_attempts: 2 }, on_error: "none" },
            baggage: [{ path: "order", from: "payload.order" }],
            with: {
              ...{ password: "[redacted]", token: "[redacted]", url: "http://u:[redacted]@h", text: "{payload.order}" },
            },
            next: [{ to: "step_2.write" }],
          },
          { id: "step_2.write", uses: "shop", ...none, next: [] },
        ],
      },
      {
        ...{ name: "audit", on: "audit.asked", execution_mode: "async", timeout_ms: 30_000, max_depth: 1 },
        ...{ entries: ["write"], steps: [{ id: "write", uses: "shop", ...none, next: [] }] },
      },
      {
        ...{ name: "route shop shop.done shop", on: "shop.done", from_plugin: "shop", execution_mode: "async" },
        ...{ timeout_ms: 30_000, max_depth: 1, entries: ["step_1"] },
        steps: [{ id: "step_1", uses: "shop", ...none, next: [] }],
      },
    ]);
    expect(text).not.toContain("pin-of-the-shop");

    // What stands there is a secret wherever it is shown; a template is none.
    const said = await served.run("shop", { a: "pin-of-the-shop", b: "pass-of-url", c: "{payload.order}" });
    expect(JSON.parse(said.result ?? "")).toMatchObject({ a: "[redacted]", b: "[redacted]", c: "{payload.order}" });
  });
});
