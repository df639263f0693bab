// What an MCP server is told to be let in, and nobody else is ever shown, however it quotes it.
import { createKnownSecrets, type KnownSecrets } from "../secrets/known-secrets.ts";
import { isSecretName } from "../secrets/secret-marks.ts";
import type { McpAddress } from "./mcp-options.ts";

export function serverSecrets(address: McpAddress): KnownSecrets {
  const secrets = createKnownSecrets();
  if (address.kind === "stdio") {
    for (const [name, value] of Object.entries(address.env)) if (isSecretName(name)) secrets.add(value);
    return secrets;
  }
  for (const [name, value] of Object.entries(address.headers)) secrets.addNamed(name, value);
  const { password, searchParams } = address.url;
  if (password !== "") secrets.add(decodeURIComponent(password));
  for (const [name, value] of searchParams) if (isSecretName(name)) secrets.add(value);
  return secrets;
}
