// The first token: somebody has to hold one before anybody can be given one. It is written to a file that only its owner
// can read; the database keeps its hash.
import { randomUUID } from "node:crypto";
import { constants, copyFile, link, mkdir, open, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { holdfastError } from "../contracts/error.ts";
import type { Holdfast } from "../holdfast.ts";

export type OwnerTokenOptions = {
  /** Where it is written. What stands there is never overwritten. */
  readonly file: string;
  /** The agent that whoever holds it acts as. */
  readonly agent: string;
};

/** The administrator. */
const OWNER = 1;

type Tokens = Pick<Holdfast, "tokens">;

/**
 * When there has never been a token, makes one that may do whatever user 1 may. Answers with the file it is in, and its
 * text for a terminal; undefined when there are tokens. Throws `owner_token_exists` when something stands in its place.
 */
export async function ownerToken(
  holdfast: Tokens,
  { file, agent }: OwnerTokenOptions,
): Promise<{ readonly file: string; readonly token: string } | undefined> {
  if (await holdfast.tokens.exist({ revoked: true })) return undefined;
  const made = await holdfast.tokens.create({ agent, owner_user_id: OWNER, label: "owner" });
  try {
    if (await writeSecret(file, `${made.token}\n`)) return { file, token: made.token };
  } catch (cause) {
    await holdfast.tokens.revoke(made.metadata.token_id, agent);
    throw cause;
  }
  await holdfast.tokens.revoke(made.metadata.token_id, agent);
  // Another process may have begun at the same time, and its token is as good.
  if (await holdfast.tokens.exist()) return undefined;
  throw holdfastError("owner_token_exists", `${file} is there already, and is of another database.`);
}

/** Whole or not at all, for its owner alone. False when something stands there. */
async function writeSecret(file: string, text: string): Promise<boolean> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = join(dirname(file), `.owner-token-${randomUUID()}`);
  const handle = await open(draft, "wx", 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
    await handle.close();
    await putInPlace(draft, file);
    return true;
  } catch (thrown) {
    if (codeOf(thrown) === "EEXIST") return false;
    throw thrown;
  } finally {
    await rm(draft, { force: true });
  }
}

/** A second name for the draft is given at once, and never to a file that has it. Some file systems know no second names. */
async function putInPlace(draft: string, file: string): Promise<void> {
  try {
    await link(draft, file);
  } catch (thrown) {
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].includes(codeOf(thrown) ?? "")) throw thrown;
    await copyFile(draft, file, constants.COPYFILE_EXCL);
  }
}

function codeOf(thrown: unknown): string | undefined {
  return (thrown as NodeJS.ErrnoException | undefined)?.code;
}
