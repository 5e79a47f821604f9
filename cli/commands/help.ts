import type { Command } from 'commander'
import { z } from 'zod'
import { action } from '../context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../context.ts'
import { PRECEDENCE, VARIABLES } from '../environment.ts'
import { usageError } from '../errors.ts'
import { EXIT_MEANINGS } from '../exit-codes.ts'

export function addHelp(program: Command, runtime: Runtime): void {
  program
    .command('help')
    .description('help for a command, or about a topic: exit-codes, environment')
    .argument('[words...]', 'a command, exit-codes or environment')
    .addHelpText('after', '\nExamples:\n  svc help payments create\n  svc help exit-codes\n  svc help environment\n')
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
  findCommand(program, args).outputHelp()
  return undefined
}

function explainEnvironment({ print, io }: Context): CommandResult {
  print.list({
    items: VARIABLES,
    fields: ['name', 'meaning'],
    columns: [
      { title: 'variable', value: (row) => row.name },
      { title: 'meaning', value: (row) => row.meaning },
    ],
    id: (row) => row.name,
    empty: '',
  })
  // A part of the topic, and not a remark about it.
  if (!print.isMachine) io.stdout.write(`\n${PRECEDENCE}\n`)
  return undefined
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
