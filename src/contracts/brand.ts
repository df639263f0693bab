// A mark on objects that were made here, so that they are known when they come back. It is a private name on the object
// itself: no key, copy or JSON text shows it, nobody else can set it, and it costs a tenth of a set of weak references.

type Brand = { readonly mark: (value: object) => void; readonly has: (value: object) => boolean };

class Given {
  constructor(value: object) {
    // biome-ignore lint/correctness/noConstructorReturn: the private name goes on the value itself
    return value;
  }
}

/** A mark of its own kind. Mark a value before it is frozen; marking it again does nothing. */
export function createBrand(): Brand {
  class Branded extends Given {
    readonly #mark = true;
    static has(value: object): boolean {
      return #mark in value;
    }
  }
  return {
    mark: (value) => {
      if (!Branded.has(value)) new Branded(value);
    },
    has: (value) => Branded.has(value),
  };
}
