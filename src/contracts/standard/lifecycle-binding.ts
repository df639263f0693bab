// A tool whose success means something for a session, and what its call says to whoever waits for the session.
import { trimmed } from "../coerce.ts";
import { isMap, type Json, type JsonMap } from "../json.ts";

/** A tool, and which of its arguments hold the message and the files. */
export type Binding = {
  readonly name: string;
  readonly messageProperty?: string;
  readonly attachmentsProperty?: string;
};

/** A binding from a tool's name or a map; undefined for what is none. */
export function readBinding(given: unknown): Binding | undefined {
  if (!isMap(given)) {
    const name = trimmed(given);
    return name === undefined ? undefined : Object.freeze({ name });
  }
  const { name, messageProperty, attachmentsProperty, ...unknown } = given;
  const properties = [messageProperty, attachmentsProperty];
  const areNames = properties.every((property) => property === undefined || trimmed(property) !== undefined);
  const known = trimmed(name);
  if (known === undefined || !areNames || Object.keys(unknown).length > 0) return undefined;
  return Object.freeze({
    name: known,
    ...(messageProperty !== undefined && { messageProperty: String(messageProperty) }),
    ...(attachmentsProperty !== undefined && { attachmentsProperty: String(attachmentsProperty) }),
  });
}

export type Payload = {
  readonly text: string;
  /** Paths as the call gives them, each of which has to be there; null when the call says nothing of files. */
  readonly attachments: readonly string[] | null;
};

/** What a call of the bound tool says: its arguments where the binding names some, and what the tool came to otherwise. */
export function payloadOf(binding: Binding, args: JsonMap, resultText: string): Payload {
  const { messageProperty, attachmentsProperty } = binding;
  const message = messageProperty === undefined ? undefined : argumentOf(args, messageProperty);
  const files = attachmentsProperty === undefined ? undefined : argumentOf(args, attachmentsProperty);
  const said = message === undefined ? undefined : trimmed(asText(message));
  return { text: said ?? resultText, attachments: files === undefined ? null : pathsOf(files) };
}

/** Undefined also for null: an argument that may be left out is often given as null. */
function argumentOf(args: JsonMap, name: string): Json | undefined {
  return Object.hasOwn(args, name) ? (args[name] ?? undefined) : undefined;
}

function asText(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** What is no path stays in the list as text: no file has it for a path, and so it is complained of by its words. */
function pathsOf(given: Json): readonly string[] {
  const list: readonly Json[] = Array.isArray(given) ? given : [given as Json];
  return list.map((each) => (isMap(each) && typeof each.path === "string" ? each.path : asText(each)));
}
