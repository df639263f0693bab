import { describe, expect, it } from "vitest";
import { categoriesOf, namesAbilities } from "./categories.ts";

describe("the categories of a tool", () => {
  it("are those it states in any of four fields, each once and trimmed", () => {
    const definition = {
      categories: [" read ", "detail", "", 5],
      ability_categories: "site",
      category: "read",
      ability_category: "content",
    };
    expect(categoriesOf(definition)).toEqual(["read", "content", "detail", "site"]);
  });

  it("include those of the registered abilities it names", () => {
    const registered = new Map([
      ["site/publish", " publishing "],
      ["site/read", "read"],
    ]);
    const tool = { ability: "site/publish", abilities: ["site/read", "site/gone"], category: "read" };
    expect(categoriesOf(tool, (ability) => registered.get(ability))).toEqual(["read", "publishing"]);
    expect(categoriesOf(tool)).toEqual(["read"]);
    expect([namesAbilities(tool), namesAbilities({})]).toEqual([true, false]);
  });

  it("follow an ability that is registered under another category later", () => {
    const tool = { ability: "site/publish" };
    expect(categoriesOf(tool, () => "draft")).toEqual(["draft"]);
    expect(categoriesOf(tool, () => "publishing")).toEqual(["publishing"]);
  });

  it("are none for what is no definition", () => {
    for (const value of [undefined, null, "read", []]) expect(categoriesOf(value, () => "read")).toEqual([]);
  });
});
