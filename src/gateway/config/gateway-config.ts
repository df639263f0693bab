// The gateway's configuration after it was read and checked, with every default in place.
import type { SignedPayload } from "../../contracts/gateway/protocol/webhook-signed.ts";
import type { JsonMap } from "../../contracts/json.ts";
import type { LocatedProblem, LocatedValue, Place } from "../../yaml/place.ts";

export type GatewayConfig = {
  readonly service: ServiceSettings;
  readonly api: {
    readonly max_concurrent_sync: number;
    readonly max_sync_timeout_ms: number;
  };
  /** Folders, absolute. */
  readonly plugin_roots: readonly string[];
  /** The one of them that need not be there: the usual one, which is searched where no setting names any. */
  readonly optional_root: string | null;
  /** By name or alias, in the order of the configuration. */
  readonly plugins: ReadonlyMap<string, PluginSettings>;
  readonly webhooks: readonly WebhookEndpoint[];
  /** `pipelines:` lists and `routes:` as they were written, to be parsed by pipelines/. */
  readonly pipelineSources: readonly LocatedValue[];
  readonly routeSources: readonly LocatedValue[];
  /** Where relative paths start: the folder of the main file. */
  readonly folder: string;
  readonly warnings: readonly LocatedProblem[];
};

export type ServiceSettings = {
  readonly name: string;
  readonly tick_interval_ms: number;
  readonly dedupe_ttl_ms: number;
  readonly job_queue_retention_ms: number;
  readonly job_log_retention_ms: number;
  readonly event_retention_ms: number;
  readonly max_workers: number;
  readonly strict_protocol: boolean;
  readonly exit_code_policy: "strict" | "envelope";
  readonly allow_symlinks: boolean;
  readonly plugin_env_passthrough: readonly string[];
  /** Null where it depends on the agents and their pipelines. */
  readonly max_tree_jobs: number | null;
  readonly hook_max_depth: number;
  /** Absolute. */
  readonly workspace_root: string | null;
};

export type PluginSettings = {
  readonly name: string;
  /** Another plugin that this is an alias of. */
  readonly uses: string | null;
  readonly enabled: boolean;
  readonly agent: boolean;
  readonly config: JsonMap;
  readonly parallelism: number | null;
  /** By command. */
  readonly timeouts_ms: Readonly<Record<string, number>>;
  readonly retry: { readonly max_attempts: number | null; readonly backoff_base_ms: number | null };
  readonly notify_on_complete: boolean;
  readonly token_ref: string | null;
  readonly max_outstanding_polls: number;
  readonly circuit_breaker: { readonly threshold: number; readonly reset_after_ms: number };
  readonly schedules: readonly ScheduleSettings[];
  readonly place: Place;
};

export type ScheduleSettings = {
  readonly id: string;
  readonly when:
    | { readonly every_ms: number; readonly jitter_ms: number }
    | { readonly cron: string }
    | { readonly at: string }
    | { readonly after_ms: number };
  readonly timezone: string | null;
  readonly command: string;
  readonly payload: JsonMap;
  readonly catch_up: "skip" | "run_once" | "run_all";
  readonly if_running: "skip" | "queue" | "cancel";
  readonly place: Place;
};

export type WebhookEndpoint = {
  readonly path: string;
  readonly plugin: string;
  readonly secret: string;
  readonly signature_header: string;
  readonly max_body_bytes: number;
  /** A header with a Unix time: older messages than the tolerance are refused. */
  readonly timestamp_header: string | null;
  readonly tolerance_ms: number;
  /** A header with an id: a message with a known id is refused. */
  readonly dedupe_header: string | null;
  /** What the signature covers: headers before the body are those named above. */
  readonly signed_payload: SignedPayload;
  readonly place: Place;
};
