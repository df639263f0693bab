// holdfast serve: the runtime with its HTTP door, until somebody ends it.

import { ENDS } from "../ends.ts";
import { listeningOf, listeningOptions } from "../listening.ts";
import { reloadOnHangup } from "../reload-on-hangup.ts";
import type { Serving } from "../running-server.ts";
import type { Terminal } from "../terminal.ts";
import type { Verb, Work } from "../verb.ts";

export const serveVerbs: readonly Verb[] = [
  {
    name: "serve",
    summary: "run threads and answer over HTTP, until SIGTERM or SIGINT",
    options: { ...listeningOptions, "--log": "a line of JSON about every request, on stderr" },
    async run(work) {
      const { given, project, terminal } = work;
      const { startServing } = await import("../running-server.ts");
      const serving = await startServing(await project(), {
        ...listeningOf(given),
        ...(given.log === true && { log: (line: string) => process.stderr.write(`${line}\n`) }),
      });
      terminal.answer({ url: serving.url, token_file: serving.tokenFile }, ({ url, token_file }) => [
        `Holdfast listens on ${url}`,
        `The owner's token is in ${token_file}`,
      ]);
      confideToken(terminal, serving.newToken);
      await untilEnded(work, serving);
    },
  },
];

/** Once, when it is new: afterwards only the file has it. */
export function confideToken(terminal: Terminal, token: string | undefined): void {
  if (token !== undefined) terminal.confide(`It was made just now and is shown this once: ${token}`);
}

export async function untilEnded({ signal, terminal }: Work, serving: Serving): Promise<void> {
  const stopReloading = reloadOnHangup(serving.holdfast, terminal);
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  stopReloading();
  terminal.note(ENDS);
  await serving.close();
}
