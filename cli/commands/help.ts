import type { Command } from 'commander'
import { z } from 'zod'
import { action } from '../context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../context.ts'
import { usageError } from '../errors.ts'
import { EXIT_MEANINGS } from '../exit-codes.ts'

export function addHelp(program: Command, runtime: Runtime): void {
  program
    .command('help')
    .description('help for a command, or about a topic: exit-codes')
    .argument('[words...]', 'a command, or exit-codes')
    .addHelpText('after', '\nExamples:\n  svc help payments create\n  svc help exit-codes\n')
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
  findCommand(program, args).outputHelp()
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
