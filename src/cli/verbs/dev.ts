// holdfast dev: the project served on this machine, with what to do next, and anew whenever its files change.
import { commandHere } from "../command-here.ts";
import { serveAndReload } from "../dev/serve-and-reload.ts";
import { listeningOf, listeningOptions } from "../listening.ts";
import type { Verb } from "../verb.ts";
import { welcome } from "../welcome.ts";
import type { Served } from "../what-is-served.ts";
import { confideToken, untilEnded } from "./serve.ts";

export const devVerbs: readonly Verb[] = [
  {
    name: "dev",
    summary: "the same, with what to do next, and anew when the project changes; without a project, the tour's",
    options: { ...listeningOptions, "--no-reload": "serve what is there now, whatever changes" },
    async run(work) {
      const { given, project, projectOptions, terminal, signal, cwd } = work;
      const listening = listeningOf(given);
      const reloads = given.reload !== false;
      const greet = (served: Served) => {
        const { url, token_file } = served;
        const bold = (text: string) => terminal.style("bold", text);
        const typed = (verb: string) => commandHere(verb, { ...projectOptions, cwd });
        const words = {
          ...{ chat: typed("chat"), start: typed("gateway runs start"), startWorkflow: typed("workflows start") },
        };
        terminal.answer({ url, token_file }, () => welcome(served, { ...words, reloads, bold }));
        confideToken(terminal, served.new_token);
      };
      if (reloads) return await serveAndReload({ ...projectOptions, listening }, { terminal, signal, onFirst: greet });
      const opened = await project();
      const { startServing } = await import("../running-server.ts");
      const { whatIsServed } = await import("../what-is-served.ts");
      const serving = await startServing(opened, listening);
      greet(whatIsServed(serving, opened));
      await untilEnded(work, serving);
    },
  },
];
