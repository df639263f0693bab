// The two sides of an agent. Side A writes as the assistant; side B, a person or another model, as the user.

export type Side = "a" | "b";

export function otherSide(side: Side): Side {
  return side === "a" ? "b" : "a";
}
