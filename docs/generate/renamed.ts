import { DROPPED, RENAMED } from '../../cli/entry/tree/renamed.ts'
import { block, code, pageHead, table } from './markdown.ts'

/** Old commands and flags with what they are now, as the command line answers them. */
export function renamedPage(): string {
  const rows = RENAMED.map(([old, now]) => [code(old), code(named(withCommand(old, now)))])
  const dropped = [...DROPPED].map(([flag, instead]) => [code(flag), instead.split('\n').map(withCode).join('; ')])
  return `${pageHead(
    'Renamed commands',
    `What commands and flags of earlier versions are now; those that are not here have kept their names. An old name ends
with exit code 2, and prints your own line with the new words.`,
  )}
${block('sh', 'npx svc help all')}
## Commands and flags

${table(['Before, after svc', 'Now'], rows)}
## Flags that are gone

${table(['Flag', 'Instead'], dropped)}`
}

function named(words: string): string {
  return words.startsWith('-') ? words : `svc ${words}`
}

/** What stands behind the last colon of a line is a command. */
function withCode(line: string): string {
  return line.replace(/(?<=: )(?!.*: ).+$/, code)
}

/** A flag that only has another name stands behind the command of the old one. */
function withCommand(old: string, now: string): string {
  const command = old.replace(/ ?--?[a-z-]+$/, '')
  return now.startsWith('-') && now !== '--version' ? `${command} ${now}`.trim() : now
}
