// A server of this process: the runtime, its HTTP door, and the file beside the database that tells others where it is.
import { rm, writeFile } from "node:fs/promises";
import { relative } from "node:path";
import { createHoldfast, type Holdfast } from "../holdfast.ts";
import { ownerToken } from "../server/owner-token.ts";
import { type ServeOptions, serve } from "../server/serve.ts";
import type { OpenedProject } from "./project.ts";

export type Serving = {
  readonly url: string;
  readonly holdfast: Holdfast;
  /** The file with the owner's token. */
  readonly tokenFile: string;
  close(): Promise<void>;
};

export async function startServing(project: OpenedProject, options: ServeOptions): Promise<Serving> {
  const { data } = project;
  const holdfast = await createHoldfast({ ...project.options(), drainsOnSignal: false });
  try {
    await ownerToken(holdfast, { file: data.ownerToken, agent: "holdfast" });
    const server = await serve(holdfast, { ...project.project.server, ...options });
    await writeFile(data.server, `${JSON.stringify({ url: server.url, pid: process.pid })}\n`, { mode: 0o600 });
    return {
      url: server.url,
      holdfast,
      tokenFile: relative(process.cwd(), data.ownerToken),
      async close() {
        await rm(data.server, { force: true });
        await server.close();
        await holdfast.close();
      },
    };
  } catch (thrown) {
    await holdfast.close();
    throw thrown;
  }
}
