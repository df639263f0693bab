// What is remembered, and what of it a model is shown.
import * as contextItem from "../../src/contracts/context/context-item.ts";
import * as guideline from "../../src/contracts/memory/guideline.ts";
import * as memoryCapabilities from "../../src/contracts/memory/memory-capabilities.ts";
import * as memoryLayer from "../../src/contracts/memory/memory-layer.ts";
import * as memoryMetadata from "../../src/contracts/memory/memory-metadata.ts";
import * as memoryQuery from "../../src/contracts/memory/memory-query.ts";
import { askPolicy, composeSections, rankTier, registerSection, resolveItems } from "../scripts/context.ts";
import {
  applyQuery,
  askScope,
  capabilitiesOf,
  mapGuidelineCapability,
  registerSource,
  resolveSources,
  runMemoryStore,
  validationResult,
} from "../scripts/memory.ts";
import type { Given } from "./given.ts";

export const memoryOperations = {
  "authorityTier.rank": rankTier,
  "contextItem.normalize": (given: Given<"item">) => contextItem.normalize(given.item),
  "contextConflict.resolve": resolveItems,
  "injectionPolicy.normalize": askPolicy,
  "contextSections.register": registerSection,
  "contextSections.compose": composeSections,
  "memoryLayer.normalize": (given: Given<"layer" | "fallback">) => memoryLayer.normalize(given.layer, given.fallback),
  "memoryRegistry.register": registerSource,
  "memoryRegistry.resolve": resolveSources,
  "memoryScope.key": askScope,
  "memoryMetadata.normalize": (given: Given<"metadata">) => memoryMetadata.normalize(given.metadata),
  "memoryMetadata.withDefaults": (given: Given<"metadata" | "timestamp">) =>
    memoryMetadata.withDefaults(memoryMetadata.normalize(given.metadata), given.timestamp),
  "memoryMetadata.onlyFields": (given: Given<"metadata" | "fields">) =>
    memoryMetadata.onlyFields(memoryMetadata.normalize(given.metadata), given.fields),
  "memoryCapabilities.unsupported": (given: Given<"capabilities" | "requested" | "operation">) =>
    memoryCapabilities.unsupported(capabilitiesOf(given.capabilities), given.requested, given.operation),
  "memoryQuery.filterFields": (given: Given<"query">) => memoryQuery.filterFields(given.query),
  "memoryQuery.apply": applyQuery,
  "memoryValidation.result": validationResult,
  "memoryStore.sequence": runMemoryStore,
  "guidelines.mapCap": mapGuidelineCapability,
  "guidelines.termLabel": (given: Given<"name" | "slug" | "taxonomy">) =>
    guideline.termLabel({ name: given.name, slug: given.slug }, given.taxonomy),
};
