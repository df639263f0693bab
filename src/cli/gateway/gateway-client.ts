// How verbs reach the gateway: the server that runs it, or, where none does, the gateway of this folder in this very process,
// which then reads and queues but runs nothing.
import type { Client } from "../client.ts";
import { commandHere } from "../command-here.ts";
import { gatewayHere } from "../gateway-of-project.ts";
import { Refusal } from "../refusal.ts";
import type { Work } from "../verb.ts";

/** Throws where it would be another gateway than the one that `gateway run` runs in this folder. */
export async function gatewayClient({ client, door, project, cwd }: Work): Promise<Client> {
  if (await door()) return await client();
  const gateway = gatewayHere(await project(), cwd);
  if (gateway) return await client({ gateway });
  throw new Refusal(
    { code: "gateway_not_configured", message: "No server runs here, and this folder has no gateway." },
    "Start the server, name the project with --config, or write a gateway.yaml.",
  );
}

/** For what is done by a server or not at all. */
export async function requireServer({ door }: Work, message: string, hint: string): Promise<void> {
  if (!(await door())) throw new Refusal({ code: "server_unreachable", message }, hint);
}

/** Said of what was stored and is not under way. */
export async function noteWaiting({ door, terminal, cwd, projectOptions }: Work): Promise<void> {
  if (await door()) return;
  const serve = commandHere("serve", { ...projectOptions, cwd });
  terminal.note(`No server runs here, so nothing comes of it until one does: ${serve}`);
}
