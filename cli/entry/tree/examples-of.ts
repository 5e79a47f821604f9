import type { EventEmitter } from 'node:events'
import type { Command } from 'commander'

/** The command lines below "Examples:" in the command's help, without the remarks beside them. */
export function examplesOf(command: Command): string[] {
  const written: string[] = []
  const emitter = command as Command & Pick<EventEmitter, 'emit'>
  emitter.emit('afterHelp', { error: false, command, write: (text: string) => written.push(text) })
  const [, examples = ''] = written.join('').split('Examples:\n')
  const lines = examples.split('\n').flatMap((line) => /^ {2}(?<example>\S.*)$/.exec(line)?.groups?.['example'] ?? [])
  return lines.map((line) => line.replace(/ {3,}.*$/, ''))
}
