// The types of what is written into steps and of what comes out of them.
import type { JsonMap, Scalar } from "../../contracts/json.ts";
import type { OperationError } from "../../contracts/operation-error.ts";
import type { ReferenceTo } from "./reference.ts";

/** JSON with references in the place of values. What is undefined is written as null. */
export type Expression = Scalar | undefined | ReferenceTo<unknown> | readonly Expression[] | ExpressionMap;
export type ExpressionMap = { readonly [key: string]: Expression };

/** Text, also with references in it, or a reference to some. */
export type Text = string | ReferenceTo<string>;

/**
 * The type itself, where TypeScript is not to infer it from: what it is assigned to, for one, would win over a default.
 * `NoInfer` does the same, and would show in the types that users see.
 */
export type Given<Type> = [Type] extends [infer Same] ? Same : never;

/** What an expression comes to in a run. */
export type Resolved<Written> =
  Written extends ReferenceTo<infer Value>
    ? Value
    : Written extends readonly (infer Item)[]
      ? Resolved<Item>[]
      : Written extends object
        ? { -readonly [Key in keyof Written]: Resolved<Written[Key]> }
        : Exclude<Written, undefined> | (Written extends undefined ? null : never);

/** What can be written where such a value is taken: the value, or references in the place of it or of parts of it. */
export type Expressed<Value> = unknown extends Value
  ? Expression
  : JsonMap extends Value
    ? ExpressionMap
    : ReferenceTo<Value> | ExpressedParts<Value>;

type ExpressedParts<Value> = Value extends Scalar | undefined
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly Expressed<Item>[]
    : Value extends object
      ? { readonly [Key in keyof Value]: Expressed<Value[Key]> }
      : never;

/** An argument that can be left out where nothing in it has to be there. */
export type InputArgument<Value> =
  Record<never, never> extends Value ? [input?: Expressed<Value>] : [input: Expressed<Value>];

/** What later steps find of what a step has returned: a list or a map as it is, anything else as the `value` of a map. */
export type OutputOf<Returned> = unknown extends Returned
  ? unknown
  : WithoutErrors<Returned> extends infer Kept
    ? AsOutput<Kept>
    : never;

/** A value as the output of a step, whatever it looks like. */
export type AsOutput<Kept> = Kept extends Scalar
  ? { readonly value: Stored<Kept> }
  : Kept extends void
    ? { readonly value: null }
    : Kept extends { toJSON(): Scalar }
      ? { readonly value: Stored<Kept> }
      : Stored<Kept>;

/** A returned operation error is a failure and no output. */
type WithoutErrors<Returned> = Returned extends OperationError
  ? Exclude<keyof Returned, keyof OperationError> extends never
    ? never
    : Returned
  : Returned;

/** A value as JSON carries it. */
export type Stored<Value> = unknown extends Value
  ? unknown
  : Value extends Scalar
    ? Value
    : Value extends void
      ? null
      : Value extends { toJSON(): infer Written }
        ? Stored<Written>
        : Value extends readonly (infer Item)[]
          ? Stored<Item>[]
          : Value extends object
            ? { readonly [Key in keyof Value as Value[Key] extends Unwritten ? never : Key]: StoredField<Value[Key]> }
            : never;

type Unwritten = ((...given: never) => unknown) | symbol | undefined;

// An optional field stays optional.
type StoredField<Value> = undefined extends Value ? Stored<Exclude<Value, undefined>> | undefined : Stored<Value>;
