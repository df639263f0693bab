// holdfast serve and holdfast dev: the runtime with its HTTP door, until somebody ends it.
import { whole } from "../read-option.ts";
import { type Serving, startServing } from "../running-server.ts";
import type { Terminal } from "../terminal.ts";
import type { Verb, Work } from "../verb.ts";

const options = {
  "--host <address>": "what to listen on; 127.0.0.1 unless given, where only this machine can come",
  "--port <number>": "PORT, or 8484, unless given; 0 for any that is free",
  "--allow-host <name...>": "names under which the server is reached from elsewhere",
  "--allow-origin <origin...>": "web pages that may call, such as https://app.example",
};

export const serveVerbs: readonly Verb[] = [
  {
    name: "serve",
    summary: "run threads and answer over HTTP, until SIGTERM or SIGINT",
    options: { ...options, "--log": "a line of JSON about every request, on stderr" },
    async run(work) {
      const serving = await start(work);
      work.terminal.answer({ url: serving.url, token_file: serving.tokenFile }, ({ url, token_file }) => [
        `Holdfast listens on ${url}`,
        `The owner's token is in ${token_file}`,
      ]);
      await untilEnded(work, serving);
    },
  },
  {
    name: "dev",
    summary: "the same, with what to do next; without a project of its own, the tour's",
    options,
    async run(work) {
      const serving = await start(work);
      const { url, tokenFile } = serving;
      work.terminal.answer({ url, token_file: tokenFile }, () => welcome(work.terminal, serving));
      await untilEnded(work, serving);
    },
  },
];

async function start({ given, project }: Work): Promise<Serving> {
  const { host, allowHost, allowOrigin } = given;
  const port = whole("--port", given.port);
  return await startServing(await project(), {
    ...(typeof host === "string" && { hostname: host }),
    ...(port !== undefined && { port }),
    ...(Array.isArray(allowHost) && { allowedHosts: allowHost.map(String) }),
    ...(Array.isArray(allowOrigin) && { allowedOrigins: allowOrigin.map(String) }),
    ...(given.log === true && { log: (line: string) => process.stderr.write(`${line}\n`) }),
  });
}

async function untilEnded({ signal, terminal }: Work, serving: Serving): Promise<void> {
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  terminal.note("Ends: what is under way comes to a commit first.");
  await serving.close();
}

function welcome(terminal: Terminal, { url, tokenFile, holdfast }: Serving): readonly string[] {
  const [first = "support"] = holdfast.agents.keys();
  const bearer = `-H "Authorization: Bearer $(cat ${tokenFile})"`;
  const json = `-H "Content-Type: application/json"`;
  const bold = (text: string) => terminal.style("bold", text);
  return [
    `${bold("Holdfast")} listens on ${url}`,
    `Agents: ${[...holdfast.agents.keys()].join(", ")}`,
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
    `The owner's token is in ${tokenFile}; whoever can read that file is the owner.`,
    "Kill this process whenever you like, with kill -9 too: threads go on when it starts again.",
  ];
}
