// Completion for shells: the nouns, then the verbs of a noun, then the options of a verb, and what there is to choose from.
import type { Verb } from "./verb.ts";

export const shells = ["bash", "zsh", "fish"] as const;

export type Shell = (typeof shells)[number];

const usual = ["--json", "--quiet", "--url", "--config", "--data", "--help"];

export function completionScript(shell: Shell, verbs: readonly Verb[]): string {
  switch (shell) {
    case "bash":
      return bash(verbs);
    case "zsh":
      return `autoload -U +X bashcompinit && bashcompinit\n${bash(verbs)}`;
    case "fish":
      return fish(verbs);
  }
}

function bash(verbs: readonly Verb[]): string {
  const names = new Set(verbs.map(({ name }) => name));
  const cases = [...wordsAfter(verbs)].map(([typed, words]) => {
    const behind = names.has(typed) ? `|"${typed} "*` : "";
    return `    "${typed}"${behind}) words="${words.join(" ")}" ;;`;
  });
  const first = verbs.flatMap((verb) => {
    const choices = firstChoices(verb);
    return choices.length === 0 ? [] : [`    "${verb.name}") words="$words ${choices.join(" ")}" ;;`];
  });
  const values = optionChoices(verbs).map(
    ({ flag, verb, choices }) => `    "${flag} ${verb}"|"${flag} ${verb} "*) words="${choices.join(" ")}" ;;`,
  );
  return `_holdfast() {
  local typed="" words="" index
  for ((index = 1; index < COMP_CWORD; index++)); do
    [[ "\${COMP_WORDS[index]}" == -* ]] && continue
    typed="\${typed:+$typed }\${COMP_WORDS[index]}"
  done
  case "$typed" in
${cases.join("\n")}
    *) words="" ;;
  esac
  case "$typed" in
${first.join("\n")}
  esac
  case "\${COMP_WORDS[COMP_CWORD - 1]} $typed" in
${values.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _holdfast holdfast
`;
}

function fish(verbs: readonly Verb[]): string {
  const nouns = new Set(verbs.map(({ name }) => name.split(" ")[0] ?? ""));
  const first = [...nouns].map((noun) => `complete -c holdfast -n __fish_use_subcommand -f -a ${noun}`);
  const second = verbs.flatMap(({ name, summary }) => {
    const [noun, verb] = name.split(" ");
    if (verb === undefined) return [];
    return [`complete -c holdfast -n "__fish_seen_subcommand_from ${noun}" -f -a ${verb} -d ${quoted(summary)}`];
  });
  return `${[...first, ...second, ...verbs.flatMap(fishOptions)].join("\n")}\n`;
}

function fishOptions(verb: Verb): readonly string[] {
  const { name, options = {}, choices = {} } = verb;
  const typed = name.split(" ").map((word) => `__fish_seen_subcommand_from ${word}`);
  const where = `complete -c holdfast -n "${typed.join("; and ")}"`;
  const first = firstChoices(verb);
  return [
    ...(first.length === 0 ? [] : [`${where} -f -a ${quoted(first.join(" "))}`]),
    ...Object.entries(options).map(([flags, what]) => {
      const [flag = "", value] = flags.split(" ");
      const possible = choices[flag.slice(2)];
      const takesValue = value === undefined ? "" : " -r";
      const values = possible === undefined ? "" : ` -f -a ${quoted(possible.join(" "))}`;
      return `${where} -l ${flag.slice(2)}${takesValue}${values} -d ${quoted(what)}`;
    }),
  ];
}

/** What the first argument of a verb may be. */
function firstChoices({ takes = {}, choices = {} }: Verb): readonly string[] {
  const [first = ""] = Object.keys(takes);
  return choices[first.replace(/[^a-z]/g, "")] ?? [];
}

type OptionChoices = { readonly flag: string; readonly verb: string; readonly choices: readonly string[] };

/** What may stand behind an option of a verb. */
function optionChoices(verbs: readonly Verb[]): readonly OptionChoices[] {
  return verbs.flatMap(({ name: verb, options = {}, choices: all = {} }) =>
    Object.keys(options).flatMap((flags) => {
      const [flag = ""] = flags.split(" ");
      const choices = all[flag.slice(2)];
      return choices === undefined ? [] : [{ flag, verb, choices }];
    }),
  );
}

/** What may come next, by what was typed. */
function wordsAfter(verbs: readonly Verb[]): ReadonlyMap<string, readonly string[]> {
  const after = new Map<string, string[]>();
  const add = (typed: string, word: string) => {
    const words = after.get(typed) ?? [];
    if (!words.includes(word)) words.push(word);
    after.set(typed, words);
  };
  for (const { name, options = {} } of verbs) {
    const words = name.split(" ");
    words.forEach((word, index) => {
      add(words.slice(0, index).join(" "), word);
    });
    for (const flag of [...Object.keys(options).map((flags) => flags.split(" ")[0] ?? ""), ...usual]) add(name, flag);
  }
  return after;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "\\'")}'`;
}
