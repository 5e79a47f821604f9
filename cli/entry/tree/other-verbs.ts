import type { Command } from 'commander'

/** The words that people of other command lines use for one verb. Help shows the one that the command is named by. */
const SAME: readonly (readonly string[])[] = [
  ['get', 'show'],
  ['list', 'ls'],
]

const HIDDEN = new Set(SAME.flat())

/** Lets every command below this one be called by the other words for its verb, where no command of its own has them. */
export function takeOtherVerbs(command: Command): void {
  const taken = new Set(command.commands.flatMap((each) => [each.name(), ...each.aliases()]))
  for (const child of command.commands) {
    const others = SAME.find((words) => words.includes(child.name())) ?? []
    for (const word of others) if (!taken.has(word)) child.alias(word)
    takeOtherVerbs(child)
  }
}

/** A command's term in help, without the other words for its verb. */
export function withoutOtherVerbs(term: string, command: Command): string {
  const [alias = ''] = command.aliases()
  return HIDDEN.has(alias) ? term.replace(`|${alias}`, '') : term
}
