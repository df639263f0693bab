// Who somebody is, what they may do, and who decided it.
import * as accessGrant from "../../src/contracts/trust/access-grant.ts";
import * as callerContext from "../../src/contracts/trust/caller-context.ts";
import * as capabilityCeiling from "../../src/contracts/trust/capability-ceiling.ts";
import * as consent from "../../src/contracts/trust/consent.ts";
import { conversationOwner } from "../../src/contracts/trust/conversation-owner.ts";
import * as pendingAction from "../../src/contracts/trust/pending-action.ts";
import * as principal from "../../src/contracts/trust/principal.ts";
import { safeMetadata } from "../../src/contracts/trust/safe-principal.ts";
import * as token from "../../src/contracts/trust/token.ts";
import {
  askAuthorization,
  askCeiling,
  askDecision,
  askStatus,
  callPendingActionAbility,
  runApprovalMemory,
  runPendingActions,
} from "../scripts/approvals.ts";
import { runSafeWorkspace } from "../scripts/safe-workspace.ts";
import {
  askAccess,
  askAccessAbility,
  askAutonomy,
  askCurrentPrincipal,
  askExpiry,
  knowsAuthSource,
  listAccessible,
  listPrincipals,
  makePrincipal,
  readHeaders,
  readOwner,
  runAuthenticator,
} from "../scripts/trust.ts";
import type { Given } from "./given.ts";

export const trustOperations = {
  "safeWorkspace.sequence": runSafeWorkspace,
  "pendingAction.fromArray": (given: Given<"action">) => pendingAction.fromArray(given.action),
  "pendingAction.approvalEnvelope": (given: Given<"action" | "instruction" | "grants" | "metadata">) =>
    pendingAction.approvalEnvelope(pendingAction.fromArray(given.action), given),
  "pendingAction.status": askStatus,
  "pendingAction.lifecycle": runPendingActions,
  "pendingActionAbility.call": callPendingActionAbility,
  "approvalDecision.fromString": askDecision,
  "approvalMemory.null": runApprovalMemory,
  "ceiling.fromArray": (given: Given<"ceiling">) => capabilityCeiling.fromArray(given.ceiling),
  "ceiling.intersect": askCeiling,
  "authorization.can": askAuthorization,
  "principal.fromArray": (given: Given<"principal">) => principal.fromArray(given.principal),
  "principal.safeMetadata": (given: Given<"principal">) => safeMetadata(principal.fromArray(given.principal)),
  "principal.conversationOwner": (given: Given<"principal">) => conversationOwner(principal.fromArray(given.principal)),
  "principal.factory": makePrincipal,
  "principal.resolve": (given: Given<"resolver">) => principal.resolve(given.resolver),
  "principal.knownAuthSource": knowsAuthSource,
  "conversationOwner.fromInput": readOwner,
  "callerContext.fromHeaders": readHeaders,
  "callerContext.fromArray": (given: Given<"context">) => callerContext.fromArray(given.context),
  "callerContext.toHeaders": (given: Given<"context">) =>
    callerContext.toHeaders(callerContext.fromArray(given.context)),
  "accessGrant.fromArray": (given: Given<"grant">) => accessGrant.fromArray(given.grant),
  "accessGrant.roleMeets": (given: Given<"role" | "minimum_role">) =>
    accessGrant.roleMeets(given.role, given.minimum_role),
  "token.hash": (given: Given<"raw_token">) => token.hash(given.raw_token),
  "token.fromArray": (given: Given<"token">) => token.toMetadata(token.fromArray(given.token)),
  "token.isExpired": askExpiry,
  "token.capabilityCeiling": (given: Given<"token">) => token.capabilityCeilingOf(token.fromArray(given.token)),
  "authenticator.sequence": runAuthenticator,
  "autonomousPolicy.resolveCeiling": askAutonomy,
  "authorization.canAccessAgent": askAccess,
  "access.currentPrincipal": askCurrentPrincipal,
  "access.principalsFor": listPrincipals,
  "accessAbility.canAccess": askAccessAbility,
  "accessAbility.listAgents": listAccessible,
  "consent.decide": (given: Given<"operation" | "context">) => consent.decide(given.operation, given.context),
  "consent.decision": consent.decision,
  "consent.operationNormalize": (given: Given<"value" | "fallback">) =>
    consent.normalizeOperation(given.value, given.fallback),
};
