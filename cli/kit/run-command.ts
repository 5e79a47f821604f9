import type { Command } from 'commander'
import { KEY_FLAG } from './action.ts'
import type { AnyAction, Flag, Flags, FlagValues } from './action.ts'
import type { AnyCommand, Input } from './command.ts'
import type { CommandResult, Context, Runtime } from './context.ts'
import { readValue, readValues, withFlags } from './read-values.ts'

/** What the command line has of a command: its arguments, and its options by their names in camel case. */
type Line = { args: readonly string[]; options: Readonly<Record<string, unknown>> }

export async function runDeclared(command: Command, declared: AnyAction | AnyCommand, runtime: Runtime): Promise<void> {
  const line = { args: command.args, options: command.opts() }
  if ('isPlain' in declared) {
    const { inPlainContext } = await import('./plain-context.ts')
    return inPlainContext(runtime, command, (context) => declared.run(context, inputOf(declared.flags, line), command))
  }
  const { inContext } = await import('./context.ts')
  return inContext(runtime, command, async (context) => {
    if (!('run' in declared)) return runAction(context, declared, line)
    try {
      return await declared.run(context, inputOf(declared.flags, line), command)
    } catch (error) {
      throw withFlags(error, declared.flags)
    }
  })
}

function placesOf(flags: Flags): string[] {
  return Object.entries(flags).flatMap(([name, { positional }]) => (positional === true ? [name] : []))
}

function inputOf(flags: Flags, { args, options }: Line): Input<Flags> {
  const places = placesOf(flags)
  const input = Object.entries(flags).map(([name, flag]) => {
    const index = places.indexOf(name)
    const given = index === -1 ? options[name] : flag.several === true ? args.slice(index) : args[index]
    return [name, inputFor(flag, name, { given, options })]
  })
  // Each as its flag says, which Object.fromEntries can't.
  return Object.fromEntries(input) as Input<Flags>
}

function inputFor(flag: Flag, name: string, { given, options }: { given: unknown; options: Line['options'] }): unknown {
  const { value, initial, repeats, several } = flag
  // `--no-return` is how commander takes that something is left out.
  if (value === undefined) return given === true || (/^no[A-Z]/.test(name) && options[positive(name)] === false)
  if (repeats === true || several === true) return given ?? []
  const text = given ?? initial
  return typeof text === 'string' ? readValue(flag, text, name) : text
}

function positive(name: string): string {
  return `${name.charAt(2).toLowerCase()}${name.slice(3)}`
}

async function runAction(context: Context, action: AnyAction, { args, options }: Line): Promise<CommandResult> {
  const meant = (await action.variant?.choose?.(context, options)) ?? action
  const acting = action.variant?.client
  const isNamed = action.subject !== undefined && action.subject.isOwn !== true
  const rest = isNamed ? args.slice(1) : args
  const places = placesOf(meant.flags).map((name, index) => {
    return [name, meant.flags[name].several === true ? rest.slice(index).join(' ') : rest[index]]
  })
  const text = (name: string): string | undefined => {
    const value = options[name]
    return typeof value === 'string' ? value : undefined
  }
  const { durationOf } = await import('./context.ts')
  // It is checked without --wait as well: what is mistyped is not sent.
  const timeoutMs = meant.wait === undefined ? undefined : durationOf(text('timeout') ?? '30s', '--timeout')
  const { perform } = await import('./perform.ts')
  try {
    await perform(acting === undefined ? context : { ...context, client: () => acting(context) }, meant, {
      given: isNamed ? args[0] : undefined,
      values: readValues(meant.flags, { ...options, ...Object.fromEntries(places) } as FlagValues),
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
    throw withFlags(error, { ...KEY_FLAG, ...meant.flags })
  }
}
