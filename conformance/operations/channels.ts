// Messages from elsewhere, the sessions they go on in, and who is known under which name.
import * as identity from "../../src/contracts/agents/identity.ts";
import * as bridgeClient from "../../src/contracts/channels/bridge-client.ts";
import * as bridgeItem from "../../src/contracts/channels/bridge-item.ts";
import * as externalMessage from "../../src/contracts/channels/external-message.ts";
import * as sessionMap from "../../src/contracts/channels/session-map.ts";
import * as webhookSignature from "../../src/contracts/channels/webhook-signature.ts";
import * as session from "../../src/contracts/sessions/session.ts";
import * as workspace from "../../src/contracts/workspace.ts";
import { handleInbound, receiveInbound } from "../scripts/channel-pipeline.ts";
import { runBridge, runIdempotency, runSessionMap } from "../scripts/channels.ts";
import {
  normalizeScope,
  runConversationStore,
  runIdentityStore,
  runNullLock,
  runSessionAbilities,
} from "../scripts/sessions.ts";
import type { Given } from "./given.ts";

export const channelOperations = {
  "externalMessage.normalize": ({ message }: Given<"message">) => externalMessage.normalize(message),
  "externalMessage.clientContext": ({ message, source }: Given<"message" | "source">) =>
    externalMessage.clientContext(message, source),
  "sessionMap.storageKey": sessionMap.storageKey,
  "sessionMap.sequence": runSessionMap,
  "webhookSignature.verify": ({ body, header, secret, options }: Given<"body" | "header" | "secret" | "options">) =>
    webhookSignature.verify(body, header, secret, options),
  "idempotency.sequence": runIdempotency,
  "bridgeClient.fromArray": ({ client }: Given<"client">) => bridgeClient.fromArray(client),
  "bridgeItem.fromArray": ({ item }: Given<"item">) => bridgeItem.fromArray(item),
  "bridge.sequence": runBridge,
  "channel.handle": handleInbound,
  "channel.receive": receiveInbound,
  "conversationStore.sequence": runConversationStore,
  "conversationLock.null": runNullLock,
  "conversationSession.full": ({ session: row }: Given<"session">) => session.full(row),
  "conversationSession.owned": ({ row, workspace: place, owner }: Given<"row" | "workspace" | "owner">) =>
    session.owned(row, workspace.normalize(place), session.ownerOf(owner)),
  "conversationAbilities.sequence": runSessionAbilities,
  "identityScope.normalize": normalizeScope,
  "identity.materialized": identity.materialized,
  "identityStore.sequence": runIdentityStore,
};
