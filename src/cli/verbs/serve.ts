// holdfast serve: the runtime with its HTTP door, until somebody ends it.
import { listeningOf, listeningOptions } from "../listening.ts";
import { ENDS, type Serving, startServing } from "../running-server.ts";
import type { Verb, Work } from "../verb.ts";

export const serveVerbs: readonly Verb[] = [
  {
    name: "serve",
    summary: "run threads and answer over HTTP, until SIGTERM or SIGINT",
    options: { ...listeningOptions, "--log": "a line of JSON about every request, on stderr" },
    async run(work) {
      const { given, project, terminal } = work;
      const serving = await startServing(await project(), {
        ...listeningOf(given),
        ...(given.log === true && { log: (line: string) => process.stderr.write(`${line}\n`) }),
      });
      terminal.answer({ url: serving.url, token_file: serving.tokenFile }, ({ url, token_file }) => [
        `Holdfast listens on ${url}`,
        `The owner's token is in ${token_file}`,
      ]);
      await untilEnded(work, serving);
    },
  },
];

export async function untilEnded({ signal, terminal }: Work, serving: Serving): Promise<void> {
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  terminal.note(ENDS);
  await serving.close();
}
