import { describe, expect, it } from "vitest";
import { matchEndpoint, readMethod, readPath, routeOfFile, shapeOf } from "./endpoint-route.ts";

describe("a route", () => {
  it.each([
    ["status.ts", "GET", "status"],
    ["index.ts", "GET", ""],
    ["index.post.ts", "POST", ""],
    ["report/index.DELETE.mjs", "DELETE", "report"],
    ["report/[id].Put.js", "PUT", "report/[id]"],
    ["files/[*].ts", "GET", "files/[*]"],
    ["post.ts", "GET", "post"],
    ["feed.xml.ts", "GET", "feed.xml"],
  ])("is said by a file's name: %s", (file, method, path) => {
    expect(routeOfFile(file)).toEqual({ path, method });
  });

  it.each(["[*]/after.ts", "[].ts", "[a b].ts", "a[b].ts", "[id]/[id].ts"])(
    "is not said by such a name: %s",
    (file) => {
      expect(routeOfFile(file)).toBeUndefined();
    },
  );

  it("is kept without slashes around it, and cannot lead out", () => {
    expect(readPath("/report/[id]/")).toBe("report/[id]");
    expect(readPath("a/../b")).toBeUndefined();
    expect(readPath("a?b")).toBeUndefined();
    expect(readPath(7)).toBeUndefined();
  });

  it("has one of the methods of HTTP", () => {
    expect(readMethod("patch")).toBe("PATCH");
    expect(readMethod("fetch")).toBeUndefined();
  });

  it("is like another whatever they call what they capture", () => {
    expect(shapeOf({ method: "GET", path: "a/[x]" })).toBe(shapeOf({ method: "GET", path: "a/[y]" }));
    expect(shapeOf({ method: "GET", path: "a/[x]" })).not.toBe(shapeOf({ method: "PUT", path: "a/[x]" }));
  });
});

describe("which endpoint is meant", () => {
  const paths = ["files/[*]", "files/[name]", "files/list", "[kind]/list", "", "[*]"];
  const endpoints = [
    ...paths.map((path) => ({ path, method: "GET" })),
    { path: "files/[id]", method: "POST" },
    { path: "pair/[left]/[right]", method: "GET" },
  ];

  it.each<[method: string, asked: string, path: string, params: object]>([
    ["GET", "files/list", "files/list", {}],
    ["GET", "/files/a.txt/", "files/[name]", { name: "a.txt" }],
    ["GET", "files/a/b", "files/[*]", { "*": "a/b" }],
    ["GET", "files", "files/[*]", { "*": "" }],
    ["GET", "users/list", "[kind]/list", { kind: "users" }],
    ["GET", "", "", {}],
    ["GET", "else/where", "[*]", { "*": "else/where" }],
    ["get", "files/a%20b", "files/[name]", { name: "a b" }],
    ["POST", "files/list", "files/[id]", { id: "list" }],
    ["GET", "pair/1/2", "pair/[left]/[right]", { left: "1", right: "2" }],
  ])("is the most exact one: %s %s", (method, asked, path, params) => {
    for (const order of [endpoints, endpoints.toReversed()]) {
      expect(matchEndpoint(order, method, asked)).toMatchObject({ endpoint: { path }, params });
    }
  });

  it.each([
    ["POST", "files"],
    ["DELETE", "files/list"],
    ["NONSENSE", "files"],
    ["GET", "files/%E0%A4%A"],
  ])("is none: %s %s", (method, asked) => {
    expect(matchEndpoint(endpoints, method, asked)).toBeUndefined();
  });
});
