import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { pluginRoot, shell, writeScript } from "../../../test/plugin-folders.ts";
import { whyNoProgram } from "./program-file.ts";

const whyNot = (content: string | Uint8Array) => whyNoProgram(writeScript(join(pluginRoot(), "run"), content));

describe("a script", () => {
  it.each([
    shell("echo"),
    "#!/usr/bin/env node\n",
    "#! /bin/sh -e\n",
    "#!\t/bin/sh\n",
    "#!/bin/sh", // and no more
    `#!/bin/sh ${"x".repeat(300)}\n`,
    `#!/bin/sh\n${"\0".repeat(300)}`,
  ])("with an interpreter that is a program is one: %j", (text) => {
    expect(whyNot(text)).toBeUndefined();
  });

  it("with an interpreter that is such a script is one where scripts may be interpreters", () => {
    const interpreter = writeScript(join(pluginRoot(), "interpreter"), shell("echo"));
    expect(whyNot(`#!${interpreter}\n`) === undefined).toBe(process.platform === "linux");
  });

  it.each([
    "#!",
    "#!\n",
    "#! \t \n/bin/sh\n",
    "#!\0/bin/sh\n",
    "#!sh\n",
    "#!./sh\n",
    `#!${" ".repeat(300)}/bin/sh\n`,
    `#!/bin/${"./".repeat(150)}sh\n`,
  ])("whose #! line names no interpreter by its path is none: %j", (text) => {
    expect(whyNot(text)).toContain("names no interpreter");
  });

  it.each([
    ["a text without a #! line", "echo no interpreter\n"],
    ["a script without an interpreter", "#!\necho no interpreter\n"],
    ["no program", "\x7fELF\0\necho no program\n"],
    ["empty", ""],
  ])("with an interpreter that is %s is none", (_what, content) => {
    const interpreter = writeScript(join(pluginRoot(), "interpreter"), content);
    expect(whyNot(`#!${interpreter}\n`)).toContain(`its interpreter ${interpreter} `);
  });

  it("with an interpreter that is missing or a folder is none", () => {
    expect(whyNot("#!/nonexistent/interpreter\n")).toContain("ENOENT");
    expect(whyNot("#!/\n")).toContain("its interpreter / is not a file");
  });

  it("that is its own interpreter is none", () => {
    const file = join(pluginRoot(), "run");
    writeScript(file, `#!${file}\n`);
    expect(whyNoProgram(file)).toContain("its interpreter");
  });
});

describe("a text without a #! line", () => {
  it.each(["", "echo\n", "MZ\0\0", " #!/bin/sh\n", "\ufeff#!/bin/sh\n", `${"\0".repeat(512)}\necho\n`])(
    "is no program: %j",
    (text) => {
      expect(whyNot(text)).toContain("begins with no #! line");
    },
  );
});

describe.runIf(process.platform === "linux")("a binary", () => {
  const header = readFileSync("/bin/sh").subarray(0, 4096);
  const is64 = header[4] === 2;

  /** The beginning of a program with some bytes changed. */
  function changed(bytes: Readonly<Record<number, number>>): Buffer {
    const content = Buffer.from(header);
    for (const [at, byte] of Object.entries(bytes)) content[Number(at)] = byte;
    return content;
  }

  it("of this machine is a program", () => {
    expect(whyNoProgram(process.execPath)).toBeUndefined();
    expect(whyNoProgram("/bin/sh")).toBeUndefined();
    expect(whyNot(changed({}))).toBeUndefined();
  });

  it.each([
    ["of which there is the first line alone", Buffer.from("\x7fELF\0\necho no program\n")],
    ["that ends within its header", header.subarray(0, 40)],
    ["that ends within its table", header.subarray(0, 80)],
    ["of the other class", changed({ 4: is64 ? 1 : 2 })],
    ["of the other byte order", changed({ 5: header[5] === 1 ? 2 : 1 })],
    ["of an unknown version", changed({ 6: 9 })],
    ["for another processor", changed({ 18: 0x5a, 19: 0x5a })],
    ["that is an object file", changed({ 16: 1, 17: 0 })],
    ["with nothing to load", changed(is64 ? { 56: 0, 57: 0 } : { 44: 0, 45: 0 })],
    ["with a table elsewhere", changed(is64 ? { 39: 0x70 } : { 31: 0x70 })],
  ])("%s is no program", (_what, content) => {
    expect(whyNot(content)).toContain("no program of this machine");
  });
});
