// Where webhooks may be: at no place of the server's own, at the start as at a reload, and whatever a request is written like.
import { describe, expect, it } from "vitest";
import type { JsonMap } from "../../src/contracts/json.ts";
import { serverPaths } from "../../src/gateway/config/sections/webhook-path.ts";
import { createApp } from "../../src/server/app.ts";
import { shell } from "../plugin-folders.ts";
import { serveGateway } from "./served-gateway.ts";
import { send, WEBHOOK_SECRET } from "./signed.ts";

const OK = { script: shell(`echo '{"status":"ok","result":"good"}'`) };
const endpoint = (path: string): JsonMap => ({
  ...{ path, plugin: "tell", secret: WEBHOOK_SECRET, signature_header: "X-Sig" },
});
const withPaths = (...paths: string[]) => ({ webhooks: paths.map(endpoint) });

describe("the places of the server", () => {
  it("are all known to the configuration, and no others", async () => {
    const served = await serveGateway();
    const routes = createApp(served.holdfast)
      .routes.map(({ path }) => path.replace(/\/[^/]*[:*].*$/, ""))
      .filter((path) => path !== "" && path !== "/");
    const covers = (root: string, path: string) => path === root || path.startsWith(`${root}/`);
    expect(routes.filter((path) => !serverPaths.some((root) => covers(root, path)))).toEqual([]);
    expect(serverPaths.filter((root) => !routes.some((path) => covers(root, path)))).toEqual([]);
  });
});

describe("a webhook at a place of the server", () => {
  it.each(["/", "/threads", "/plugins", "/healthz", "/events", "/%65vents", "/plugin/tell/handle", "/jobs/"])(
    "keeps the gateway from starting: %s",
    async (path) => {
      const started = serveGateway({ plugins: { tell: OK }, config: withPaths(path) });
      await expect(started).rejects.toMatchObject({ code: "gateway_config_invalid" });
    },
  );

  it("is refused at a reload with its line and column, and what was there stays", async () => {
    const served = await serveGateway({ plugins: { tell: OK }, config: withPaths("/hooks/a"), asFile: true });
    const owner = await served.token();
    for (const path of ["/events", "/threads/x", "/%74hreads"]) {
      served.write(withPaths("/hooks/a", path));
      const refused = await served.ask(owner, "/system/reload", { json: {} });
      expect(refused, path).toMatchObject({ status: 409, body: { code: "gateway_config_invalid" } });
      expect(refused.body.error, path).toMatch(/gateway\.yaml:1:\d+: webhooks\[1\]\.path is at \//);
    }
    served.write(withPaths("/hooks/a", "/hooks/a/"));
    expect((await served.ask(owner, "/system/reload", { json: {} })).body.error).toMatch(
      /gateway\.yaml:1:\d+: webhooks\[1\]\.path is already taken by the endpoint at .*gateway\.yaml:1:\d+\./,
    );
    expect((await send(served, "/hooks/a", "{}")).status).toBe(202);
    expect((await served.ask(owner, "/events", { json: { type: "x.y" } })).status).toBe(202);
  });
});

describe("a request to a webhook", () => {
  it("finds it however its characters are encoded, and no other place", async () => {
    const config = withPaths("/hooks/café", "/hooks/a%2Fb", "/hooks/c%C3%A4");
    const served = await serveGateway({ plugins: { tell: OK }, config });
    for (const path of ["/hooks/caf%C3%A9", "/%68ooks/caf%c3%a9", "/hooks/a%2Fb", "/hooks/c%C3%A4"]) {
      expect((await send(served, path, JSON.stringify({ path }))).status, path).toBe(202);
    }
    for (const path of ["/hooks/a/b", "/hooks/cafe", "/hooks/caf%C3%A9/", "/hooks/caf%25C3%25A9", "/hooks//a%2Fb"]) {
      expect((await send(served, path, JSON.stringify({ path }))).status, path).toBe(401);
    }
  });
});
