import type { Command } from './command.ts'
import { wrongUse } from './failure.ts'
import { commonOptions } from './help.ts'
import { out } from './terminal.ts'

const shells = ['bash', 'zsh', 'fish'] as const

/** The command `completion`, for the commands that there are. */
export function completionOf(others: readonly Command[]): Command {
  const completion: Command = {
    name: 'completion',
    summary: 'Print the completion for a shell: source it from its start file',
    operands: shells.join('|'),
    takes: [1, 1],
    options: {},
    async run({ operands: [shell] }) {
      const known = [...others, completion]
      if (shell === 'bash') out(bash(known))
      else if (shell === 'zsh') out(`autoload -U +X bashcompinit && bashcompinit\n${bash(known)}`)
      else if (shell === 'fish') out(fish(known))
      else throw wrongUse(`There is completion for ${shells.join(', ')}.`)
    },
  }
  return completion
}

const optionsOf = ({ options }: Command) => Object.keys({ ...options, ...commonOptions }).map((name) => `--${name}`)
const wordsOf = ({ name }: Command) => name.split(' ')
const unique = (words: (string | undefined)[]) => [...new Set(words.filter((word) => word !== undefined))].join(' ')

/** Names of commands and options only, which are our own words: nothing in the script comes from elsewhere. */
function bash(commands: readonly Command[]): string {
  const groups = new Set(commands.filter(({ name }) => name.includes(' ')).map((command) => wordsOf(command)[0]))
  const cases = [
    ...[...groups].map((group) => {
      const members = commands.filter((command) => wordsOf(command)[0] === group)
      return `    "${group} ") words="${unique(members.map((member) => wordsOf(member)[1]))}" ;;`
    }),
    ...commands.map(
      (command) => `    "${command.name} "*|"${command.name}") words="${optionsOf(command).join(' ')}" ;;`,
    ),
  ]
  return `_assistant() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before words
  before="\${COMP_WORDS[*]:1:COMP_CWORD-1} "
  case "$before" in
    " ") words="${unique(commands.map((command) => wordsOf(command)[0]))}" ;;
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [ "\${#COMPREPLY[@]}" -eq 0 ]; then COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -o filenames -F _assistant assistant
`
}

function fish(commands: readonly Command[]): string {
  const lines = commands.flatMap((command) => {
    const [first = '', second] = wordsOf(command)
    const seen =
      second === undefined
        ? `__fish_seen_subcommand_from ${first}`
        : `__fish_seen_subcommand_from ${first}; and __fish_seen_subcommand_from ${second}`
    const word =
      second === undefined
        ? `complete -c assistant -n __fish_use_subcommand -a ${first} -d '${command.summary.replaceAll("'", String.raw`\'`)}'`
        : `complete -c assistant -n __fish_use_subcommand -a ${first}\ncomplete -c assistant -n '__fish_seen_subcommand_from ${first}' -a ${second}`
    return [word, ...optionsOf(command).map((option) => `complete -c assistant -n '${seen}' -l ${option.slice(2)}`)]
  })
  return `${[...new Set(lines)].join('\n')}\n`
}
