import { expect, it } from "vitest";
import * as workspace from "./workspace.ts";

it("trims both parts, lowers the type and writes a number out", () => {
  const scope = workspace.normalize({ workspace_type: " Code_Workspace ", workspace_id: " Team/Repo@Main ", extra: 1 });
  expect(scope).toEqual({ workspace_type: "code_workspace", workspace_id: "Team/Repo@Main" });
  expect(Object.isFrozen(scope)).toBe(true);
  expect(workspace.normalize({ workspace_type: "site", workspace_id: 7 }).workspace_id).toBe("7");
});

it.each([
  [undefined, "workspace_type"],
  [[], "workspace_type"],
  [{ workspace_type: " ", workspace_id: " " }, "workspace_type"],
  [{ workspace_type: "1site", workspace_id: "1" }, "workspace_type"],
  [{ workspace_type: "my site", workspace_id: "1" }, "workspace_type"],
  // The sign for kelvin, which becomes a plain k when it is lowered.
  [{ workspace_type: "\u212Aiosk", workspace_id: "1" }, "workspace_type"],
  [{ workspace_type: "site" }, "workspace_id"],
  [{ workspace_type: "site", workspace_id: ["x"] }, "workspace_id"],
  [{ workspace_type: "site", workspace_id: true }, "workspace_id"],
  [{ workspace_type: "site", workspace_id: Number.NaN }, "workspace_id"],
])("refuses %j and names the first field that is wrong", (value, field) => {
  expect(() => workspace.normalize(value)).toThrow(`invalid_agent_workspace_scope: ${field} `);
});

it("has a key in which only the id may hold colons", () => {
  expect(workspace.key(workspace.normalize({ workspace_type: "network", workspace_id: "a:b" }))).toBe("network:a:b");
});

it("is read where it may be missing, without an error", () => {
  expect(workspace.read({ workspace_type: "site", workspace_id: 7 })).toEqual({
    workspace_type: "site",
    workspace_id: "7",
  });
  expect([undefined, null, "site:1", {}, { workspace_type: "site" }].map(workspace.read)).toEqual(
    Array(5).fill(undefined),
  );
});
