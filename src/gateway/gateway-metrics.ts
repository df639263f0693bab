// The status of the gateway as the numbers that operators watch.
import type { GatewayMetrics } from "../contracts/gateway/gateway-metrics.ts";
import type { GatewayStatus } from "./gateway.ts";

export function gatewayMetrics(status: GatewayStatus): GatewayMetrics {
  return {
    gateway_jobs: status.jobs,
    gateway_oldest_due_ms: status.oldest_due_ms ?? 0,
    gateway_plugins: status.plugins_loaded,
    gateway_open_circuits: status.plugins_circuit_open,
    gateway_paused: status.is_paused,
  };
}
