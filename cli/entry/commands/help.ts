import type { Command } from 'commander'
import type { CommandResult, Runtime } from '../../kit/context.ts'
import { PRECEDENCE, VARIABLES } from '../../base/environment-variables.ts'
import { usageError } from '../../base/errors.ts'
import { EXIT_MEANINGS } from '../../base/exit-codes.ts'
import { fitHelp, globalOptions, termLines } from '../tree/help-text.ts'
import { FORMAT_TERMS, OUTPUT_TERMS, TOPICS } from '../tree/help-topics.ts'
import { plainAction } from '../../kit/plain-context.ts'
import type { PlainContext } from '../../kit/plain-context.ts'

export function addHelp(command: Command, runtime: Runtime): void {
  const program = command.parent ?? command
  command
    .argument('[words...]', 'a command, or a topic')
    .addHelpText(
      'after',
      '\nExamples:\n  svc help payments create\n  svc help topics\n  svc help formats\n  svc help exit-codes\n',
    )
    .action(plainAction(runtime, (context, args) => help(program, context, args)))
}

function help(program: Command, context: PlainContext, args: readonly string[]): CommandResult {
  if (args.length === 1 && args[0] === 'exit-codes') {
    context.print.list({
      items: EXIT_MEANINGS,
      fields: ['code', 'meaning'],
      columns: [
        { title: 'code', value: (row) => String(row.code), align: 'right' },
        { title: 'meaning', value: (row) => row.meaning },
      ],
      id: (row) => String(row.code),
      empty: '',
    })
    return undefined
  }
  if (args.length === 1 && args[0] === 'environment') return explainEnvironment(context)
  if (args.length === 1 && args[0] === 'global') {
    printTerms(context, globalOptions(program), { name: 'option', of: (row) => row.option })
    return undefined
  }
  const terms = args.length === 1 ? termsOf(args[0]) : undefined
  if (terms === undefined) findCommand(program, args).outputHelp()
  else printTerms(context, terms, { name: args[0] === 'topics' ? 'topic' : 'form', of: (row) => row.name })
  return undefined
}

/** The topics that are a list of terms. */
function termsOf(topic: string | undefined): readonly { name: string; meaning: string }[] | undefined {
  if (topic === 'output') return OUTPUT_TERMS
  if (topic === 'formats') return FORMAT_TERMS
  return topic === 'topics' ? TOPICS.map(({ topic: name, meaning }) => ({ name, meaning })) : undefined
}

function explainEnvironment(context: PlainContext): CommandResult {
  printTerms(context, VARIABLES, { name: 'variable', of: (row) => row.name })
  // A part of the topic, and not a remark about it.
  const { print } = context
  if (!print.isMachine) print.text(`\n${fitHelp(PRECEDENCE, print.width ?? Infinity)}\n`)
  return undefined
}

/** Terms and their meanings, which a terminal gets whole: a table would be cut. */
function printTerms<Row extends { meaning: string }>(
  { print }: PlainContext,
  items: readonly Row[],
  { name, of }: { name: string; of: (row: Row) => string },
): void {
  if (!print.isMachine && print.width !== undefined) {
    const lines = termLines(
      items.map((row) => [of(row), row.meaning]),
      print.width,
    )
    print.text(`${lines.join('\n')}\n`)
    return
  }
  print.list({
    items,
    fields: Object.keys(items[0] ?? {}),
    columns: [
      { title: name, value: of },
      { title: 'meaning', value: (row) => row.meaning },
    ],
    id: of,
    empty: '',
  })
}

function findCommand(program: Command, words: readonly string[]): Command {
  let command = program
  for (const word of words) {
    const child = command.commands.find((each) => each.name() === word || each.aliases().includes(word))
    if (child === undefined) throw usageError(`there is no command or topic "${words.join(' ')}"`, 'svc help')
    command = child
  }
  return command
}
