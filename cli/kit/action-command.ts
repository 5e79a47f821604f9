import { Argument, Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import type { Client } from '../client/call.ts'
import type { AnyAction, Flag, Flags } from './action.ts'
import { flagOf, takesKey } from './action.ts'
import { changing, dangerous } from './change.ts'
import { action as handler, durationOf } from './context.ts'
import type { CommandResult, Context, InputOf, Runtime } from './context.ts'
import { readValues, withFlags } from './read-values.ts'

const Options = z.record(z.string(), z.union([z.string(), z.boolean()]).optional())

/** Adds the commands of these actions below the noun that they begin with. Their groups have been added before. */
export function addActions(noun: Command, runtime: Runtime, actions: readonly AnyAction[]): void {
  for (const each of actions) addAction(noun, runtime, each)
}

/** How a command differs from its action. */
export type Variant = {
  /** The client that acts, where it is another one than that of other commands. */
  client?(context: Context): Client
  /** The action that is meant: one with the same flags, which somebody else does. */
  choose?(context: Context, options: Readonly<Record<string, unknown>>): AnyAction | Promise<AnyAction>
}

export function addAction(noun: Command, runtime: Runtime, action: AnyAction, variant: Variant = {}): Command {
  const [, ...words] = action.command.split(' ')
  const last = words.pop()
  const group = words.reduce((parent, word) => groupOf(parent, word), noun)
  return fill(last === undefined ? group : group.command(last), runtime, { action, variant })
}

function groupOf(parent: Command, word: string): Command {
  const group = parent.commands.find((each) => each.name() === word)
  if (group === undefined) throw new Error(`the group ${word} of ${parent.name()} has to be added before its actions`)
  return group
}

type Filling = { action: AnyAction; variant: Variant }

function fill(command: Command, runtime: Runtime, { action, variant }: Filling): Command {
  const { summary, details, examples, subject, wait } = action
  const flags = Object.entries(action.flags as Flags)
  command.description(summary)
  if (isNamed(subject)) command.argument(`<${subject.noun}>`, subject.summary)
  for (const [name, flag] of flags) addFlag(command, name, flag)
  if (flags.some(([, { file }]) => file === true))
    command
      .option('--file <path>', 'Read the text from a file; - is standard input')
      .option('--edit', 'Write the text in your editor (VISUAL, EDITOR)')
  if (takesKey(action.operation))
    command.option('--idempotency-key <key>', 'Idempotency key; repeating it does nothing twice (a new UUID)')
  if (wait !== undefined)
    command.option('--wait', wait.summary).option('--timeout <duration>', 'Maximum time to wait', '30s')
  if (action.confirm === undefined) changing(command)
  else dangerous(command)
  if (details !== undefined) command.addHelpText('after', `\n${details}`)
  return command.addHelpText('after', `\nExamples:\n${examples.map((line) => `  ${line}`).join('\n')}\n`).action(
    handler(runtime, Options, async (context, input) => {
      const { client, choose } = variant
      const meant = (await choose?.(context, input.options)) ?? action
      return run(client === undefined ? context : { ...context, client: () => client(context) }, meant, input)
    }),
  )
}

function addFlag(command: Command, name: string, flag: Flag): void {
  const { value, summary, required, choices, positional, several, file } = flag
  if (positional === true) {
    const words = several === true ? `${value ?? name}...` : name
    const argument = new Argument(required === true ? `<${words}>` : `[${words}]`, summary)
    command.addArgument(choices === undefined ? argument : argument.choices(choices))
    return
  }
  const option = new Option(value === undefined ? flagOf(name) : `${flagOf(name)} <${value}>`, summary)
  if (choices !== undefined) option.choices(choices)
  // A text that may come from a file is asked for once it is known that none was named.
  command.addOption(option.makeOptionMandatory(required === true && file !== true))
}

/** Whether the command line names what it is done to. */
function isNamed(subject: AnyAction['subject']): subject is NonNullable<AnyAction['subject']> {
  return subject !== undefined && subject.isOwn !== true
}

async function run(
  context: Context,
  action: AnyAction,
  { args, options }: InputOf<typeof Options>,
): Promise<CommandResult> {
  const rest = isNamed(action.subject) ? args.slice(1) : args
  const positional = Object.entries(action.flags as Flags).filter(([, flag]) => flag.positional === true)
  const places = positional.map(([name, { several }], index) => [
    name,
    several === true ? rest.slice(index).join(' ') : rest[index],
  ])
  const given = { ...options, ...Object.fromEntries(places) }
  const { perform } = await import('./perform.ts')
  const text = (name: string): string | undefined => {
    const value = options[name]
    return typeof value === 'string' ? value : undefined
  }
  // It is checked without --wait as well: what is mistyped is not sent.
  const timeoutMs = action.wait === undefined ? undefined : durationOf(text('timeout') ?? '30s', '--timeout')
  try {
    await perform(context, action, {
      given: isNamed(action.subject) ? args[0] : undefined,
      values: readValues(action.flags, given),
      how: {
        dryRun: options['dryRun'] === true,
        yes: options['yes'] === true,
        idempotencyKey: text('idempotencyKey'),
        waitMs: options['wait'] === true ? timeoutMs : undefined,
        file: text('file'),
        edit: options['edit'] === true,
      },
    })
    return undefined
  } catch (error) {
    throw withFlags(error, action)
  }
}
