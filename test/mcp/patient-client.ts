// The official MCP client without its limit of a minute for an answer: a busy machine may take longer.
import { Client, type ClientOptions, type RequestOptions } from "@modelcontextprotocol/client";

/** As long as a timer can be; the limit of the test ends what hangs. */
const timeout = 2 ** 31 - 1;

const patient = (options?: RequestOptions): RequestOptions => ({ timeout, ...options });

class PatientClient extends Client {
  override connect(...[transport, options]: Parameters<Client["connect"]>) {
    return super.connect(transport, { timeout, ...options });
  }

  override listTools(...[params, options]: Parameters<Client["listTools"]>) {
    return super.listTools(params, patient(options));
  }

  override callTool(...[params, options]: Parameters<Client["callTool"]>) {
    return super.callTool(params, patient(options));
  }

  override listResources(...[params, options]: Parameters<Client["listResources"]>) {
    return super.listResources(params, patient(options));
  }

  override readResource(...[params, options]: Parameters<Client["readResource"]>) {
    return super.readResource(params, patient(options));
  }
}

export function patientClient(options: ClientOptions = {}): Client {
  return new PatientClient({ name: "test", version: "1" }, options);
}
