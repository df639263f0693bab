import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  renameSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { pluginRoot, shell, writePlugin, writeScript } from "../../../test/plugin-folders.ts";
import { checkTrust, type EntryPoint, type EntryPointPlace, recheckTrust } from "./trust.ts";

/** A plugin whose entry point is `bin/run`. */
function plugin(): EntryPointPlace & { readonly file: string } {
  const root = pluginRoot();
  const folder = writePlugin(root, "echo");
  const file = writeScript(join(folder, "bin/run"), shell("echo"));
  return { root, folder, entrypoint: "bin/run", allowSymlinks: false, file };
}

const problem = (place: EntryPointPlace) => {
  const result = checkTrust(place);
  return "problem" in result ? result.problem : undefined;
};

function trusted(place: EntryPointPlace): EntryPoint {
  const result = checkTrust(place);
  if ("problem" in result) throw new Error(result.problem);
  return result.entry;
}

describe("an entry point", () => {
  it("inside its plugin's folder, executable and protected is trusted", () => {
    const place = plugin();
    expect(trusted(place)).toMatchObject({ startProblem: undefined, fingerprint: { sha256: expect.any(String) } });
  });

  it("outside the plugin's folder is refused", () => {
    const place = plugin();
    writeScript(join(place.root, "outside"), shell("echo"));
    expect(problem({ ...place, entrypoint: "../outside" })).toContain("outside the plugin's folder");
  });

  it("in a folder outside the plugin root is refused", () => {
    expect(problem({ ...plugin(), root: pluginRoot() })).toContain("outside its plugin root");
  });

  it("that is missing, a folder or not executable is refused", () => {
    const place = plugin();
    expect(problem({ ...place, entrypoint: "missing" })).toContain("cannot be used");
    expect(problem({ ...place, entrypoint: "bin" })).toContain("not a file");
    expect(problem({ ...place, entrypoint: "." })).toContain("outside the plugin's folder");
    chmodSync(place.file, 0o644);
    expect(problem(place)).toContain("not executable");
  });

  it.each(["bin/run", "bin", "."])("is refused when every user can write to %s", (path) => {
    const place = plugin();
    chmodSync(join(place.folder, path), 0o777);
    expect(problem(place)).toContain("can be written by every user");
  });

  it("that is no program is known as such", () => {
    const place = plugin();
    writeScript(place.file, "echo no interpreter\n");
    expect(trusted(place).startProblem).toContain("begins with no #! line");
  });
});

describe("a symbolic link", () => {
  it("as the entry point is refused, and accepted where links are allowed", () => {
    const place = { ...plugin(), entrypoint: "link" };
    symlinkSync("bin/run", join(place.folder, "link"));
    expect(problem(place)).toContain("symbolic link");
    expect(trusted({ ...place, allowSymlinks: true }).file).toBe(trusted({ ...place, entrypoint: "bin/run" }).file);
  });

  it("out of the plugin's folder is refused even where links are allowed", () => {
    const place = { ...plugin(), entrypoint: "link", allowSymlinks: true };
    symlinkSync(writeScript(join(place.root, "outside"), shell("echo")), join(place.folder, "link"));
    expect(problem(place)).toContain("outside the plugin's folder");
  });

  it("on the way to the entry point is refused", () => {
    const place = { ...plugin(), entrypoint: "other/run" };
    symlinkSync("bin", join(place.folder, "other"));
    expect(problem(place)).toContain("symbolic link");
  });

  it("as the plugin's folder must stay inside the root", () => {
    const place = plugin();
    const elsewhere = plugin();
    symlinkSync(elsewhere.folder, join(place.root, "linked"));
    const linked = { ...place, folder: join(place.root, "linked"), allowSymlinks: true };
    expect(problem(linked)).toContain("outside its plugin root");
    symlinkSync(place.folder, join(place.root, "inside"));
    expect(problem({ ...place, folder: join(place.root, "inside") })).toContain("symbolic link");
    expect(problem({ ...linked, folder: join(place.root, "inside") })).toBeUndefined();
  });

  it("as the plugin root is the operator's choice", () => {
    const place = plugin();
    const root = join(pluginRoot(), "root");
    symlinkSync(place.root, root);
    expect(problem({ ...place, root, folder: join(root, "echo") })).toBeUndefined();
  });
});

describe("an entry point after its discovery", () => {
  const changed = (place: EntryPointPlace, known: EntryPoint) => {
    const result = recheckTrust(place, known);
    return "problem" in result ? result.problem : undefined;
  };

  it("is trusted as long as its content is the same, also in a new file", () => {
    const place = plugin();
    const known = trusted(place);
    expect(changed(place, known)).toBeUndefined();
    utimesSync(place.file, 0, 0);
    expect(changed(place, known)).toBeUndefined();
    writeScript(place.file, shell("echo"));
    expect(changed(place, known)).toBeUndefined();
  });

  it("is refused when it was swapped, even for one of the same size and time", () => {
    const place = plugin();
    utimesSync(place.file, 1000, 1000);
    const known = trusted(place);
    const other = writeScript(join(place.root, "other"), shell("evil"));
    utimesSync(other, 1000, 1000);
    renameSync(other, place.file);
    expect(changed(place, known)).toContain("has changed since the plugin was discovered");
  });

  it("is refused when its folder was opened to all users, or it became a link", () => {
    const place = plugin();
    const known = trusted(place);
    chmodSync(place.folder, 0o777);
    expect(changed(place, known)).toContain("can be written by every user");
    chmodSync(place.folder, 0o755);
    renameSync(place.file, join(place.folder, "moved"));
    symlinkSync("../moved", place.file);
    expect(changed(place, known)).toContain("symbolic link");
  });

  it("too large to hash before every start is compared by the file itself", () => {
    const place = plugin();
    truncateSync(place.file, 2 * 1024 * 1024);
    const known = trusted(place);
    expect(known.fingerprint).toMatchObject({ size: 2n * 1024n * 1024n });
    expect(changed(place, known)).toBeUndefined();
    appendFileSync(place.file, "x");
    expect(changed(place, known)).toContain("has changed");
    truncateSync(place.file, 10);
    expect(changed(place, known)).toContain("has changed");
  });
});

it("names that begin alike are different folders", () => {
  const root = pluginRoot();
  writePlugin(root, "echo");
  mkdirSync(join(root, "echo-evil"));
  writeFileSync(join(root, "echo-evil/run"), "", { mode: 0o755 });
  const place = { root, folder: join(root, "echo"), entrypoint: "../echo-evil/run", allowSymlinks: true };
  expect(problem(place)).toContain("outside the plugin's folder");
});
