// A thread as it happens, in words: what the model says as it says it, and a line for everything else.
import type { StreamEvent } from "../abilities/follow.ts";
import type { JsonMap } from "../contracts/json.ts";
import type { Terminal } from "./terminal.ts";

/** Prints events until there are no more. */
export async function followInWords(events: AsyncIterable<StreamEvent>, terminal: Terminal): Promise<void> {
  const speech = createSpeech(terminal);
  for await (const event of events) speech.tell(event);
  speech.end();
}

export interface Speech {
  tell(event: StreamEvent): void;
  /** Ends the line that is being written. */
  end(): void;
}

export function createSpeech(terminal: Terminal): Speech {
  /** What was written of the answer that is being said; the message that comes of it is not said twice. */
  let said = "";

  function end(): void {
    if (said !== "" && !said.endsWith("\n")) terminal.write("\n");
    said = "";
  }

  function tellMessage(message: JsonMap): void {
    const { role, content } = message;
    if (role === "assistant" && typeof content === "string" && said !== "" && content.startsWith(said)) {
      terminal.write(content.slice(said.length));
      said = content;
      end();
      return;
    }
    end();
    terminal.write(`${inOneLine(message, terminal)}\n`);
  }

  return {
    end,
    tell(event) {
      if (event.type === "text.delta") {
        terminal.write(event.text);
        said += event.text;
      } else if (event.type === "message.added") {
        tellMessage(event.message as unknown as JsonMap);
      } else if (event.type === "step.restarted" && said !== "") {
        end();
        terminal.write(`${terminal.style("dim", "… begins again")}\n`);
      } else if (event.type === "request.created") {
        end();
        terminal.write(`${terminal.style("yellow", `waits for ${event.kind} ${event.request_id}`)}\n`);
      }
    },
  };
}

function inOneLine({ type, role, content, payload }: JsonMap, terminal: Terminal): string {
  if (type === "tool_call") {
    const { tool_name, parameters } = payload as JsonMap;
    return terminal.style("dim", `→ ${String(tool_name)} ${JSON.stringify(parameters ?? {})}`);
  }
  if (type === "tool_result") {
    const { tool_name, success, error } = payload as JsonMap;
    return terminal.style("dim", `← ${String(tool_name)} ${success === false ? `failed: ${String(error)}` : "done"}`);
  }
  const text = typeof content === "string" ? content : JSON.stringify(content);
  if (type === "approval_required") return terminal.style("dim", `? ${text}`);
  return role === "assistant" ? text : `${terminal.style("bold", `${String(role)}:`)} ${text}`;
}
