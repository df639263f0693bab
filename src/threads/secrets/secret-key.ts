// Finds the secret that sealed values depend on: given, in the environment, or in a file beside the database that is made
// when it is first needed. No sentence here shows the key or any part of it.
import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { trimmed } from "../../contracts/coerce.ts";
import { errorMessage, type HoldfastError, holdfastError } from "../../contracts/error.ts";
import { SECRET_KEY_BYTES } from "./sealing.ts";

const VARIABLE = "HOLDFAST_SECRET_KEY";

export type SecretKeySources = {
  /** The key as a caller passes it: 32 bytes, or those in hexadecimal or base64. */
  readonly given?: Uint8Array | string | undefined;
  /** Where HOLDFAST_SECRET_KEY is looked for; blank counts as not set. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Where a key may be kept. It is made there when nobody gives one, unless `mayMake` is false. */
  readonly keyFile?: string | undefined;
  /** False when there are sealed values already, which a new key would not open. */
  readonly mayMake?: boolean | undefined;
  /** True when nothing outlives this process, so that a key of the moment will do. */
  readonly ephemeral?: boolean | undefined;
};

/**
 * The 32 bytes, from the first source that has them. Throws `invalid_secret_key` for a source that holds something
 * else, `secret_key_exposed` for a file that others may read, and `secret_key_missing` when there is no source.
 */
export function readSecretKey({ given, env, keyFile, mayMake = true, ephemeral }: SecretKeySources): Uint8Array {
  if (given !== undefined) return readKey(given, "The key that was given");
  const variable = trimmed(env?.[VARIABLE]);
  if (variable !== undefined) return readKey(variable, VARIABLE);
  if (keyFile !== undefined) return keyInFile(keyFile, mayMake);
  if (ephemeral) return randomBytes(SECRET_KEY_BYTES);
  throw holdfastError("secret_key_missing", `${VARIABLE} is not set, and there is no place for a key file.`);
}

const HEX = /^[0-9a-f]{64}$/i;
const BASE64 = /^[A-Za-z0-9+/_-]{43}=?$/;

function readKey(given: Uint8Array | string, source: string): Uint8Array {
  if (given instanceof Uint8Array && given.length === SECRET_KEY_BYTES) return Uint8Array.from(given);
  const text = trimmed(given) ?? "";
  if (HEX.test(text)) return Buffer.from(text, "hex");
  // Node reads both alphabets of base64 by this name.
  if (BASE64.test(text)) return Buffer.from(text, "base64");
  throw holdfastError("invalid_secret_key", `${source} is not ${SECRET_KEY_BYTES} bytes in hexadecimal or base64.`);
}

function keyInFile(path: string, mayMake: boolean): Uint8Array {
  try {
    const key = readFile(path) ?? (mayMake ? makeFile(path) : undefined);
    if (key) return key;
    throw holdfastError(
      "secret_key_missing",
      `${VARIABLE} is not set, and the key file ${path} is not there any more.`,
    );
  } catch (thrown) {
    throw codeOf(thrown) === undefined ? thrown : unusable(path, thrown);
  }
}

/** The key in a file; undefined when there is no such file. */
function readFile(path: string): Uint8Array | undefined {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (thrown) {
    if (codeOf(thrown) === "ENOENT") return undefined;
    throw thrown;
  }
  try {
    if (isExposed(fstatSync(file).mode)) {
      throw holdfastError("secret_key_exposed", `The key file ${path} is open to others than its owner.`);
    }
    return readKey(readFileSync(file, "utf8"), `The key file ${path}`);
  } finally {
    closeSync(file);
  }
}

/** Windows has no such rights, and says of every file that it has them all. */
function isExposed(mode: number): boolean {
  return process.platform !== "win32" && (mode & 0o077) !== 0;
}

/** Makes a file with a new key. Where another process was faster, its key is the one that counts. */
function makeFile(path: string): Uint8Array {
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    const file = openSync(draft, "wx", 0o600);
    try {
      writeFileSync(file, `${randomBytes(SECRET_KEY_BYTES).toString("hex")}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    publish(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
  syncFolder(dirname(path));
  const key = readFile(path);
  if (key) return key;
  throw holdfastError("secret_key_missing", `The key file ${path} was removed while it was read.`);
}

const NO_LINKS: ReadonlySet<unknown> = new Set(["EPERM", "ENOSYS", "ENOTSUP", "EOPNOTSUPP", "EMLINK", "EXDEV"]);

/** Gives the finished draft its name unless that is taken, so that nobody ever reads half a key. */
function publish(draft: string, path: string): void {
  try {
    linkSync(draft, path);
  } catch (thrown) {
    if (codeOf(thrown) === "EEXIST") return;
    if (!NO_LINKS.has(codeOf(thrown))) throw thrown;
    copyUnlessThere(draft, path);
  }
}

/** For file systems without links. */
function copyUnlessThere(draft: string, path: string): void {
  try {
    copyFileSync(draft, path, constants.COPYFILE_EXCL);
  } catch (thrown) {
    if (codeOf(thrown) !== "EEXIST") throw thrown;
  }
}

/** A key that is lost with the power would take everything sealed with it along. */
function syncFolder(path: string): void {
  if (process.platform === "win32") return;
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** The code of an error of the file system. */
function codeOf(thrown: unknown): unknown {
  return thrown instanceof Error && "syscall" in thrown && "code" in thrown ? thrown.code : undefined;
}

function unusable(path: string, thrown: unknown): HoldfastError {
  return holdfastError("secret_key_missing", `The key file ${path} cannot be used: ${errorMessage(thrown)}`, thrown);
}
