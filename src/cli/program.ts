// The command line as a tree of nouns and verbs, built from the list of verbs.
import { Command, CommanderError } from "commander";
import type { Client } from "./client.ts";
import { dataFolder } from "./data-folder.ts";
import type { ServerDoor } from "./http-client.ts";
import { checkChoice } from "./read-option.ts";
import { exitCodeOf, exitCodes, Refusal, refusalOf } from "./refusal.ts";
import { createTerminal } from "./terminal.ts";
import type { Verb } from "./verb.ts";

/** The streams and the environment of a process; tests bring their own. */
export type Surroundings = Pick<NodeJS.Process, "stdin" | "stdout" | "stderr" | "env"> & {
  readonly cwd: string;
  readonly version: string;
  /** Fires when the person interrupts. */
  readonly signal: AbortSignal;
  /** Interrupts as the person would. */
  interrupt(): void;
};

/** Runs one command line; answers with the exit code. */
export async function runCommandLine(
  argv: readonly string[],
  verbs: readonly Verb[],
  surroundings: Surroundings,
): Promise<number> {
  let exitCode: number = exitCodes.ok;
  const { stdout, stderr } = surroundings;
  // What commander prints about a mistake is for people.
  const json = argv.includes("--json");
  const program = new Command("holdfast")
    .description("Durable agents: threads that survive, tools behind one gate, a record that can be proved.")
    .version(surroundings.version)
    .exitOverride()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => !json && stderr.write(text) })
    .showHelpAfterError("(holdfast --help tells what there is)");

  for (const verb of verbs) {
    addVerb(program, verb, async (given, global) => {
      exitCode = await runVerb(verb, given, global, surroundings);
    });
  }
  try {
    await program.parseAsync([...argv], { from: "user" });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    // What commander throws was printed by it: help and the version are no failure.
    if (thrown.exitCode === 0) return exitCodes.ok;
    if (json) createTerminal({ ...surroundings, json, quiet: false }).refuse(usageOf(thrown));
    return exitCodes.usage;
  }
  return exitCode;
}

function usageOf({ code, message }: CommanderError): Refusal {
  // Only verbs know --json, and a noun alone asks for help.
  const lacksVerb = code === "commander.help" || message.includes("option '--json'");
  const said = lacksVerb ? "A verb is missing." : message.replace(/^error: /, "").replaceAll("\n", " ");
  return new Refusal({ code: "usage", message: said }, "holdfast --help tells what there is.");
}

type Given = Readonly<Record<string, unknown>>;

function addVerb(program: Command, verb: Verb, action: (given: Given, global: Given) => Promise<void>): void {
  const words = verb.name.split(" ");
  const last = words.pop() ?? "";
  const command = words.reduce(nounOf, program).command(last).description(verb.summary);
  for (const [name, what] of Object.entries(verb.takes ?? {})) command.argument(name, what);
  for (const [flags, what] of Object.entries(verb.options ?? {})) command.option(flags, what);
  command
    .option("--json", "print JSON")
    .option("--quiet", "print nothing but the answer")
    .option("--url <url>", "a running server; HOLDFAST_URL unless given")
    .option("--config <file>", "the project; holdfast.config.mts, .ts, .mjs or .js unless given")
    .option("--data <folder>", "where the database is; .holdfast unless given");
  if (verb.examples)
    command.addHelpText("after", ["", "Examples:", ...verb.examples.map((each) => `  ${each}`)].join("\n"));
  command.action(async () => {
    const { json, quiet, url, config, data, ...options } = command.opts();
    await action({ ...argumentsOf(command), ...options }, { json, quiet, url, config, data });
  });
}

function nounOf(parent: Command, noun: string): Command {
  return parent.commands.find((each) => each.name() === noun) ?? parent.command(noun).description(`about ${noun}`);
}

function argumentsOf(command: Command): Given {
  return Object.fromEntries(
    command.registeredArguments.map((argument, index) => [argument.name(), command.processedArgs[index] as unknown]),
  );
}

async function runVerb(verb: Verb, given: Given, global: Given, surroundings: Surroundings): Promise<number> {
  const { env, cwd, signal, version } = surroundings;
  const terminal = createTerminal({ ...surroundings, json: global.json === true, quiet: global.quiet === true });
  let client: Client | undefined;
  try {
    checkChoices(verb, given);
    const projectOptions = textsOf(global, ["config", "data"]);
    const place = { env, cwd, ...projectOptions };
    // Loaded where they are needed, as verbs do with what only they need: help and completion are quick.
    const project = async () => (await import("./project.ts")).openProject(place);
    let found: Promise<ServerDoor | undefined> | undefined;
    const door = async () => {
      const { findDoor } = await import("./connect.ts");
      found ??= findDoor({ env, data: dataFolder(place), ...textsOf(global, ["url"]) });
      return await found;
    };
    await verb.run({
      given,
      terminal,
      signal,
      cwd,
      env,
      version,
      project,
      projectOptions,
      door,
      async client(options = {}) {
        const { connect } = await import("./connect.ts");
        client ??= await connect(await door(), { project, runs: false, ...options });
        return client;
      },
    });
    return exitCodes.ok;
  } catch (thrown) {
    const refusal = signal.aborted ? interrupted : refusalOf(thrown);
    if (refusal !== interrupted) terminal.refuse(refusal);
    return exitCodeOf(refusal);
  } finally {
    terminal.close();
    await client?.close();
  }
}

function checkChoices({ choices = {}, options = {} }: Verb, given: Given): void {
  for (const [name, possible] of Object.entries(choices)) {
    const isOption = Object.keys(options).some((flags) => flags.startsWith(`--${name} `));
    checkChoice(isOption ? `--${name}` : `<${name}>`, given[name], possible);
  }
}

const interrupted = new Refusal({ code: "aborted", message: "Interrupted." });

function textsOf<Name extends string>(given: Given, names: readonly Name[]): { readonly [Key in Name]?: string } {
  return Object.fromEntries(
    names.flatMap((name) => (typeof given[name] === "string" ? [[name, given[name]]] : [])),
  ) as { [Key in Name]?: string };
}
