// The keys of a document's headings: `guide/install` for "Install" below "Guide", `guide/install-2` for the next one.
//
// A key repeats the headings above it, so a long heading over many short ones would make the keys as long as their
// product. They are kept as a tree and compared one part at a time; a whole key is joined, but never looked at here.

/** A place in the outline: all headings whose paths have the same key. */
export type Branch = {
  /** The key of the path, without a suffix for repeats; `""` at the root. */
  readonly key: string;
  readonly branches: Map<string, Branch>;
  /** The last parts of the keys given out one level down, with their suffixes. */
  readonly used: Set<string>;
  repeats: number;
};

/** Where a heading stands, and a key that no other heading of its document has. */
export type Placed = { readonly path: readonly string[]; readonly key: string; readonly boundaryKey: string };

export function createBranch(key = ""): Branch {
  return { key, branches: new Map(), used: new Set(), repeats: 1 };
}

/** The branch below another one for a part of a key, made when it is first asked for. */
export function branchBelow(parent: Branch, part: string): Branch {
  const known = parent.branches.get(part);
  if (known) return known;
  const branch = createBranch(joined(parent, part));
  parent.branches.set(part, branch);
  return branch;
}

/**
 * A function that is told the headings of one document in order. A heading stands below the last ones of a lower level;
 * a level that was skipped leaves no hole.
 */
export function createOutline(): (level: number, text: string) => Placed {
  const root = createBranch();
  const open: { text: string; branch: Branch }[] = [];
  return (level, text) => {
    open.length = Math.min(open.length, level - 1);
    const parent = open.at(-1)?.branch ?? root;
    const part = keyPart(text);
    const branch = branchBelow(parent, part);
    open.push({ text, branch });
    return {
      path: open.map((heading) => heading.text),
      key: joined(parent, unusedPart(parent, branch, part)),
      boundaryKey: open[0]?.branch.key ?? branch.key,
    };
  };
}

const DASH = 0x2d;

/** What one heading contributes to a key: its ASCII letters, lowered, and digits; a dash for what is between them. */
export function keyPart(text: string): string {
  // Written as bytes: replacing by pattern needs sixty times the memory of a text that is one long heading.
  const part = Buffer.allocUnsafe(text.length);
  let size = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = keyUnit(text.charCodeAt(index));
    if (unit !== DASH) part[size++] = unit;
    else if (size > 0 && part[size - 1] !== DASH) part[size++] = DASH;
  }
  if (size > 0 && part[size - 1] === DASH) size--;
  return size === 0 ? "untitled" : part.toString("latin1", 0, size);
}

function keyUnit(unit: number): number {
  if (unit >= 0x41 && unit <= 0x5a) return unit + 0x20; // A to Z
  const isLetter = unit >= 0x61 && unit <= 0x7a;
  const isDigit = unit >= 0x30 && unit <= 0x39;
  return isLetter || isDigit ? unit : DASH;
}

function joined(parent: Branch, part: string): string {
  return parent.key === "" ? part : `${parent.key}/${part}`;
}

/**
 * The part itself, or the first of `-2`, `-3` that is free: a heading "One 2" may have taken what the second "One" wants.
 * Whoever keeps archived sections by their ids would otherwise lose one of the two.
 */
function unusedPart(parent: Branch, branch: Branch, part: string): string {
  let unused = part;
  while (parent.used.has(unused)) {
    branch.repeats++;
    unused = `${part}-${branch.repeats}`;
  }
  parent.used.add(unused);
  return unused;
}
