import { expect, it } from "vitest";
import { pluginEnvironment } from "./environment.ts";

it("plugins see where programs and files are, the time zone and the language, and nothing else", () => {
  const visible = {
    ...{ PATH: "/bin", HOME: "/home/x", TZ: "UTC", LANG: "C", LANGUAGE: "en", TMPDIR: "/tmp" },
    ...{ LC_ALL: "C", LC_CTYPE: "C", LC_TIME: "C", LC_PAPER: "a4" },
  };
  const hidden = {
    ...{
      HOLDFAST_SECRET_KEY: "s",
      HOLDFAST_TOKEN: "t",
      OPENAI_API_KEY: "k",
      ANTHROPIC_API_KEY: "k",
      DATABASE_URL: "d",
    },
    ...{ NODE_OPTIONS: "--require x", LD_PRELOAD: "x.so", LC_SECRET: "s", USER: "x", path: "/elsewhere" },
  };
  expect(pluginEnvironment({ ...visible, ...hidden }, [])).toEqual(visible);
});

it("service.plugin_env_passthrough adds variables by name", () => {
  expect(pluginEnvironment({ FABRIC_BIN_PATH: "/opt/fabric", OTHER: "x" }, ["FABRIC_BIN_PATH", "MISSING"])).toEqual({
    FABRIC_BIN_PATH: "/opt/fabric",
  });
});

it("Holdfast's own variables reach no plugin, even when they are named", () => {
  expect(
    pluginEnvironment({ HOLDFAST_SECRET_KEY: "s", holdfast_token: "t" }, ["HOLDFAST_SECRET_KEY", "holdfast_token"]),
  ).toEqual({});
});

it("an inherited property is no variable", () => {
  expect(pluginEnvironment({}, ["constructor", "toString", "__proto__"])).toEqual({});
});
