import { PassThrough } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import { createTerminal, table } from "./terminal.ts";

/** A terminal with a person in front of it, whose keys a test presses. */
function terminalOf(interrupt: () => void = () => undefined) {
  const keys = Object.assign(new PassThrough(), { isTTY: true });
  const screen = Object.assign(new PassThrough(), { isTTY: true });
  const terminal = createTerminal({
    ...{ json: false, quiet: false, env: { NO_COLOR: "1" }, interrupt },
    stdin: keys as unknown as NodeJS.ReadStream,
    stdout: screen as unknown as NodeJS.WriteStream,
    stderr: new PassThrough() as unknown as NodeJS.WriteStream,
  });
  onTestFinished(() => terminal.close());
  return { terminal, keys };
}

describe("a terminal", () => {
  it("asks one question after another", async () => {
    const { terminal, keys } = terminalOf();
    keys.write("yes\r");
    expect(await terminal.ask("Agree? ")).toBe("yes");
    keys.write("a teapot\r");
    expect(await terminal.ask("What? ")).toBe("a teapot");
  });

  it("has no answer to a question that comes after the end of the input", async () => {
    const { terminal, keys } = terminalOf();
    const asked = terminal.ask("Agree? ");
    keys.write("\x04");
    expect(await asked).toBeUndefined();
    expect(await terminal.ask("What else? ")).toBeUndefined();
  });

  it("takes Ctrl-C for an interrupt, also while nothing is asked", async () => {
    const interrupted = Promise.withResolvers<void>();
    const { terminal, keys } = terminalOf(interrupted.resolve);
    keys.write("go on\r");
    await terminal.ask("What? ");
    keys.write("\x03");
    await interrupted.promise;
  });
});

describe("a table", () => {
  it("is as wide as what stands in it, however many rows it has", () => {
    const rows = Array.from({ length: 200_000 }, (_, index) => [String(index), "x"]);
    expect(table([["ID", "WHAT"], ...rows]).at(-1)).toBe("199999  x");
  });
});
