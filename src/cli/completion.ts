import { eventTypes } from '../records/events/types.ts'
import type { CliCommand, CliOption } from './command.ts'
import { nounsOf, verbsOf } from './find-command.ts'
import { optionsOf } from './shared-options.ts'

export const shells = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof shells)[number]

/**
 * Maps the words typed so far to the possible next words: "keys" to its verbs, "keys create" to its options, and "keys create
 * --environment" to the values of that option. The shell scripts hold this table and a few lines to look it up.
 */
export function choices(commands: readonly CliCommand[]): Map<string, readonly string[]> {
  const table = new Map<string, readonly string[]>([['', [...nounsOf(commands), 'help']]])
  for (const noun of nounsOf(commands)) {
    const verbs = verbsOf(commands, noun)
    if (verbs.length > 0) table.set(noun, verbs)
  }
  for (const command of commands) {
    const options = Object.entries(optionsOf(command))
    const words = command.takes?.split(' ') ?? []
    table.set(command.name, [
      ...(table.get(command.name) ?? []),
      ...(words.length > 0 ? valuesOf(words[0]!) : []),
      ...options.map(([name]) => `--${name}`),
      '--help',
    ])
    for (const [name, option] of options) table.set(`${command.name} --${name}`, optionValues(option))
  }
  return table
}

const optionValues = ({ value }: CliOption): readonly string[] => (value === undefined ? [] : valuesOf(value))

/** The alternatives of a value such as production|sandbox. A word in capitals is a placeholder. */
function valuesOf(text: string): readonly string[] {
  if (text === 'TYPE') return eventTypes
  const values = text.split('|')
  return values.length > 1 ? values.filter((value) => !/[…=[\]]/.test(value) && !isPlaceholder(value)) : []
}

const placeholders = ['FILE', 'UNITS', 'EVENT', 'PAYOUT', 'TRANSFER', 'N', 'CPF', 'CNPJ']
const isPlaceholder = (value: string) => placeholders.includes(value)

export const scriptOf = (shell: Shell, commands: readonly CliCommand[]): string =>
  scripts[shell](choices(commands))

const scripts: Readonly<Record<Shell, (table: Map<string, readonly string[]>) => string>> = {
  bash: (table) => `# trilho: completion for bash. source <(trilho completion bash)
_trilho() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before=() word path='' choices=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do [[ $word == -* ]] || before+=("$word"); done
  path="\${before[0]}"
  [[ -n "\${before[1]}" ]] && _trilho_choices "\${before[0]} \${before[1]}" > /dev/null && path="\${before[0]} \${before[1]}"
  local previous="\${COMP_WORDS[COMP_CWORD-1]}"
  if [[ $previous == --* ]] && choices=$(_trilho_choices "$path $previous"); then
    if [[ -z $choices && $previous =~ ^--(key-file)$ ]]; then COMPREPLY=($(compgen -f -- "$current")); return; fi
    [[ -n $choices ]] && { COMPREPLY=($(compgen -W "$choices" -- "$current")); return; }
  fi
  choices=$(_trilho_choices "$path") && COMPREPLY=($(compgen -W "$choices" -- "$current"))
}
_trilho_choices() {
  case "$1" in
${cases(table)}
    *) return 1 ;;
  esac
}
complete -o default -F _trilho trilho
`,
  zsh: (table) => `#compdef trilho
# trilho: completion for zsh. trilho completion zsh > "\${fpath[1]}/_trilho"
_trilho() {
  local -a before choices
  local word path previous="\${words[CURRENT-1]}"
  for word in "\${(@)words[2,CURRENT-1]}"; do [[ $word == -* ]] || before+=("$word"); done
  path="\${before[1]}"
  [[ -n "\${before[2]}" ]] && _trilho_choices "\${before[1]} \${before[2]}" > /dev/null && path="\${before[1]} \${before[2]}"
  if [[ $previous == --* ]] && choices=(\${=$(_trilho_choices "$path $previous")}) && (( $#choices )); then
    compadd -- $choices
    return
  fi
  choices=(\${=$(_trilho_choices "$path")}) && compadd -- $choices
}
_trilho_choices() {
  case "$1" in
${cases(table)}
    *) return 1 ;;
  esac
}
[[ $funcstack[1] == _trilho ]] && _trilho "$@" || compdef _trilho trilho
`,
  fish: (
    table,
  ) => `# trilho: completion for fish. trilho completion fish > ~/.config/fish/completions/trilho.fish
function __trilho_choices
  switch "$argv[1]"
${[...table].map(([path, words]) => `    case '${path}'\n      printf '%s\\n' ${words.join(' ')}`).join('\n')}
    case '*'
      return 1
  end
end
function __trilho
  set -l typed (commandline -opc)
  set -l before
  for word in $typed[2..-1]
    string match -q -- '-*' $word; or set -a before $word
  end
  set -l path "$before[1]"
  if set -q before[2]; and __trilho_choices "$before[1] $before[2]" > /dev/null
    set path "$before[1] $before[2]"
  end
  if string match -q -- '--*' $typed[-1]; and __trilho_choices "$path $typed[-1]"
    return
  end
  __trilho_choices "$path"
end
complete -c trilho -f -a '(__trilho)'
`,
}

const cases = (table: Map<string, readonly string[]>) =>
  [...table].map(([path, words]) => `    '${path}') echo '${words.join(' ')}' ;;`).join('\n')
