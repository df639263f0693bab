// Promise: `fetch` resolves a name once for a connection and connects to the address that it checked. The resolver is
// an argument of the plugin's inner function; neither the request nor the environment of the process reaches it.
import { describe, expect, it } from "vitest";
import { parseAllowedHost } from "../../plugins/fetch/allowed-hosts.ts";
import { fetchPage } from "../../plugins/fetch/fetch-page.ts";
import { readOptions } from "../../plugins/fetch/options.ts";
import { readPageRequest } from "../../plugins/fetch/page-request.ts";
import type { ResolveName } from "../../plugins/fetch/resolve-name.ts";
import { serve } from "./local-server.ts";

/** Gives one answer after the other; counts how often it was asked. */
function answeringInTurn(...answers: readonly (readonly string[])[]) {
  const names: string[] = [];
  const resolve: ResolveName = async (name) => {
    names.push(name);
    return answers[names.length - 1] ?? [];
  };
  return { names, resolve };
}

async function fetching(url: string, resolve: ResolveName, allowHosts: readonly string[] = ["127.0.0.1"]) {
  const options = { ...readOptions({}), allowHosts: allowHosts.map(parseAllowedHost) };
  return await fetchPage(readPageRequest({ url }, options), options, { resolve, signal: new AbortController().signal });
}

describe("a name that changes its address between two answers", () => {
  it("is resolved once, and the connection goes to the first answer", async () => {
    const server = await serve((request, response) =>
      response.end(`${request.socket.localAddress} ${request.headers.host}`),
    );
    const { names, resolve } = answeringInTurn(["127.0.0.1"], ["127.0.0.2"]);

    const page = await fetching(`http://rebinding.test:${server.port}/`, resolve);

    expect(page.body.toString()).toBe(`127.0.0.1 rebinding.test:${server.port}`);
    expect(names).toEqual(["rebinding.test"]);
  });

  it("is checked again when a redirect leads to it", async () => {
    const server = await serve((_request, response) => response.writeHead(302, { location: "/second" }).end());
    const { names, resolve } = answeringInTurn(["127.0.0.1"], ["169.254.169.254"]);

    await expect(fetching(`http://rebinding.test:${server.port}/first`, resolve)).rejects.toMatchObject({
      message: expect.stringContaining("The address of rebinding.test (169.254.169.254) is refused: link-local."),
      retry: false,
    });

    expect(names).toEqual(["rebinding.test", "rebinding.test"]);
    expect(server.hits).toEqual(["/first"]);
  });
});

describe("a name with several addresses", () => {
  it.each([
    [["8.8.8.8", "10.0.0.1"], "private"],
    [["10.0.0.1", "8.8.8.8"], "private"],
    [["2606:4700::1111", "::1"], "loopback"],
    [["8.8.8.8", "::ffff:192.168.0.1"], "private"],
    [["8.8.8.8", "fe80::1%eth0"], "link-local"],
  ])("is refused when one of them is not public: %j", async (addresses, range) => {
    const { resolve } = answeringInTurn(addresses);
    await expect(fetching("http://mixed.test/", resolve, [])).rejects.toMatchObject({
      message: expect.stringContaining(`is refused: ${range}.`),
      retry: false,
    });
  });

  it("is reached at the one that answers", async () => {
    const server = await serve((_request, response) => response.end("here"));
    // Nothing listens on the IPv6 address.
    const { resolve } = answeringInTurn(["::1", "127.0.0.1"]);
    const page = await fetching(`http://two.test:${server.port}/`, resolve, ["127.0.0.1", "::1"]);
    expect(page.body.toString()).toBe("here");
  });
});

describe("a name without an address", () => {
  it("is refused for good", async () => {
    const { resolve } = answeringInTurn([]);
    await expect(fetching("http://empty.test/", resolve)).rejects.toMatchObject({ retry: false });
  });

  it("that is never answered is given up when the time is over", async () => {
    const controller = new AbortController();
    const options = readOptions({});
    const resolve: ResolveName = () => {
      controller.abort(new Error("time is over"));
      return new Promise(() => {});
    };
    const request = readPageRequest({ url: "http://silent.test/" }, options);
    await expect(fetchPage(request, options, { resolve, signal: controller.signal })).rejects.toMatchObject({
      retry: true,
    });
  });
});
