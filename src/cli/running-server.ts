// A server of this process: the runtime, its HTTP door, and the file beside the database that tells others where it is.
import { randomUUID } from "node:crypto";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, relative } from "node:path";
import { createHoldfast, type Holdfast } from "../holdfast.ts";
import { ownerToken } from "../server/owner-token.ts";
import { type RunningServer, type ServeOptions, serve } from "../server/serve.ts";
import { randomText } from "../server/server-proof.ts";
import type { OpenedProject } from "./project.ts";

export type Serving = {
  readonly url: string;
  readonly holdfast: Holdfast;
  /** The file with the owner's token. */
  readonly tokenFile: string;
  /** Its text, when it was made just now: for a person to see, and for nobody to log. */
  readonly newToken: string | undefined;
  close(): Promise<void>;
};

export async function startServing(project: OpenedProject, options: ServeOptions): Promise<Serving> {
  const { data } = project;
  const holdfast = await createHoldfast({ ...project.options(), drainsOnSignal: false });
  let server: RunningServer | undefined;
  const end = async () => {
    await server?.close();
    await holdfast.close();
  };
  try {
    const made = await ownerToken(holdfast, { file: data.ownerToken, agent: "holdfast" });
    const proofKey = randomText();
    server = await serve(holdfast, { ...project.project.server, ...options, proofKey });
    await writeSecret(data.server, { url: server.url, pid: process.pid, proof_key: proofKey });
    return {
      url: server.url,
      holdfast,
      tokenFile: relative(process.cwd(), data.ownerToken),
      newToken: made?.token,
      async close() {
        await rm(data.server, { force: true });
        await end();
      },
    };
  } catch (thrown) {
    await end();
    throw thrown;
  }
}

/** Whole, and for its owner alone, whatever stood there before. */
async function writeSecret(file: string, told: object): Promise<void> {
  // The database may be elsewhere.
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}-${randomUUID()}`;
  try {
    await writeFile(draft, `${JSON.stringify(told)}\n`, { mode: 0o600, flag: "wx" });
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}
