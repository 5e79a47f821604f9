import type { Command } from 'commander'

/** Lets every `list` below this command be called `ls`. */
export function takeOtherVerbs(command: Command): void {
  for (const child of command.commands) {
    if (child.name() === 'list' && !child.aliases().includes('ls')) child.alias('ls')
    takeOtherVerbs(child)
  }
}

/** A command's term in help, without the other word for its verb. */
export function withoutOtherVerbs(term: string, command: Command): string {
  return command.name() === 'list' ? term.replace('|ls', '') : term
}
