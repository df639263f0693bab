import { describe, expect, it } from "vitest";
import { createHostCheck, isLoopback } from "./hosts.ts";

describe("the names that a server answers to", () => {
  const here = createHostCheck({});
  const known = createHostCheck({ hostname: "10.0.0.7", allowedHosts: ["Agents.Example", "fd00::7"] });
  const everywhere = createHostCheck({ hostname: "0.0.0.0" });

  it.each([
    ...[here, known, everywhere].flatMap((check) =>
      ["localhost", "localhost:8484", "127.0.0.1:1", "[::1]:80", "LocalHost"].map((host) => [check, host] as const),
    ),
    ...["10.0.0.7", "agents.example:443", "[fd00::7]"].map((host) => [known, host] as const),
    ...["192.168.1.5:80", "[fe80::1]:80"].map((host) => [everywhere, host] as const),
  ])("are its own (%#: %o %s)", (check, host) => {
    expect(check.refusal(host, undefined)).toBeUndefined();
  });

  it.each([
    ...[undefined, "", "evil.example", "localhost.evil.example", "evil.example:8484", "localhost, evil.example"].map(
      (host) => [here, host] as const,
    ),
    ...["user@localhost", "localhost/..", "localhost:99999999", "[::1", "192.168.1.5"].map(
      (host) => [here, host] as const,
    ),
    ...["evil.example", "192.168.1.5.evil.example", "0x7f000001.evil"].map((host) => [everywhere, host] as const),
  ])("are no others (%#: %o %s)", (check, host) => {
    expect(check.refusal(host, undefined)?.code).toBe("host_not_allowed");
  });
});

describe("the pages that may call a server", () => {
  const check = createHostCheck({ allowedOrigins: ["https://app.example"] });

  it.each(["http://localhost:8484", "https://localhost:8484", "https://app.example", "https://APP.example"])(
    "are its own and those that are listed: %s",
    (origin) => {
      expect(check.refusal("localhost:8484", origin)).toBeUndefined();
    },
  );

  it.each([
    "null",
    "https://evil.example",
    "http://app.example",
    "http://localhost",
    "https://app.example.evil",
    "file://",
  ])("are no others: %s", (origin) => {
    expect(check.refusal("localhost:8484", origin)?.code).toBe("origin_not_allowed");
  });
});

it.each([
  ...["127.0.0.1", "127.1.2.3", "::1", "localhost"].map((name) => [name, true] as const),
  ...["0.0.0.0", "::", "", "10.0.0.1", "127.evil.example", "128.0.0.1", "localhost.evil"].map(
    (name) => [name, false] as const,
  ),
])("%o is reached by this machine alone: %s", (name, is) => {
  expect(isLoopback(name)).toBe(is);
});
