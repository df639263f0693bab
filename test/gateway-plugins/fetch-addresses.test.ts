// Promise: `fetch` connects to public addresses only, however another one is written, unless it is allowed.
import { describe, expect, it } from "vitest";
import { parseAddress, specialRange } from "../../plugins/fetch/addresses.ts";
import { parseAllowedHost } from "../../plugins/fetch/allowed-hosts.ts";
import { serve } from "./local-server.ts";
import { ask, eventPayload, handling } from "./run-plugin.ts";

const special: Readonly<Record<string, readonly string[]>> = {
  unspecified: ["0.0.0.0", "0.255.255.255", "::"],
  loopback: ["127.0.0.1", "127.255.255.254", "::1"],
  private: ["10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1", "fd00:ec2::254"],
  "carrier-grade NAT": ["100.64.0.0", "100.100.100.200", "100.127.255.255"],
  "link-local": ["169.254.169.254", "fe80::1", "febf::1"],
  "protocol assignment": ["192.0.0.1", "192.0.0.192", "192.88.99.1", "2001::1", "2001:2::1"],
  documentation: ["192.0.2.1", "198.51.100.7", "203.0.113.255", "2001:db8::1", "3fff::1"],
  benchmarking: ["198.18.0.1", "198.19.255.255"],
  multicast: ["224.0.0.1", "239.255.255.255", "ff02::1"],
  reserved: ["240.0.0.1", "255.255.255.255", "::127.0.0.1", "64:ff9b:1::7f00:1", "100::1", "4000::1", "5f00::1"],
  "site-local": ["fec0::1"],
  "6to4": ["2002:7f00:1::1", "2002:808:808::1"],
  "cloud metadata": ["168.63.129.16"],
};

/** IPv6 addresses that stand for an IPv4 address. */
const embedding: Readonly<Record<string, readonly string[]>> = {
  loopback: ["::ffff:127.0.0.1", "::ffff:7f00:1", "0:0:0:0:0:ffff:7f00:0001", "64:ff9b::127.0.0.1", "64:ff9b::7f00:1"],
  "link-local": ["::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe"],
  private: ["::ffff:10.0.0.1", "64:ff9b::c0a8:1"],
};

const everyOf = (table: Readonly<Record<string, readonly string[]>>) =>
  Object.entries(table).flatMap(([range, addresses]) => addresses.map((address) => [address, range] as const));

function rangeOf(text: string): string | undefined {
  const address = parseAddress(text);
  if (address === undefined) throw new Error(`${text} is not an address`);
  return specialRange(address);
}

describe("an address that is not public", () => {
  it.each(everyOf(special))("%s is %s", (address, range) => {
    expect(rangeOf(address)).toBe(range);
  });

  it.each(everyOf(embedding))("%s stands for an IPv4 address that is %s", (address, range) => {
    expect(rangeOf(address)).toBe(range);
  });
});

describe("a public address", () => {
  it.each([
    ...["1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255"],
    ...["128.0.0.0", "169.253.255.255", "172.15.255.255", "172.32.0.0", "192.167.255.255", "198.17.255.255"],
    ...["198.20.0.0", "223.255.255.255", "2606:4700::1111", "2a00:1450::1", "2001:200::1", "3ffe::1"],
    ...["::ffff:8.8.8.8", "64:ff9b::808:808"],
  ])("%s may be connected to", (address) => {
    expect(rangeOf(address)).toBeUndefined();
  });
});

describe("a URL with the address of this machine", () => {
  it.each([
    ["as it is", "http://127.0.0.1:PORT/"],
    ["in decimal", "http://2130706433:PORT/"],
    ["in octal", "http://0177.0.0.1:PORT/"],
    ["in octal as a whole", "http://017700000001:PORT/"],
    ["in hexadecimal", "http://0x7f000001:PORT/"],
    ["in hexadecimal parts", "http://0x7f.0x0.0x0.0x1:PORT/"],
    ["in two parts", "http://127.1:PORT/"],
    ["in three parts", "http://127.0.1:PORT/"],
    ["with a dot at its end", "http://127.0.0.1.:PORT/"],
    ["in full-width digits", "http://１２７.０.０.１:PORT/"],
    ["with ideographic dots", "http://127。0。0。1:PORT/"],
    ["percent-encoded", "http://%31%32%37.0.0.1:PORT/"],
    ["of another part of its range", "http://127.9.9.9:PORT/"],
    ["that stands for any", "http://0.0.0.0:PORT/"],
    ["that is zero", "http://0:PORT/"],
    ["in IPv6", "http://[::1]:PORT/"],
    ["in long IPv6", "http://[0:0:0:0:0:0:0:1]:PORT/"],
    ["that stands for any in IPv6", "http://[::]:PORT/"],
    ["mapped into IPv6", "http://[::ffff:127.0.0.1]:PORT/"],
    ["mapped into IPv6 in hexadecimal", "http://[::ffff:7f00:1]:PORT/"],
    ["in deprecated IPv6", "http://[::127.0.0.1]:PORT/"],
    ["behind NAT64", "http://[64:ff9b::7f00:1]:PORT/"],
    ["in 6to4", "http://[2002:7f00:1::]:PORT/"],
    ["by name", "http://localhost:PORT/"],
    ["by name in capitals", "http://LOCALHOST:PORT/"],
    ["by name with a dot at its end", "http://localhost.:PORT/"],
    ["over https", "https://127.0.0.1:PORT/"],
  ])("%s is refused for good, and nothing connects: %s", async (_how, url) => {
    const server = await serve((_request, response) => response.end("secret"));

    const answer = await ask("fetch", handling({ url: url.replace("PORT", String(server.port)) }));

    expect(answer).toMatchObject({ status: "error", retry: false });
    expect(answer.error).toMatch(/^The address of \S+( \(\S+\))? is refused: (loopback|unspecified|reserved|6to4)\./);
    expect(server.hits).toEqual([]);
  });
});

describe("a URL that is not fetched for other reasons", () => {
  it.each([
    ["a file", "file:///etc/passwd", "Only http and https are fetched, not file."],
    ["FTP", "ftp://example.com/", "Only http and https are fetched, not ftp."],
    ["data", "data:text/plain,hello", "Only http and https are fetched, not data."],
    ["Gopher", "gopher://127.0.0.1:70/", "Only http and https are fetched, not gopher."],
    ["a password", "http://user:word@127.0.0.1/", "A URL with a user name or password is not fetched."],
    ["a user", "http://user@127.0.0.1/", "A URL with a user name or password is not fetched."],
    ["a user like a host", "http://example.com@127.0.0.1/", "A URL with a user name or password is not fetched."],
    ["no scheme", "//127.0.0.1/", "The url cannot be parsed."],
    ["no host", "http://", "The url cannot be parsed."],
    ["a number above 255", "http://256.0.0.1/", "The url cannot be parsed."],
    ["an IPv6 scope", "http://[::1%25eth0]/", "The url cannot be parsed."],
    ["an empty text", "", "The payload has no url."],
    ["nothing", undefined, "The payload has no url."],
    ["a list", ["http://127.0.0.1/"], "The payload has no url."],
    ["9,000 characters", `http://example.com/${"a".repeat(9_000)}`, "The url is longer than 8192 characters."],
  ])("it has %s", async (_what, url, error) => {
    expect(await ask("fetch", handling({ url }))).toMatchObject({ status: "error", retry: false, error });
  });
});

describe("allow_hosts", () => {
  it.each([
    ["an address", "127.0.0.1", "127.0.0.1"],
    ["an address and port", "127.0.0.1:PORT", "127.0.0.1"],
    ["a network", "127.0.0.0/8", "127.0.0.1"],
    ["an address, also when it is written in another way", "127.0.0.1", "0x7f.1"],
    ["an address, also when it is mapped into IPv6", "127.0.0.1", "[::ffff:127.0.0.1]"],
  ])("allows %s", async (_what, allowed, host) => {
    const server = await serve((_request, response) => response.end("hello"));
    const port = String(server.port);

    const request = handling({ url: `http://${host}:${port}/` });
    const answer = await ask("fetch", { ...request, config: { allow_hosts: [allowed.replace("PORT", port)] } });

    expect(eventPayload(answer)).toMatchObject({ status_code: 200, content: "hello" });
  });

  it("allows a name for whatever address it has", async () => {
    const server = await serve((request, response) => response.end(request.headers.host), "localhost");
    const url = `http://localhost.:${server.port}/`;

    const answer = await ask("fetch", { ...handling({ url }), config: { allow_hosts: [`localhost:${server.port}`] } });

    expect(eventPayload(answer)).toMatchObject({ content: `localhost:${server.port}` });
  });

  it.each([
    ["another port", "127.0.0.1:1"],
    ["another address", "127.0.0.2"],
    ["another network", "10.0.0.0/8"],
    ["a name with that address", "localhost"],
    ["IPv6", "::1"],
  ])("does not allow 127.0.0.1 when it lists %s", async (_what, allowed) => {
    const server = await serve((_request, response) => response.end("secret"));

    const request = handling({ url: `http://127.0.0.1:${server.port}/` });
    const answer = await ask("fetch", { ...request, config: { allow_hosts: [allowed] } });

    expect(answer).toMatchObject({ status: "error", retry: false });
    expect(server.hits).toEqual([]);
  });

  it.each([
    "*",
    "*.example.com",
    "http://example.com",
    "a/b",
    "10.0.0.0/33",
    "10.0.0/8",
    "host:99999",
    "user@host",
    "",
  ])("refuses an entry that it cannot read: %j", (entry) => {
    expect(() => parseAllowedHost(entry)).toThrow("is not a host, host:port or network");
  });

  it("refuses every fetch while an entry cannot be read", async () => {
    const answer = await ask("fetch", { ...handling({ url: "http://1.1.1.1/" }), config: { allow_hosts: ["*"] } });
    expect(answer).toMatchObject({ status: "error", retry: false });
  });
});
