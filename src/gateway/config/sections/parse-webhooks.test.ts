// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the environment are written so
import { describe, expect, it } from "vitest";
import { configOf, readText } from "../config-in-test.ts";

const env = { HOOK_SECRET: "hunter2", EMPTY: "" };
const HOOK = "path: /hook, plugin: echo, secret_ref: HOOK_SECRET, signature_header: X-Signature";

const endpoint = {
  path: "/hook",
  plugin: "echo",
  secret: "hunter2",
  signature_header: "x-signature",
  max_body_bytes: 1_048_576,
  timestamp_header: null,
  tolerance_ms: 300_000,
  dedupe_header: null,
  signed_payload: "body",
};

describe("webhook endpoints", () => {
  it.each([
    ["a list", `webhooks: [{${HOOK}}]`],
    ["a map with a list", `webhooks: {endpoints: [{${HOOK}}]}`],
    [
      "a secret from the environment",
      `webhooks: [{${HOOK.replace("secret_ref: HOOK_SECRET", "secret: '${HOOK_SECRET}'")}}]`,
    ],
    ["a reference with env:", `webhooks: [{${HOOK.replace("HOOK_SECRET", "env:HOOK_SECRET")}}]`],
  ])("are read from %s", (_what, text) => {
    expect(configOf(text, env).webhooks).toMatchObject([endpoint]);
  });

  it("set everything", () => {
    const more =
      "signed_payload: id.timestamp.body, max_body_size: 2MB, timestamp_header: X-Time, tolerance: 30s, dedupe_header: X-Id";
    expect(configOf(`webhooks:\n  - {${HOOK}, ${more}}`, env).webhooks).toEqual([
      {
        ...endpoint,
        max_body_bytes: 2_097_152,
        timestamp_header: "x-time",
        tolerance_ms: 30_000,
        dedupe_header: "x-id",
        signed_payload: "id.timestamp.body",
        place: { file: "gateway.yaml", line: 2, column: 5 },
      },
    ]);
  });

  const without = (key: string) =>
    HOOK.replace(new RegExp(`(, )?${key}: [^,]+(, )?`), (_match, before) => before ?? "");

  it.each([
    ["webhooks: 5", "1:1: webhooks takes a list of endpoints."],
    ["webhooks: {endpoints: {}}", "1:12: webhooks.endpoints takes a list of maps."],
    ["webhooks: [5]", "1:12: webhooks[0] is not a map."],
    [`webhooks: [{${without("path")}}]`, "1:12: webhooks[0] needs path."],
    [`webhooks: [{${without("plugin")}}]`, "1:12: webhooks[0] needs plugin."],
    [`webhooks: [{${without("secret_ref")}}]`, "1:12: webhooks[0] needs secret_ref, or secret."],
    [`webhooks: [{${without("signature_header")}}]`, "1:12: webhooks[0] needs signature_header."],
    [
      `webhooks: [{${HOOK.replace("/hook", "hook")}}]`,
      "1:13: webhooks[0].path takes a path that begins with / and has neither spaces nor ? or #.",
    ],
    [
      `webhooks: [{${HOOK.replace("/hook", "/hook?a=1")}}]`,
      "1:13: webhooks[0].path takes a path that begins with / and has neither spaces nor ? or #.",
    ],
    [`webhooks:\n  - {secret: a, ${HOOK}}`, "2:44: webhooks[0].secret_ref and secret exclude one another."],
    [`webhooks:\n  - {secret: '', ${without("secret_ref")}}`, "2:6: webhooks[0].secret is empty."],
    [
      `webhooks:\n  - {secret_ref: NONE, ${without("secret_ref")}}`,
      "2:6: webhooks[0].secret_ref names the environment variable NONE, which is not set or empty.",
    ],
    [
      `webhooks:\n  - {secret_ref: EMPTY, ${without("secret_ref")}}`,
      "2:6: webhooks[0].secret_ref names the environment variable EMPTY, which is not set or empty.",
    ],
    [
      `webhooks:\n  - {max_body_size: big, ${HOOK}}`,
      "2:6: webhooks[0].max_body_size takes a size such as 512KB or 2MB.",
    ],
    [`webhooks:\n  - {max_body_size: 0, ${HOOK}}`, "2:6: webhooks[0].max_body_size takes a size such as 512KB or 2MB."],
    [`webhooks:\n  - {max_body_size: 11MB, ${HOOK}}`, "2:6: webhooks[0].max_body_size takes at most 10MB."],
    [
      `webhooks:\n  - {tolerance: 5, timestamp_header: a, ${HOOK}}`,
      "2:6: webhooks[0].tolerance takes a duration such as 500ms, 30s, 5m, 24h or 7d.",
    ],
    [`webhooks:\n  - {dedupe_header: "a b", ${HOOK}}`, "2:6: webhooks[0].dedupe_header takes the name of a header."],
    [
      `webhooks:\n  - {signed_payload: header.body, ${HOOK}}`,
      "2:6: webhooks[0].signed_payload takes body or timestamp.body or id.timestamp.body.",
    ],
    [
      `webhooks:\n  - {signed_payload: timestamp.body, dedupe_header: a, ${HOOK}}`,
      "2:6: webhooks[0].signed_payload needs timestamp_header.",
    ],
    [
      `webhooks:\n  - {signed_payload: id.timestamp.body, timestamp_header: a, ${HOOK}}`,
      "2:6: webhooks[0].signed_payload needs dedupe_header.",
    ],
  ])("refuse %s, and say where", (text, problem) => {
    expect(readText(text, env).problems).toEqual([`gateway.yaml:${problem}`]);
  });

  it("have paths of their own", () => {
    expect(readText(`webhooks:\n  - {${HOOK}}\n  - {${HOOK}}`, env).problems).toEqual([
      "gateway.yaml:3:6: webhooks[1].path is already taken by the endpoint at gateway.yaml:2:5.",
    ]);
  });

  it.each(["/hook/", "/%68ook", "/hoo%6B/"])("are the same where %s and /hook are meant", (path) => {
    expect(readText(`webhooks:\n  - {${HOOK}}\n  - {${HOOK.replace("/hook", path)}}`, env).problems).toEqual([
      "gateway.yaml:3:6: webhooks[1].path is already taken by the endpoint at gateway.yaml:2:5.",
    ]);
  });

  it.each([
    ["/hooks/caf%C3%A9", "/hooks/café"],
    ["/hooks/a%2Fb", "/hooks/a%2Fb"],
    ["/hooks/a%2520b", "/hooks/a%2520b"],
    ["/hooks/a/", "/hooks/a/"],
    ["/threadsome", "/threadsome"],
    ["/api/hooks", "/api/hooks"],
    ["/Threads", "/Threads"],
  ])("are kept as requests have them: %s as %s", (written, kept) => {
    expect(configOf(`webhooks:\n  - {${HOOK.replace("/hook", written)}}`, env).webhooks).toMatchObject([
      { path: kept },
    ]);
  });

  const taken = (root: string) => `is at ${root}, where the server answers itself; choose another such as /hooks/name.`;

  it.each([
    ["/", taken("/")],
    ["/threads", taken("/threads")],
    ["/threads/", taken("/threads")],
    ["/threads/x/y/z", taken("/threads")],
    ["/%74hreads", taken("/threads")],
    ["/thread%73/%66iles/", taken("/threads")],
    ["/healthz", taken("/healthz")],
    ["/plugins", taken("/plugins")],
    ["/plugin/echo/handle", taken("/plugin")],
    ["/events", taken("/events")],
    ["/v1/chat/completions", taken("/v1")],
    ["/channels/mail", taken("/channels")],
    ["/hooks/../threads", "has a segment of dots."],
    ["/hooks/%2e%2e/threads", "has a segment of dots."],
    ["/./threads", "has a segment of dots."],
    ["//threads", "has an empty segment."],
    ["/hooks//a", "has an empty segment."],
    ["/hooks//", "has an empty segment."],
    ["/hooks/%ff", "takes a path that begins with / and has neither spaces nor ? or #."],
    ["/hooks/%", "takes a path that begins with / and has neither spaces nor ? or #."],
    ["/hooks/%20", "takes a path that begins with / and has neither spaces nor ? or #."],
    ["/hooks/%5cx", "takes a path that begins with / and has neither spaces nor ? or #."],
  ])("are refused at %s, with line and column", (path, sentence) => {
    expect(readText(`webhooks:\n  - {${HOOK.replace("/hook", path)}}`, env).problems).toEqual([
      `gateway.yaml:2:6: webhooks[0].path ${sentence}`,
    ]);
  });

  it("warn of what changes nothing, and of what is not known", () => {
    const text = `webhooks:\n  listen: ":9000"\n  endpoints:\n    - {tolerance: 5m, signatur_header: x, ${HOOK}}`;
    expect(readText(text, env).warnings).toEqual([
      "gateway.yaml:2:3: webhooks.listen has no effect: Holdfast's server answers webhooks, see holdfast serve --host and --port.",
      "gateway.yaml:4:8: webhooks.endpoints[0].tolerance only matters with timestamp_header.",
      "gateway.yaml:4:23: webhooks.endpoints[0].signatur_header is not a known setting; did you mean signature_header? It is ignored.",
    ]);
  });
});
