// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the environment are written so
import { describe, expect, it } from "vitest";
import { configOf, readText } from "../config-in-test.ts";

describe("the plugins block", () => {
  it("takes the RFC's block verbatim", () => {
    const { config, warnings } = readText(`plugins:
  agentic-loop:
    schedule: null
    timeouts:
      handle: 120s
    config:
      max_steps: 20
      max_reframes: 2
      allowed_plugins: [fetch, fabric, jina-reader]
`);
    expect(warnings).toEqual([]);
    expect([...(config?.plugins ?? [])]).toEqual([
      [
        "agentic-loop",
        {
          name: "agentic-loop",
          uses: null,
          enabled: true,
          agent: true,
          config: { max_steps: 20, max_reframes: 2, allowed_plugins: ["fetch", "fabric", "jina-reader"] },
          parallelism: null,
          timeouts_ms: { handle: 120_000 },
          retry: { max_attempts: null, backoff_base_ms: null },
          notify_on_complete: false,
          token_ref: null,
          max_outstanding_polls: 1,
          circuit_breaker: { threshold: 3, reset_after_ms: 30 * 60_000 },
          schedules: [],
          place: { file: "gateway.yaml", line: 2, column: 3 },
        },
      ],
    ]);
  });

  it("sets everything that a plugin has", () => {
    const text = `
service: {max_workers: 3}
plugins:
  jina-reader:
    uses: fetch
    enabled: false
    config: {url: "\${URL}", nested: [{a: null}]}
    parallelism: 2
    timeouts: {poll: 5s, my-command: 500ms}
    retry: {max_attempts: 2, backoff_base: 1s}
    notify_on_complete: true
    token_ref: env:TOKEN
    max_outstanding_polls: 5
    circuit_breaker: {threshold: 1, reset_after: 10s}
`;
    expect(configOf(text, { URL: "http://localhost", TOKEN: "t" }).plugins.get("jina-reader")).toEqual({
      name: "jina-reader",
      uses: "fetch",
      enabled: false,
      agent: false,
      config: { url: "http://localhost", nested: [{ a: null }] },
      parallelism: 2,
      timeouts_ms: { poll: 5_000, "my-command": 500 },
      retry: { max_attempts: 2, backoff_base_ms: 1_000 },
      notify_on_complete: true,
      token_ref: "TOKEN",
      max_outstanding_polls: 5,
      circuit_breaker: { threshold: 1, reset_after_ms: 10_000 },
      schedules: [],
      place: { file: "gateway.yaml", line: 4, column: 3 },
    });
  });

  it("keeps plugins in the order in which they are written, those without settings too", () => {
    expect([...configOf("plugins:\n  b:\n  a: {}\n  c: null").plugins.keys()]).toEqual(["b", "a", "c"]);
  });

  it("takes a plugin for an agent by its name, by its setting, or because of what it is an alias of", () => {
    const { plugins } = configOf(`plugins:
  agentic-loop: {agent: false}
  critic: {uses: agentic-loop}
  second-critic: {uses: critic}
  own: {agent: true}
  second-own: {uses: own}
  reader: {uses: fetch}
  planner: {uses: agentic-loop, agent: false}
`);
    const agents = [...plugins.values()].filter(({ agent }) => agent).map(({ name }) => name);
    expect(agents).toEqual(["agentic-loop", "critic", "second-critic", "own", "second-own", "planner"]);
  });

  it("runs one job of an agent at a time, whatever is configured", () => {
    const { config, warnings } = readText(
      "service: {max_workers: 8}\nplugins:\n  own:\n    agent: true\n    parallelism: 4",
    );
    expect(config?.plugins.get("own")?.parallelism).toBe(1);
    expect(warnings).toEqual(["gateway.yaml:5:5: plugins.own.parallelism is 1 for a plugin that drives agent runs."]);
  });

  it("never runs more jobs of a plugin at a time than there are workers", () => {
    const { config, warnings } = readText("service: {max_workers: 2}\nplugins:\n  echo:\n    parallelism: 4");
    expect(config?.plugins.get("echo")?.parallelism).toBe(2);
    expect(warnings).toEqual([
      "gateway.yaml:4:5: plugins.echo.parallelism is more than service.max_workers; 2 is taken.",
    ]);
  });

  it.each([
    ["plugins: [echo]", "1:1: plugins takes a map."],
    ["plugins: {echo: 5}", "1:11: plugins.echo takes a map."],
    [
      "plugins:\n  'a b': {}",
      "2:3: plugins.a b cannot be the name of a plugin: letters, digits, _, - and . are, and core.* is reserved.",
    ],
    [
      "plugins:\n  core.switch: {}",
      "2:3: plugins.core.switch cannot be the name of a plugin: letters, digits, _, - and . are, and core.* is reserved.",
    ],
    [
      "plugins:\n  echo:\n    schedule: {every: 5m}",
      "3:5: plugins.echo.schedule is not supported any more; write schedules, a list of schedules.",
    ],
    ["plugins:\n  echo:\n    uses: echo", "3:5: plugins.echo.uses leads back to the plugin itself."],
    ["plugins:\n  echo:\n    parallelism: 0", "3:5: plugins.echo.parallelism takes a whole number from 1 to 1000000."],
    ["plugins:\n  echo:\n    parallelism: -2", "3:5: plugins.echo.parallelism takes a whole number from 1 to 1000000."],
    ["plugins:\n  echo:\n    agent: 1", "3:5: plugins.echo.agent takes true or false."],
    ["plugins:\n  echo:\n    config: [1]", "3:5: plugins.echo.config takes a map."],
    ["plugins:\n  echo:\n    timeouts: 5s", "3:5: plugins.echo.timeouts takes a map."],
    ["plugins:\n  echo:\n    timeouts: {poll: 0s}", "3:16: plugins.echo.timeouts.poll has to be longer than 0."],
    ["plugins:\n  echo:\n    timeouts: {poll: 30d}", "3:16: plugins.echo.timeouts.poll takes at most 24d."],
    ["plugins:\n  echo:\n    timeouts: {1st: 5s}", "3:16: plugins.echo.timeouts.1st is not the name of a command."],
    [
      "plugins:\n  echo:\n    retry: {max_attempts: 0}",
      "3:13: plugins.echo.retry.max_attempts takes a whole number from 1 to 1000.",
    ],
    ["plugins:\n  echo:\n    schedules: {}", "3:5: plugins.echo.schedules takes a list of maps."],
    ["plugins:\n  echo:\n    schedules: [5m]", "3:17: plugins.echo.schedules[0] is not a map."],
  ])("refuses %j, and says where", (text, problem) => {
    expect(readText(text).problems).toEqual([`gateway.yaml:${problem}`]);
  });

  it("refuses aliases that lead in a circle", () => {
    expect(readText("plugins:\n  a: {uses: b}\n  b: {uses: a}\n  c: {uses: a}").problems).toEqual([
      "gateway.yaml:2:7: plugins.a.uses leads back to the plugin itself.",
      "gateway.yaml:3:7: plugins.b.uses leads back to the plugin itself.",
    ]);
  });

  it("warns of unknown settings at every level", () => {
    const text = "plugins:\n  echo:\n    shedules: []\n    retry: {attempts: 3}\n    circuit_breaker: {treshold: 3}";
    expect(readText(text).warnings).toEqual([
      "gateway.yaml:3:5: plugins.echo.shedules is not a known setting; did you mean schedules? It is ignored.",
      "gateway.yaml:4:13: plugins.echo.retry.attempts is not a known setting; did you mean max_attempts? It is ignored.",
      "gateway.yaml:5:23: plugins.echo.circuit_breaker.treshold is not a known setting; did you mean threshold? It is ignored.",
    ]);
  });

  const NOT_A_NAME = "takes the name of an environment variable, as NAME or env:NAME, never the secret itself.";

  it.each([
    ["MISSING", "names the environment variable MISSING, which is not set or empty."],
    ["env:MISSING", "names the environment variable MISSING, which is not set or empty."],
    ["EMPTY", "names the environment variable EMPTY, which is not set or empty."],
    ["s3cretThing", "names an environment variable, which is not set or empty."],
    ["sk-live-1234", NOT_A_NAME],
    ["'env:'", NOT_A_NAME],
    // A variable that is put in is the secret, even if it looks like a name.
    ["${SHOUTED}", NOT_A_NAME],
  ])("shows no value of a token_ref that cannot be used: %s", (ref, problem) => {
    const { problems } = readText(`plugins:\n  own:\n    token_ref: ${ref}`, { EMPTY: " ", SHOUTED: "PASSWORD" });
    expect(problems).toEqual([`gateway.yaml:3:5: plugins.own.token_ref ${problem}`]);
  });
});
