import { Argument, Option } from 'commander'
import type { Command } from 'commander'
import type { Outline } from './outline.ts'

/** Thrown where an outline does not know what comes next: the command itself has to be loaded. */
export class NeedsCommand extends Error {
  override readonly name = 'NeedsCommand'
}

/** Adds to a command that has its name what its outline says: it then has its help and refuses what it would refuse. */
export function addFromOutline(command: Command, outline: Outline): void {
  for (const { flags, settings, isParsed } of outline.options) {
    const option: Option = Object.assign(new Option(flags), settings)
    command.addOption(isParsed ? option.argParser((word) => choiceOf(option, word)) : option)
  }
  for (const settings of outline.arguments) command.addArgument(Object.assign(new Argument(''), settings))
  const known = command.aliases()
  for (const alias of outline.aliases) if (!known.includes(alias)) command.alias(alias)
  for (const child of outline.commands) addFromOutline(command.command(child.name), child)
  if (outline.after !== '') command.addHelpText('after', outline.after)
  if (outline.isActing) command.action(needCommand)
  // Last: some would change what is added.
  Object.assign(command, outline.settings)
}

/** A value that is one of the choices; whether any other is wrong, only the command itself knows. */
function choiceOf({ argChoices }: Option, word: string): string {
  return argChoices?.includes(word) === true ? word : needCommand()
}

function needCommand(): never {
  throw new NeedsCommand()
}
