import { describe, expect, it } from "vitest";
import * as packageRun from "./package-run.ts";

const workflow = { id: "daily" };

describe("a request to run a package", () => {
  it("names the package by its source, its slug, or the id where there is no slug", () => {
    const missing = { code: "agents_runtime_package_run_missing_package" };
    expect(packageRun.request({ package: { slug: " ", id: "p" }, workflow })).toMatchObject(missing);
    expect(packageRun.request({ package: { slug: " ", source: "p.json" }, workflow })).toMatchObject({ workflow });
    expect(packageRun.request({ package: { slug: null, id: 5 }, workflow })).toMatchObject({ package: { id: 5 } });
    expect(packageRun.request({ package: "p", workflow })).toMatchObject(missing);
    expect(packageRun.request(undefined)).toMatchObject(missing);
  });

  it("names the workflow by its id or brings one along", () => {
    const missing = { code: "agents_runtime_package_run_missing_workflow" };
    const packaged = { slug: "p" };
    expect(packageRun.request({ package: packaged, workflow: { id: "\t" } })).toMatchObject(missing);
    expect(packageRun.request({ package: packaged, workflow: [{ id: "daily" }] })).toMatchObject(missing);
    expect(packageRun.request({ package: packaged, workflow: { spec: { steps: [] } } })).toMatchObject({ input: {} });
    for (const spec of [{}, [{ id: "a" }], "steps", 1, true, null]) {
      expect(packageRun.request({ package: packaged, workflow: { spec } })).toMatchObject(missing);
    }
  });
});

describe("what came of a package run", () => {
  it("reads a status only in its exact spelling", () => {
    expect(packageRun.result({ status: " failed " }).status).toBe("failed");
    expect(packageRun.result({ status: "Failed" }).status).toBe("succeeded");
    expect(packageRun.result({ status: "completed" }).status).toBe("succeeded");
  });

  it("keeps references as they are; the shared envelope cleans them", () => {
    const value = { artifact_refs: [{ id: " a ", url: "" }, {}, ["x"], "y"], result: { pages: 3 } };
    expect(packageRun.result(value).artifact_refs).toEqual([{ id: " a ", url: "" }, {}]);
    expect(packageRun.resultEnvelope(value)).toMatchObject({
      status: "succeeded",
      outputs: { pages: 3 },
      artifact_refs: [{ id: "a" }],
    });
  });
});
