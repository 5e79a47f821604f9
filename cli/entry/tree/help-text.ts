import { Help } from 'commander'
import type { Command, Option } from 'commander'
import type { Io } from '../../base/io.ts'
import { wrapped, wrappedCommand } from '../../base/wrap.ts'

/** The program's own options that are no setting of a command: they end it. */
const ENDING: ReadonlySet<string | undefined> = new Set(['--help', '--version', '--map'])

/** The program's options in its help, which has the global ones below everything else. */
export function endingOptions(options: readonly Option[]): Option[] {
  return options.filter(({ long }) => ENDING.has(long))
}

/** Every option that any command takes, with what it means: the topic `svc help global`. */
export function globalOptions(program: Command): { option: string; meaning: string }[] {
  const help = new Help()
  return program.options
    .filter(({ long, hidden }) => !hidden && !ENDING.has(long))
    .map((option) => ({ option: help.optionTerm(option), meaning: help.optionDescription(option) }))
}

/** Below all help: on the first page what each global option means, on the others only which there are. */
export function globalBlock(program: Command, command: Command, io: Io): string {
  const rows = globalOptions(program)
  if (command !== program) {
    const names = rows.map(({ option }) => option.replace(/^-\w, | [<[].*$/g, '')).join(', ')
    return `\n${wrapped(`Global options (svc help global): ${names}`, widthOf(io)).join('\n')}`
  }
  const lines = termLines(
    rows.map(({ option, meaning }) => [option, meaning]),
    widthOf(io) - 2,
  )
  return `\nGlobal options, of every command:\n${lines.map((line) => `  ${line}`).join('\n')}`
}

/** Terms with what they mean beside them, broken between words. */
export function termLines(rows: readonly (readonly [term: string, meaning: string])[], width: number): string[] {
  const indent = Math.max(...rows.map(([term]) => term.length)) + 2
  return rows.flatMap(([term, meaning]) => {
    const [first = '', ...rest] = wrapped(meaning, width - indent)
    return [`${term.padEnd(indent)}${first}`, ...rest.map((line) => ' '.repeat(indent) + line)]
  })
}

function widthOf({ stdout }: Io): number {
  return stdout.columns > 0 ? stdout.columns : 80
}

/** Help as a terminal takes it: what is longer than its lines is broken between words, and commands so that they run. */
export function fitHelp(text: string, width: number): string {
  return text
    .split('\n')
    .flatMap((line) => fitLine(line, width))
    .join('\n')
}

function fitLine(line: string, width: number): string[] {
  if (line.length <= width) return [line]
  const [indent = ''] = /^ */.exec(line) ?? []
  const words = line.slice(indent.length)
  return (indent !== '' && words.startsWith('svc ') ? wrappedCommand : wrapped)(words, width, indent)
}
