import { describe, expect, it } from "vitest";
import { bridgeSlug, foldConnector } from "./connector-slug.ts";

describe("the name of a connector", () => {
  it("is folded to small letters and dashes, and keeps all else", () => {
    expect(foldConnector(" Slack_Main ")).toBe("slack-main");
    expect(foldConnector("a b!")).toBe("a b!");
    expect(foldConnector("\u212A")).toBe("\u212A");
    expect(foldConnector(7)).toBe("7");
    expect(foldConnector({})).toBe("");
  });

  it("of a bridge holds nothing but letters, digits and dashes", () => {
    expect(bridgeSlug("  My Relay!! v2 ")).toBe("my-relay-v2");
    expect(bridgeSlug("__a--b__")).toBe("a--b");
    expect(bridgeSlug("\u212Aelvin")).toBe("elvin");
    expect(bridgeSlug("!!")).toBe("");
    expect(bridgeSlug(null)).toBe("");
  });

  it("is found at once, however long it is", () => {
    expect(bridgeSlug(`${"-".repeat(200_000)}a${"-".repeat(200_000)}`)).toBe("a");
  });
});
