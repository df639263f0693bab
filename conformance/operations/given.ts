// What a function under test is given.

/** Arguments are JSON of the shape that the vector file describes; `never` fits whatever the function under test takes. */
export type Given<Name extends string> = { readonly [name in Name]: never };
