// Whether a memory still holds: a host's check against the present state of things, and what it may answer.
import type { UnknownMap } from "../json.ts";
import type { MemoryMetadata } from "./memory-metadata.ts";
import type { MemoryScope } from "./memory-scope.ts";

export type ValidationStatus = "valid" | "stale" | "unsupported" | "error";

/** Only `valid` is valid: what could not be checked is not believed. */
export type ValidationResult = {
  readonly valid: boolean;
  readonly status: ValidationStatus;
  readonly message: string | null;
  readonly confidence: number | null;
};

export interface MemoryValidator {
  /** What a memory's `validator` field says when this one is to check it. */
  readonly id: string;
  validate(
    scope: MemoryScope,
    content: string,
    metadata: MemoryMetadata,
    workspaceContext: UnknownMap,
  ): ValidationResult | Promise<ValidationResult>;
}

/** It still holds. */
export function valid(confidence: number | null = null, message: string | null = null): ValidationResult {
  return Object.freeze({ valid: true, status: "valid", message, confidence });
}

/** It held once. */
export function stale(message: string | null = null, confidence: number | null = null): ValidationResult {
  return Object.freeze({ valid: false, status: "stale", message, confidence });
}

/** This validator cannot tell. */
export function unsupported(message: string | null = null): ValidationResult {
  return Object.freeze({ valid: false, status: "unsupported", message, confidence: null });
}

/** The check itself went wrong. */
export function error(message: string): ValidationResult {
  return Object.freeze({ valid: false, status: "error", message, confidence: null });
}
