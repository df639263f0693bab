import { describe, expect, it } from "vitest";
import { configOf, readText } from "../config-in-test.ts";
import { readGatewayConfig } from "../load-config.ts";

const withSchedules = (...schedules: string[]) =>
  `plugins:\n  echo:\n    schedules:\n${schedules.map((each) => `      - ${each}\n`).join("")}`;

function scheduleOf(settings: string) {
  return configOf(withSchedules(`{${settings}}`)).plugins.get("echo")?.schedules[0];
}

describe("schedules of a plugin", () => {
  it("have the defaults of the reference", () => {
    expect(scheduleOf("every: 5m")).toEqual({
      id: "default",
      when: { every_ms: 300_000, jitter_ms: 0 },
      timezone: null,
      command: "poll",
      payload: {},
      catch_up: "skip",
      if_running: "skip",
      place: { file: "gateway.yaml", line: 4, column: 9 },
    });
  });

  it("set everything", () => {
    const settings =
      "id: nightly, every: 1d, jitter: 10m, command: sync, payload: {a: [1]}, catch_up: run_all, if_running: cancel";
    expect(scheduleOf(settings)).toMatchObject({
      id: "nightly",
      when: { every_ms: 86_400_000, jitter_ms: 600_000 },
      command: "sync",
      payload: { a: [1] },
      catch_up: "run_all",
      if_running: "cancel",
    });
  });

  it.each([
    ["every: hourly", { every_ms: 3_600_000, jitter_ms: 0 }],
    ["every: monthly", { every_ms: 30 * 86_400_000, jitter_ms: 0 }],
    ["every: 2w", { every_ms: 14 * 86_400_000, jitter_ms: 0 }],
    ["every: 5m, cron: null", { every_ms: 300_000, jitter_ms: 0 }],
    ["cron: '0 7 * * MON-FRI'", { cron: "0 7 * * MON-FRI" }],
    ["cron: ' @daily '", { cron: "@daily" }],
    ["cron: '0 0 29 2 *'", { cron: "0 0 29 2 *" }],
    ["cron: '0 0 L * *'", { cron: "0 0 L * *" }],
    ["at: 2020-01-31T12:00:00+02:00", { at: "2020-01-31T10:00:00.000Z" }],
    ["after: 90s", { after_ms: 90_000 }],
  ])("come when they say: %s", (settings, when) => {
    expect(scheduleOf(settings)?.when).toEqual(when);
  });

  it("come from an object too", () => {
    const schedules = [
      { id: "nightly", cron: "0 3 * * *", timezone: "Europe/Berlin", command: "report" },
      { every: "5m", jitter: "30s", if_running: "queue" },
    ];
    const read = readGatewayConfig({ plugins: { echo: { schedules } } }, { env: {}, cwd: "/" });
    expect("config" in read && read.config.plugins.get("echo")?.schedules).toMatchObject([
      { id: "nightly", when: { cron: "0 3 * * *" }, timezone: "Europe/Berlin", command: "report", if_running: "skip" },
      { id: "default", when: { every_ms: 300_000, jitter_ms: 30_000 }, command: "poll", if_running: "queue" },
    ]);
  });

  it("of cron expressions go by a time zone", () => {
    expect(scheduleOf("cron: '0 7 * * *', timezone: Europe/Berlin")?.timezone).toBe("Europe/Berlin");
  });

  const CRON = "takes a cron expression of five fields: minute, hour, day, month and weekday.";
  const NOT_CRON =
    "is not a cron expression: a value is out of its range, or not understood, in its five fields: minute, hour, day, month and weekday.";
  const AT = "takes a date that exists, with time and zone, such as 2027-01-31T12:00:00Z.";

  it.each([
    ["{id: x}", "9: plugins.echo.schedules[0] needs every, cron, at or after."],
    ["{every: 5m, at: x}", "9: plugins.echo.schedules[0] has to have exactly one of every, cron, at or after."],
    ["{every: 10}", "10: plugins.echo.schedules[0].every takes a text; put it in quotes."],
    [
      "{every: often}",
      "10: plugins.echo.schedules[0].every takes a duration such as 30s, 5m or 1d, or hourly, daily, weekly or monthly.",
    ],
    ["{every: 10ms}", "10: plugins.echo.schedules[0].every takes at least 100ms."],
    ["{cron: '* * * *'}", `10: plugins.echo.schedules[0].cron ${CRON}`],
    ["{cron: '* * * * * *'}", `10: plugins.echo.schedules[0].cron ${CRON}`],
    ["{cron: '2027-01-31T12:00:00Z'}", `10: plugins.echo.schedules[0].cron ${CRON}`],
    ["{cron: '@reboot'}", `10: plugins.echo.schedules[0].cron ${NOT_CRON}`],
    ["{cron: '61 * * * *'}", `10: plugins.echo.schedules[0].cron ${NOT_CRON}`],
    ["{cron: '*/0 * * * *'}", `10: plugins.echo.schedules[0].cron ${NOT_CRON}`],
    ["{cron: 'a b c d e'}", `10: plugins.echo.schedules[0].cron ${NOT_CRON}`],
    ["{cron: '0 0 30 2 *'}", "10: plugins.echo.schedules[0].cron names a date that never comes."],
    ["{cron: '0 0 31 4,6,9,11 *'}", "10: plugins.echo.schedules[0].cron names a date that never comes."],
    ["{at: 2027-02-30T00:00:00Z}", `10: plugins.echo.schedules[0].at ${AT}`],
    ["{at: 2027-02-28T00:00:00}", `10: plugins.echo.schedules[0].at ${AT}`],
    ["{after: 0s}", "10: plugins.echo.schedules[0].after has to be longer than 0."],
    ["{every: 5m, command: handle}", "21: plugins.echo.schedules[0].command cannot be handle, which reacts to events."],
    ["{every: 5m, command: a b}", "21: plugins.echo.schedules[0].command is not the name of a command."],
    ["{every: 5m, payload: [1]}", "21: plugins.echo.schedules[0].payload takes a map."],
    ["{every: 5m, if_running: wait}", "21: plugins.echo.schedules[0].if_running takes skip or queue or cancel."],
    ["{every: 5m, catch_up: all}", "21: plugins.echo.schedules[0].catch_up takes skip or run_once or run_all."],
    ["{after: 5m, catch_up: run_once}", "21: plugins.echo.schedules[0].catch_up only goes with every."],
    ["{after: 5m, jitter: 1s}", "21: plugins.echo.schedules[0].jitter only goes with every."],
    ["{every: 5m, id: 'a b'}", "21: plugins.echo.schedules[0].id consists of letters, digits, _, - and ."],
    [
      "{cron: '@daily', timezone: Nowhere/X}",
      "26: plugins.echo.schedules[0].timezone takes the name of a time zone, such as Europe/Berlin or UTC.",
    ],
    [
      "{every: 5m, only_between: 9-17}",
      "21: plugins.echo.schedules[0].only_between is not supported; write a cron expression.",
    ],
    ["{every: 5m, not_on: [sat]}", "21: plugins.echo.schedules[0].not_on is not supported; write a cron expression."],
  ])("refuse %s, and say where", (schedule, problem) => {
    expect(readText(withSchedules(schedule)).problems).toEqual([`gateway.yaml:4:${problem}`]);
  });

  it("have ids of their own", () => {
    expect(readText(withSchedules("{every: 5m}", "{every: 1h, id: default}")).problems).toEqual([
      "gateway.yaml:5:21: plugins.echo.schedules[1].id is already taken by the schedule at gateway.yaml:4:9.",
    ]);
  });

  it("warn of a time zone that changes nothing, and of what is not known", () => {
    expect(readText(withSchedules("{every: 5m, timezone: UTC, evry: 1}")).warnings).toEqual([
      "gateway.yaml:4:21: plugins.echo.schedules[0].timezone only matters with cron.",
      "gateway.yaml:4:36: plugins.echo.schedules[0].evry is not a known setting; did you mean every? It is ignored.",
    ]);
  });
});
