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
});
