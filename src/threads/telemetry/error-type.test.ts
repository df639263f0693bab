import { describe, expect, it } from "vitest";
import { holdfastError } from "../../contracts/error.ts";
import { ModelFailure } from "../../models/model-failure.ts";
import { createKnownSecrets } from "../secrets/known-secrets.ts";
import { errorTypeOf, shownWord } from "./error-type.ts";

const secrets = createKnownSecrets();
secrets.add("hunter2-hunter2");

describe("the kind of an error", () => {
  it.each<[string, unknown, string]>([
    ["the code of one of ours", holdfastError("script_ended", "Nothing is left."), "script_ended"],
    ["the code of a model's", new ModelFailure("model_stalled", "Silence.", { status: 504 }), "model_stalled"],
    ["the provider's code", { code: "rate_limit_exceeded", status: 429 }, "rate_limit_exceeded"],
    ["the status of the answer", { statusCode: 429, message: "Slow down, hunter2." }, "429"],
    ["the name of the kind", new TypeError("undefined is not a function"), "TypeError"],
    ["nothing else of an error", new Error("hunter2"), "_OTHER"],
    ["nothing of what is no error", "hunter2", "_OTHER"],
    ["no code that is a secret", { code: "hunter2-hunter2", status: 401 }, "401"],
    ["no code that is a sentence", { code: "the key hunter2 is wrong" }, "_OTHER"],
  ])("is %s", (_title, thrown, type) => {
    expect(errorTypeOf(thrown, secrets)).toBe(type);
  });

  it("is told of others' words only while they are as short as a name", () => {
    expect(shownWord("a".repeat(128), secrets)).toBe("a".repeat(128));
    expect(shownWord("a".repeat(129), secrets)).toBeUndefined();
    expect(shownWord("openai/gpt-5:free", secrets)).toBe("openai/gpt-5:free");
    expect(shownWord(7, secrets)).toBeUndefined();
  });
});
