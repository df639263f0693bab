// holdfast dev: the project served on this machine, with what to do next, and anew whenever its files change.
import type { ServingMessage } from "../dev/messages.ts";
import { serveAndReload } from "../dev/serve-and-reload.ts";
import { listeningOf, listeningOptions } from "../listening.ts";
import { startServing } from "../running-server.ts";
import type { Terminal } from "../terminal.ts";
import type { Verb } from "../verb.ts";
import { untilEnded } from "./serve.ts";

export const devVerbs: readonly Verb[] = [
  {
    name: "dev",
    summary: "the same, with what to do next, and anew when the project changes; without a project, the tour's",
    options: { ...listeningOptions, "--no-reload": "serve what is there now, whatever changes" },
    async run(work) {
      const { given, project, projectOptions, terminal, signal } = work;
      const listening = listeningOf(given);
      if (given.reload === false) {
        const serving = await startServing(await project(), listening);
        const agents = [...serving.holdfast.agents.keys()];
        welcome(terminal, { url: serving.url, token_file: serving.tokenFile, agents }, { reloads: false });
        return await untilEnded(work, serving);
      }
      await serveAndReload(
        { ...projectOptions, listening },
        { terminal, signal, onFirst: (serving) => welcome(terminal, serving, { reloads: true }) },
      );
    },
  },
];

type Welcomed = Pick<ServingMessage, "url" | "token_file" | "agents">;

function welcome(terminal: Terminal, { url, token_file, agents }: Welcomed, { reloads }: { reloads: boolean }): void {
  const [first = "support"] = agents;
  const bearer = `-H "Authorization: Bearer $(cat ${token_file})"`;
  const json = `-H "Content-Type: application/json"`;
  const bold = (text: string) => terminal.style("bold", text);
  terminal.answer({ url, token_file }, () => [
    `${bold("Holdfast")} listens on ${url}`,
    `Agents: ${agents.join(", ")}`,
    "",
    bold("Talk, in another terminal:"),
    "  npm run holdfast -- chat            (npx holdfast chat where it is installed)",
    "",
    bold("Or with curl:"),
    `  curl -s ${bearer} ${json} ${url}/agents/${first}/chat -d '{"message":"Where is order 7?"}'`,
    `  curl -s ${bearer} ${json} ${url}/agents/${first}/chat -d '{"message":"Please refund order 7, 12 euros."}'`,
    `  curl -s ${bearer} ${url}/approvals`,
    `  curl -s ${bearer} ${url}/threads`,
    "",
    `Everything that can be asked for: ${url}/reference   (${url}/openapi.json)`,
    `The owner's token is in ${token_file}; whoever can read that file is the owner.`,
    "Kill this process whenever you like, with kill -9 too: threads go on when it starts again.",
    ...(reloads ? ["Change the project's files whenever you like: it is served anew, and threads go on."] : []),
  ]);
}
