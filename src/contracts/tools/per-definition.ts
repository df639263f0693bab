// A tool is declared once and called often, so what follows from its declaration alone is worked out once.
import { emptyMap, isMap, type UnknownMap } from "../json.ts";

/**
 * A function that computes its answer on the first call for a definition and repeats it afterwards; definitions must
 * therefore not change. Anything that is not a map counts as an empty definition.
 */
export function perDefinition<Answer>(compute: (definition: UnknownMap) => Answer): (definition: unknown) => Answer {
  const answers = new WeakMap<object, Answer>();
  return (given) => {
    const definition = isMap(given) ? given : emptyMap;
    const known = answers.get(definition);
    if (known !== undefined) return known;
    const answer = compute(definition);
    answers.set(definition, answer);
    return answer;
  };
}
