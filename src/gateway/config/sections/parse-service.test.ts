// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the environment are written so
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { configOf, readText } from "../config-in-test.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const defaults = {
  name: "gateway",
  tick_interval_ms: MINUTE,
  dedupe_ttl_ms: DAY,
  job_queue_retention_ms: DAY,
  job_log_retention_ms: 30 * DAY,
  event_retention_ms: 7 * DAY,
  max_workers: 1,
  strict_protocol: false,
  exit_code_policy: "strict",
  allow_symlinks: false,
  plugin_env_passthrough: [],
  max_tree_jobs: null,
  hook_max_depth: 4,
  workspace_root: null,
};

describe("the service block", () => {
  it("has the defaults of the reference", () => {
    expect(configOf("").service).toEqual(defaults);
    expect(configOf("service:\napi: {}").service).toEqual(defaults);
    expect(configOf("").api).toEqual({ max_concurrent_sync: 10, max_sync_timeout_ms: 5 * MINUTE });
  });

  it("sets every one of them", () => {
    const { service, api, folder } = configOf(`
service:
  name: home
  tick_interval: 5s
  dedupe_ttl: 1h
  job_queue_retention: 2h30m
  job_log_retention: 1w
  event_retention: 1d
  max_workers: 4
  strict_protocol: true
  exit_code_policy: envelope
  allow_symlinks: true
  plugin_env_passthrough: [HTTP_PROXY, no_proxy]
  max_tree_jobs: 50
  hook_max_depth: 0
  workspace_root: runs
api: {max_concurrent_sync: 2, max_sync_timeout: 90s}
`);
    expect(service).toEqual({
      name: "home",
      tick_interval_ms: 5_000,
      dedupe_ttl_ms: 60 * MINUTE,
      job_queue_retention_ms: 150 * MINUTE,
      job_log_retention_ms: 7 * DAY,
      event_retention_ms: DAY,
      max_workers: 4,
      strict_protocol: true,
      exit_code_policy: "envelope",
      allow_symlinks: true,
      plugin_env_passthrough: ["HTTP_PROXY", "no_proxy"],
      max_tree_jobs: 50,
      hook_max_depth: 0,
      workspace_root: join(folder, "runs"),
    });
    expect(api).toEqual({ max_concurrent_sync: 2, max_sync_timeout_ms: 90_000 });
  });

  it.each([
    ["strict_mode: true", true],
    ["strict_protocol: true", true],
    ["strict_mode: true, strict_protocol: true", true],
    ["strict_mode: false", false],
  ])("takes strict_mode for strict_protocol: %s", (settings, isStrict) => {
    expect(configOf(`service: {${settings}}`).service.strict_protocol).toBe(isStrict);
  });

  it("reads numbers and booleans from variables, which hold text", () => {
    const env = { WORKERS: " 3 ", STRICT: "true", TICK: "2s" };
    const text = "service: {max_workers: '${WORKERS}', strict_mode: '${STRICT}', tick_interval: '${TICK}'}";
    expect(configOf(text, env).service).toMatchObject({
      max_workers: 3,
      strict_protocol: true,
      tick_interval_ms: 2_000,
    });
  });

  it.each([
    ["tick_interval: 60", "3 takes a duration such as 500ms, 30s, 5m, 24h or 7d."],
    ["tick_interval: soon", "3 takes a duration such as 500ms, 30s, 5m, 24h or 7d."],
    ["tick_interval: 0s", "3 has to be longer than 0."],
    ["tick_interval: 60d", "3 takes at most 24d."],
    ["max_workers: 0", "3 takes a whole number from 1 to 1000000."],
    ["max_workers: 1.5", "3 takes a whole number from 1 to 1000000."],
    ['max_workers: "2"', "3 takes a whole number from 1 to 1000000."],
    ["max_workers: [1]", "3 takes a whole number from 1 to 1000000."],
    ["hook_max_depth: -1", "3 takes a whole number from 0 to 1000000."],
    ["exit_code_policy: lenient", "3 takes strict or envelope."],
    ["allow_symlinks: yes", "3 takes true or false."],
    ["name: 5", "3 takes a text; put it in quotes."],
    ["name: ' '", "3 is empty."],
    ["workspace_root: {}", "3 takes a text."],
    ["plugin_env_passthrough: ['A B']", "3 takes a list of names of environment variables."],
    ["dedupe_ttl: 48h", "3 is longer than job_queue_retention (24h unless it is set); set that to at least as much."],
    [
      "job_queue_retention: 1h",
      "3 has to be at least dedupe_ttl, because duplicates are looked up among the jobs that are kept.",
    ],
    ["context_mode: accumulate", "3 accumulate is not supported: claim with baggage what a pipeline carries along."],
    ["context_mode: other", "3 takes explicit or accumulate."],
    ["relay: {to: x}", "3 is not supported."],
  ])("refuses %s, and says where", (setting, problem) => {
    const key = setting.slice(0, setting.indexOf(":"));
    const [column, ...sentence] = problem.split(" ");
    const expected = `gateway.yaml:2:${column}: service.${key} ${sentence.join(" ")}`;
    expect(readText(`service:\n  ${setting}\n`).problems).toEqual([expected]);
  });

  it("refuses strict_mode and strict_protocol that differ", () => {
    expect(readText("service:\n  strict_protocol: true\n  strict_mode: false").problems).toEqual([
      "gateway.yaml:3:3: service.strict_mode means the same as strict_protocol, and both are set differently; leave one out.",
    ]);
  });

  it("never ticks more often than every 100 ms", () => {
    const { config, warnings } = readText("service: {tick_interval: 5ms}");
    expect(config?.service.tick_interval_ms).toBe(100);
    expect(warnings).toEqual(["gateway.yaml:1:11: service.tick_interval is shorter than 100ms, which is taken."]);
  });

  it("accepts what belongs to the host, and says where Holdfast sets it", () => {
    const { warnings } = readText(`
service: {log_level: info}
state: {path: ./data/state.db}
api:
  enabled: true
  listen: 127.0.0.1:8080
  auth: {tokens: [{token: secret, scopes: ["*"]}]}
`);
    expect(warnings).toEqual([
      "gateway.yaml:2:11: service.log_level has no effect: Holdfast writes one log; see holdfast serve --log.",
      "gateway.yaml:3:1: state has no effect: the gateway's state is in Holdfast's database (--data, or createHoldfast({ backend })).",
      "gateway.yaml:5:3: api.enabled has no effect: Holdfast's server answers for the gateway whenever it runs (holdfast serve).",
      "gateway.yaml:6:3: api.listen has no effect: set it with holdfast serve --host and --port.",
      "gateway.yaml:7:3: api.auth has no effect: make tokens with holdfast tokens create.",
    ]);
  });

  it("warns of what it does not know, and names the nearest setting", () => {
    const { warnings } = readText("servce: {}\nservice:\n  maxWorkers: 2\n  colour: red\napi:\n  max_sync_timout: 1m");
    expect(warnings).toEqual([
      "gateway.yaml:1:1: servce is not a known setting; did you mean service? It is ignored.",
      "gateway.yaml:3:3: service.maxWorkers is not a known setting; did you mean max_workers? It is ignored.",
      "gateway.yaml:4:3: service.colour is not a known setting; it is ignored.",
      "gateway.yaml:6:3: api.max_sync_timout is not a known setting; did you mean max_sync_timeout? It is ignored.",
    ]);
  });
});
