import { describe, expect, it } from "vitest";
import { createMemorySources, type MemorySourceArguments } from "./memory-sources.ts";

const registered = (given: object) => createMemorySources().register("a", given as MemorySourceArguments);
const idsOf = (sources: readonly { id: string }[]) => sources.map(({ id }) => id);

describe("memory sources", () => {
  it("have a default for everything but their id", () => {
    expect(createMemorySources().register("/Workspace/Agents.md")).toEqual({
      id: "workspace/agents.md",
      layer: "workspace",
      priority: 50,
      protected: false,
      editable: true,
      capability: "",
      modes: ["all"],
      retrieval_policy: "always",
      composable: false,
      context_slug: "workspace/agents.md",
      convention_path: "",
      external_projection_target: "",
      label: "Workspace Agents Md",
      description: "",
      meta: {},
    });
    expect(createMemorySources().register(" // ")).toBeNull();
  });

  it.each([
    ["priority", "20.9", 20],
    ["priority", ["x"], 50],
    ["priority", null, 50],
    ["protected", "0", false],
    ["protected", 1, true],
    ["editable", "manage", "manage"],
    ["editable", 0, true],
    ["editable", false, false],
    ["capability", 5, ""],
    ["modes", "chat", ["all"]],
    ["modes", ["Chat", " chat", 4, "", "!!"], ["chat"]],
    ["modes", [], ["all"]],
    ["retrieval_policy", "sometimes", "always"],
    ["context_slug", "My Context", "my-context"],
    ["context_slug", "", ""],
    ["context_slug", " // ", ""],
    ["context_slug", 5, "a"],
    ["convention_path", "//AGENTS.md", "AGENTS.md"],
    ["label", "", ""],
    ["label", 5, "A"],
    ["meta", ["kept"], ["kept"]],
    ["meta", "text", {}],
  ])("read %s %j as %j", (field, given, expected) => {
    expect(registered({ [field]: given })).toMatchObject({ [field]: expected });
  });

  it("cannot be edited when they are composed", () => {
    expect(registered({ composable: 1, editable: "manage" })).toMatchObject({ composable: true, editable: false });
  });

  it("are asked for by layer, mode and policy, in order of priority and id", () => {
    const sources = createMemorySources();
    sources.register("b");
    sources.register("a", { layer: "user", modes: ["chat"] });
    sources.register("z", { priority: 5, layer: "agent", retrieval_policy: "manual" });
    sources.register("m", { priority: 20, composable: true, modes: ["pipeline"] });
    expect(idsOf(sources.all())).toEqual(["z", "m", "a", "b"]);
    expect(idsOf(sources.byLayer("USER"))).toEqual(["a"]);
    expect(idsOf(sources.byLayer("site"))).toEqual(["m", "b"]);
    expect(idsOf(sources.forMode("Chat"))).toEqual(["z", "a", "b"]);
    expect(idsOf(sources.forMode("chat", "bogus"))).toEqual(["a", "b"]);
    expect(idsOf(sources.alwaysInjected(" "))).toEqual(["m", "a", "b"]);
    expect(idsOf(sources.composable())).toEqual(["m"]);
    expect(sources.get(" Z ")?.priority).toBe(5);
    expect(sources.unregister("Z")).toBe(true);
    expect(sources.unregister("Z")).toBe(false);
    expect(sources.get("z")).toBeNull();
  });

  it("replace one with the same id", () => {
    const sources = createMemorySources();
    sources.register("a", { priority: 1 });
    sources.register("A", { priority: 2 });
    expect(sources.all().map(({ priority }) => priority)).toEqual([2]);
  });

  it("ask the host once for more before they are first read, and again after a reset", () => {
    const told: string[][] = [];
    const sources = createMemorySources({
      onFirstRead(registry, present) {
        told.push(idsOf(present));
        registry.register("late");
        // Whoever reads meanwhile reads what there is.
        told.push(idsOf(registry.all()));
        throw new Error("no harm");
      },
    });
    sources.register("early");
    expect(told).toEqual([]);
    expect(idsOf(sources.all())).toEqual(["early", "late"]);
    expect(sources.get("late")).not.toBeNull();
    sources.reset();
    expect(idsOf(sources.all())).toEqual(["late"]);
    expect(told).toEqual([["early"], ["early", "late"], [], ["late"]]);
  });
});
