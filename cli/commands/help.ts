import type { Command } from 'commander'
import { z } from 'zod'
import { action } from '../context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../context.ts'
import { PRECEDENCE, VARIABLES } from '../environment.ts'
import { usageError } from '../errors.ts'
import { EXIT_MEANINGS } from '../exit-codes.ts'
import { fitHelp, globalOptions, termLines } from '../help-text.ts'

export function addHelp(program: Command, runtime: Runtime): void {
  program
    .command('help')
    .description('help for a command, or about a topic: global, exit-codes, environment')
    .argument('[words...]', 'a command, global, exit-codes or environment')
    .addHelpText(
      'after',
      '\nExamples:\n  svc help payments create\n  svc help global\n  svc help exit-codes\n  svc help environment\n',
    )
    .action(action(runtime, z.object({}), (context, input) => help(program, context, input)))
}

async function help(program: Command, context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
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
  findCommand(program, args).outputHelp()
  return undefined
}

function explainEnvironment(context: Context): CommandResult {
  printTerms(context, VARIABLES, { name: 'variable', of: (row) => row.name })
  // A part of the topic, and not a remark about it.
  const { print, io } = context
  if (!print.isMachine) io.stdout.write(`\n${fitHelp(PRECEDENCE, print.width ?? Infinity)}\n`)
  return undefined
}

/** Terms and their meanings, which a terminal gets whole: a table would be cut. */
function printTerms<Row extends { meaning: string }>(
  { print, io }: Context,
  items: readonly Row[],
  { name, of }: { name: string; of: (row: Row) => string },
): void {
  if (!print.isMachine && print.width !== undefined) {
    const lines = termLines(
      items.map((row) => [of(row), row.meaning]),
      print.width,
    )
    io.stdout.write(`${lines.join('\n')}\n`)
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
