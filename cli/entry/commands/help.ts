import type { Command } from 'commander'
import { NOUN_GROUPS } from '../../base/command-names.ts'
import { PRECEDENCE, VARIABLES } from '../../base/environment-variables.ts'
import { usageError } from '../../base/errors.ts'
import { EXIT_MEANINGS } from '../../base/exit-codes.ts'
import { nearestWord } from '../../base/nearest-word.ts'
import { localCommand } from '../../kit/command.ts'
import type { CommandResult } from '../../kit/context.ts'
import type { PlainContext } from '../../kit/plain-context.ts'
import { fitHelp, globalOptions, termLines } from '../tree/help-text.ts'
import { FORMAT_TERMS, OUTPUT_TERMS, TOPICS } from '../tree/help-topics.ts'
import { renamed } from '../tree/renamed.ts'

export const help = localCommand({
  command: 'help',
  summary: 'Print help for a command or a topic',
  examples: ['svc help payments create', 'svc help all', 'svc help topics', 'svc help exit-codes'],
  flags: { words: { value: 'words', summary: 'A command or a topic', positional: true, several: true } },
  async run(context, { words }, own) {
    const program = own.parent ?? own
    const topic = words.length === 1 ? words[0] : undefined
    if (topic === 'all') return listAll(program, context)
    if (topic === 'exit-codes')
      return printTerms(context, EXIT_MEANINGS, { name: 'code', of: ({ code }) => String(code) })
    if (topic === 'environment') return explainEnvironment(context)
    if (topic === 'global') return printTerms(context, globalOptions(), { name: 'option', of: ({ option }) => option })
    const terms = termsOf(topic)
    if (terms !== undefined)
      return printTerms(context, terms, { name: topic === 'topics' ? 'topic' : 'form', of: ({ name }) => name })
    findCommand(program, words).outputHelp()
  },
})

function termsOf(topic: string | undefined): readonly { name: string; meaning: string }[] | undefined {
  if (topic === 'output') return OUTPUT_TERMS
  if (topic === 'formats') return FORMAT_TERMS
  return topic === 'topics' ? TOPICS.map(({ topic: name, meaning }) => ({ name, meaning })) : undefined
}

/** Every command that does something, in the groups of the first page. */
function listAll(program: Command, { print }: PlainContext): CommandResult {
  const groups = NOUN_GROUPS.map(({ title, nouns, more }) => {
    const names: ReadonlySet<string> = new Set([...nouns, ...more].map(({ name }) => name))
    return { title, leaves: program.commands.filter((each) => names.has(each.name())).flatMap((noun) => rowsOf(noun)) }
  })
  if (print.isMachine) {
    print.list(
      groups.flatMap(({ leaves }) => leaves),
      {
        fields: ['command', 'summary', 'dry_run', 'asks'],
        columns: [
          { title: 'command', value: ({ command }) => command },
          { title: 'summary', value: ({ summary }) => summary },
        ],
      },
    )
    return undefined
  }
  const width = Math.max(...groups.flatMap(({ leaves }) => leaves.map(({ command }) => command.length)))
  const texts = groups.map(({ title, leaves }) => {
    const rows = leaves.map(({ command, summary }) => [command.padEnd(width), summary] as const)
    return `${print.paint('bold', title)}\n${termLines(rows, (print.width ?? Infinity) - 2)
      .map((line) => `  ${line}\n`)
      .join('')}`
  })
  print.text(texts.join('\n'))
}

type Row = { command: string; summary: string; dry_run: boolean; asks: boolean }

function rowsOf(command: Command, above: readonly string[] = []): Row[] {
  const words = [...above, command.name()]
  const below = command.commands.flatMap((child) => rowsOf(child, words))
  // Each command of this tree with nothing to do itself takes no words.
  if (command.commands.length > 0 && command.registeredArguments.length === 0) return below
  const flags = command.options.map(({ long }) => long)
  const [dry_run, asks] = [flags.includes('--dry-run'), flags.includes('--yes')]
  return [{ command: words.join(' '), summary: command.description(), dry_run, asks }, ...below]
}

function explainEnvironment(context: PlainContext): CommandResult {
  printTerms(context, VARIABLES, { name: 'variable', of: (row) => row.name })
  // A part of the topic, and not a remark about it.
  const { print } = context
  if (!print.isMachine) print.text(`\n${fitHelp(PRECEDENCE, print.width ?? Infinity)}\n`)
}

/** Terms and their meanings, which a terminal gets whole: a table would be cut. */
function printTerms<Row extends { meaning: string }>(
  { print }: PlainContext,
  items: readonly Row[],
  { name, of }: { name: string; of: (row: Row) => string },
): undefined {
  if (!print.isMachine && print.width !== undefined) {
    const lines = termLines(
      items.map((row) => [of(row), row.meaning]),
      print.width,
    )
    print.text(`${lines.join('\n')}\n`)
    return undefined
  }
  print.list(items, {
    fields: Object.keys(items[0] ?? {}),
    columns: [
      { title: name, value: of },
      { title: 'meaning', value: (row) => row.meaning },
    ],
  })
  return undefined
}

function findCommand(program: Command, words: readonly string[]): Command {
  let command = program
  for (const [index, word] of words.entries()) {
    const names = command.commands.map((each) => each.name())
    const child = command.commands.find((each) => each.name() === word || each.aliases().includes(word))
    if (child === undefined) throw noHelp(words, index, names)
    command = child
  }
  return command
}

function noHelp(words: readonly string[], at: number, names: readonly string[]): Error {
  const old = renamed({ words, takesValue: () => false })
  if (old !== undefined) return usageError(old[0], `${old[1]} --help`)
  const topics = at === 0 ? TOPICS.map(({ topic }) => topic) : []
  const near = nearestWord(words[at] ?? '', [...names, ...topics])
  const hint = near === undefined ? 'svc help all' : ['svc help', ...words.slice(0, at), near].join(' ')
  return usageError(`there is no command or topic "${words.join(' ')}"`, hint)
}
