import { PassThrough } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import { createTerminal, type TerminalOptions, table } from "./terminal.ts";

type Options = Partial<Pick<TerminalOptions, "json" | "quiet" | "interrupt">> & { readonly isTTY?: boolean };

/** A terminal with a person in front of it, whose keys a test presses; or a pipe. */
function terminalOf({ isTTY = true, ...options }: Options = {}) {
  const stream = () => Object.assign(new PassThrough(), { isTTY });
  const [keys, screen, notes] = [stream(), stream(), stream()];
  const terminal = createTerminal({
    ...{ json: false, quiet: false, env: { NO_COLOR: "1" }, interrupt: () => undefined, ...options },
    stdin: keys as unknown as NodeJS.ReadStream,
    stdout: screen as unknown as NodeJS.WriteStream,
    stderr: notes as unknown as NodeJS.WriteStream,
  });
  onTestFinished(() => terminal.close());
  const shown = (stream: PassThrough) => String(stream.read() ?? "");
  return { terminal, keys, printed: () => shown(screen), noted: () => shown(notes) };
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
    const { terminal, keys } = terminalOf({ interrupt: interrupted.resolve });
    keys.write("go on\r");
    await terminal.ask("What? ");
    keys.write("\x03");
    await interrupted.promise;
  });

  it("shows a secret to the person in front of it, and to nothing that might keep it", () => {
    const told = (options: Options) => {
      const { terminal, printed } = terminalOf(options);
      terminal.confide("hf_secret");
      return printed();
    };
    expect(told({})).toBe("hf_secret\n");
    expect(told({ isTTY: false })).toBe("");
    expect(told({ json: true })).toBe("");
  });

  it("writes how far it is over the line before, which is gone when something else is printed", () => {
    const { terminal, printed, noted } = terminalOf();
    terminal.progress(1, 4, "rows");
    expect(noted()).toBe(`\r\x1b[K[${"█".repeat(6)}${"·".repeat(18)}] 1/4 rows`);
    terminal.progress(4, 4, "rows");
    expect(noted()).toBe(`\r\x1b[K[${"█".repeat(24)}] 4/4 rows`);
    terminal.answer({ rows: 4 }, () => "4 rows.");
    expect([noted(), printed()]).toEqual(["\r\x1b[K", "4 rows.\n"]);
  });

  it("shows every hundredth of long work, and not every step of it", () => {
    const { terminal, noted } = terminalOf();
    const told = Array.from({ length: 10_001 }, (_, done) => {
      terminal.progress(done, 10_000, "rows");
      return noted();
    }).filter((text) => text !== "");
    expect(told).toHaveLength(101);
    expect(told.at(-1)).toContain("10000/10000 rows");
  });

  it.each<Options>([{ isTTY: false }, { json: true }, { quiet: true }])("shows nobody how far it is: %o", (options) => {
    const { terminal, noted } = terminalOf(options);
    terminal.progress(1, 4, "rows");
    expect(noted()).toBe("");
  });
});

describe("a table", () => {
  it("is as wide as what stands in it, however many rows it has", () => {
    const rows = Array.from({ length: 200_000 }, (_, index) => [String(index), "x"]);
    expect(table([["ID", "WHAT"], ...rows]).at(-1)).toBe("199999  x");
  });
});
