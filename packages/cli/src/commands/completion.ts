import { type Command, type CommandEntry, EXIT, Misuse, wordsOf } from "../command.ts";

type Make = (known: readonly Known[]) => string;

const SHELLS: Readonly<Record<string, Make>> = { bash, zsh, fish };

/** Completes all commands; this is one of them. */
export const completionOf = (commands: readonly CommandEntry[]): Command => ({
  name: "completion",
  verbs: ["bash", "zsh", "fish"],
  usage: `sluice completion bash   source <(sluice completion bash)
sluice completion zsh    source <(sluice completion zsh)
sluice completion fish   sluice completion fish | source
`,
  options: {},
  run: async ({ words, output }) => {
    const [shell] = wordsOf(words, "SHELL");
    const make = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined;
    if (make === undefined) throw new Misuse(`SHELL must be bash, zsh or fish, got ${shell}`);
    output.out(make(await Promise.all(commands.map(known))));
    return EXIT.well;
  },
});

interface Known {
  readonly name: string;
  readonly summary: string;
  readonly next: readonly string[];
}

async function known({ name, summary, load }: CommandEntry): Promise<Known> {
  const { verbs = [], options } = await load();
  const flags = Object.keys(options ?? {}).map((option) => `--${option}`);
  const common = options === undefined ? [] : ["--json", "--help"];
  return { name, summary, next: [...verbs, ...flags, ...common] };
}

function bash(known: readonly Known[]): string {
  const cases = known.map(({ name, next }) => `    ${name}) words="${next.join(" ")}" ;;`);
  return `_sluice() {
  local words="${known.map(({ name }) => name).join(" ")}"
  if [ "$COMP_CWORD" -gt 1 ]; then
    case "\${COMP_WORDS[1]}" in
${cases.map((line) => `  ${line}`).join("\n")}
      *) words="" ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _sluice sluice`;
}

function zsh(known: readonly Known[]): string {
  const commands = known.map(({ name, summary }) => `    '${name}:${quoted(summary)}'`);
  const cases = known.map(({ name, next }) => `    ${name}) compadd -- ${next.join(" ")} ;;`);
  return `_sluice() {
  local -a commands
  commands=(
${commands.join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  case "$words[2]" in
${cases.join("\n")}
  esac
}
compdef _sluice sluice`;
}

function fish(known: readonly Known[]): string {
  return known
    .flatMap(({ name, summary, next }) => [
      `complete -c sluice -n __fish_use_subcommand -f -a ${name} -d '${quoted(summary)}'`,
      ...next.map((word) => {
        const what = word.startsWith("--") ? `-l ${word.slice(2)}` : `-f -a ${word}`;
        return `complete -c sluice -n '__fish_seen_subcommand_from ${name}' ${what}`;
      }),
    ])
    .join("\n");
}

function quoted(text: string): string {
  return text.replaceAll("'", "").replaceAll(":", " -");
}
