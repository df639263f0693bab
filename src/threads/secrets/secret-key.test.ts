import { execFile } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { readSecretKey } from "./secret-key.ts";

const bytes = Buffer.from(Array.from({ length: 32 }, (_, index) => index * 7));
const hex = bytes.toString("hex");

const folders: string[] = [];
function keyFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-key-"));
  folders.push(folder);
  return join(folder, "holdfast.key");
}
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function written(content: string, mode = 0o600): string {
  const path = keyFile();
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

describe("the secret key", () => {
  it.each([hex, hex.toUpperCase(), bytes.toString("base64"), bytes.toString("base64url"), ` ${hex}\n`])(
    "is read from the environment as hexadecimal or base64",
    (text) => {
      expect(Buffer.from(readSecretKey({ env: { HOLDFAST_SECRET_KEY: text } }))).toEqual(bytes);
    },
  );

  it("is the one that is given before any other, and the environment's before the file's", () => {
    const path = written(`${"00".repeat(32)}\n`);
    const env = { HOLDFAST_SECRET_KEY: hex };
    expect(readSecretKey({ given: new Uint8Array(32).fill(9), env, keyFile: path })[0]).toBe(9);
    expect(Buffer.from(readSecretKey({ env, keyFile: path }))).toEqual(bytes);
    expect(readSecretKey({ env: { HOLDFAST_SECRET_KEY: " " }, keyFile: path })).toEqual(Buffer.alloc(32));
  });

  it.each([
    { given: "short" },
    { given: new Uint8Array(31) },
    { env: { HOLDFAST_SECRET_KEY: `${hex}00` } },
    { env: { HOLDFAST_SECRET_KEY: "correct horse battery staple correct horse" } },
  ])("is refused when it is not 32 bytes, and not shown: %j", (sources) => {
    const refusal = refusalOf(() => readSecretKey(sources));
    expect(refusal.code).toBe("invalid_secret_key");
    for (const secret of ["short", hex, "horse"]) expect(`${refusal.message} ${refusal.hint}`).not.toContain(secret);
  });

  it("is made once, in a file that nobody else may read", () => {
    const path = keyFile();
    const made = readSecretKey({ keyFile: path });
    expect(made).toHaveLength(32);
    expect(readSecretKey({ keyFile: path })).toEqual(made);
    expect(readFileSync(path, "utf8")).toMatch(/^[0-9a-f]{64}\n$/);
    if (process.platform !== "win32") expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(path, ".."))).toEqual(["holdfast.key"]);
  });

  it("is the same for processes that look for it at the same moment", async () => {
    const path = keyFile();
    const module = JSON.stringify(new URL("./secret-key.ts", import.meta.url).href);
    const program = `
      import { createHash } from "node:crypto";
      import { readSecretKey } from ${module};
      console.log(createHash("sha256").update(readSecretKey({ keyFile: ${JSON.stringify(path)} })).digest("hex"));`;
    const run = promisify(execFile);
    const processes = Array.from({ length: 3 }, () =>
      run(process.execPath, ["--input-type=module", "--eval", program], { env: {} }),
    );
    const keys = (await Promise.all(processes)).map(({ stdout }) => stdout);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[0-9a-f]{64}\n$/);
  });

  it.skipIf(process.platform === "win32").each([0o644, 0o640, 0o602])(
    "is refused in a file that is open to others",
    (mode) => {
      const path = written(hex, mode);
      const refusal = refusalOf(() => readSecretKey({ keyFile: path }));
      expect(refusal.code).toBe("secret_key_exposed");
      expect(refusal.message).toContain(path);
      expect(refusal.message).not.toContain(hex);
    },
  );

  it("is refused in a file that holds something else, which is left as it is", () => {
    const path = written("");
    expect(refusalOf(() => readSecretKey({ keyFile: path })).code).toBe("invalid_secret_key");
    expect(readFileSync(path, "utf8")).toBe("");
  });

  it("is missing when there is no place for it", () => {
    const nowhere = join(keyFile(), "missing", "holdfast.key");
    expect(refusalOf(() => readSecretKey({ env: {} })).code).toBe("secret_key_missing");
    expect(refusalOf(() => readSecretKey({ keyFile: nowhere })).code).toBe("secret_key_missing");
    expect(existsSync(nowhere)).toBe(false);
  });

  it("is not made anew where something was sealed with another", () => {
    const path = keyFile();
    expect(refusalOf(() => readSecretKey({ keyFile: path, mayMake: false })).code).toBe("secret_key_missing");
    expect(existsSync(path)).toBe(false);
    const made = readSecretKey({ keyFile: path });
    expect(readSecretKey({ keyFile: path, mayMake: false })).toEqual(made);
  });

  it("is random where nothing outlives the process", () => {
    const [one, two] = [readSecretKey({ ephemeral: true }), readSecretKey({ env: {}, ephemeral: true })];
    expect(one).toHaveLength(32);
    expect(one).not.toEqual(two);
  });
});

function refusalOf(read: () => unknown): { code: string; message: string; hint: string } {
  try {
    read();
  } catch (thrown) {
    return thrown as { code: string; message: string; hint: string };
  }
  throw new Error("It was not refused.");
}
