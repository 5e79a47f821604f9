import type { EventEmitter } from 'node:events'
import type { Command } from 'commander'
import { examplesOf } from './examples-of.ts'

const SHOWN_MAX = 4

/** Lets the help of every group that has no examples of its own show one of each of its first commands. */
export function addGroupExamples(command: Command): void {
  for (const child of command.commands) {
    if (child.commands.length === 0) continue
    const emitter = child as Command & Pick<EventEmitter, 'listenerCount'>
    if (emitter.listenerCount('afterHelp') === 0) child.addHelpText('after', () => textOf(child))
    addGroupExamples(child)
  }
}

function textOf(group: Command): string {
  const first = group.commands.flatMap((command) => examplesOf(command).slice(0, 1)).slice(0, SHOWN_MAX)
  return first.length === 0 ? '' : `\nExamples:\n${first.map((example) => `  ${example}\n`).join('')}`
}
