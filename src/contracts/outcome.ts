/** How a call into somebody else's code came back. */
export type Outcome = { readonly returned: unknown } | { readonly threw: unknown };
