import type { Command } from 'commander'
import { z } from 'zod'
import { parseDuration } from '../src/lib/duration.ts'
import { chooseCredentials } from './auth/choose.ts'
import type { Http } from './auth/credentials.ts'
import { asTyped, quoted } from './called-as.ts'
import type { Given } from './called-as.ts'
import { makeClient, makeConnections } from './client.ts'
import type { Client } from './client.ts'
import { debugLine, isDebugging } from './debug.ts'
import { CliError } from './errors.ts'
import { EXIT } from './exit-codes.ts'
import type { ExitCode } from './exit-codes.ts'
import { inFlags, withHelp } from './flag-errors.ts'
import { findService } from './find-service.ts'
import type { FindOptions } from './find-service.ts'
import { paintFor } from './io.ts'
import type { Io, Paint } from './io.ts'
import { withoutCredentials } from './service-address.ts'
import { GlobalOptions, fieldsOf, modeOfEnvironment, parseOptions } from './global-options.ts'
import { platformUser } from './operator-name.ts'
import { isJson } from './output-modes.ts'
import { makePrinter } from './output.ts'
import type { Printer } from './output.ts'
import { pagedIo } from './pager.ts'
import type { Pager } from './pager.ts'
import { stateDirOf } from './service-state.ts'
import { printable } from './text.ts'
import { watch, watchOf } from './watch.ts'

/** What a command is given: its streams, its printer, and the service once it asks for it. */
export type Context = {
  io: Io
  print: Printer
  /** For remarks on standard error. */
  paint: Paint
  stateDir: string
  /** The service's address as the flag or SVC_API_URL names it; undefined when neither does. */
  namedUrl: string | undefined
  /** What the command line says of the service and of who to act as. */
  flags: FindOptions['flags']
  /** Whether the user asked for JSON. */
  json: boolean
  /** The client of the service that flags, environment or state directory name. */
  client(): Client
  /** Connections for what comes before there is a client: signing in. */
  http(): Http
  /** A line for people on standard error, commands in it as they have to be typed; left out with JSON, where standard error holds nothing but an error. */
  note(text: string): void
}

/** A command's exit code; undefined is success. */
export type CommandResult = ExitCode | undefined

export type CommandInput<Options> = { args: readonly string[]; options: Options }

/** What a run of the command line keeps: where commands leave their exit code. */
export type Runtime = {
  io: Io
  exitCode: ExitCode
  /** What the command line said of service and identity, once it has been understood: next steps repeat it. */
  given?: Given
  /** What shows results that are longer than the terminal; without it they are printed as they are. */
  pager?: Pager
  /** The command line, as it was typed. */
  words?: readonly string[]
}

/**
 * Makes the action of a command: parses its options with their schema, gives it a context, and closes its connections.
 * The command itself knows nothing of commander.
 */
export function action<Options extends z.ZodType>(
  runtime: Runtime,
  schema: Options,
  run: (context: Context, input: CommandInput<z.output<Options>>) => Promise<CommandResult>,
): (this: Command) => Promise<void> {
  return async function act(this: Command) {
    const given = { ...this.optsWithGlobals(), customer: actingCustomer(this) }
    const { context, close } = makeContext(runtime, given)
    runtime.given = context.flags
    try {
      const input = { args: this.args, options: parseOptions(schema, this.opts()) }
      const everyMs = watchesItself(schema) ? undefined : watchOf(this.opts()['watch'])
      const code =
        everyMs === undefined
          ? await run(context, input)
          : await watchCommand(runtime, { context, everyMs, given }, (each) => run(each, input))
      runtime.exitCode = code ?? EXIT.ok
    } catch (error) {
      throw withHelp(inFlags(error, this), this)
    } finally {
      await close()
    }
  }
}

/** The customer to act as, which svc ob takes above its commands; a flag of this name of a command itself is its own. */
function actingCustomer({ parent }: Command): unknown {
  return parent?.optsWithGlobals()['customer']
}

/** Whether watching is the command's own affair, and no matter of its results. */
function watchesItself(schema: z.ZodType): boolean {
  return schema instanceof z.ZodObject && 'watch' in schema.shape
}

type Watched = { context: Context; everyMs: number; given: unknown }

/** The command again and again, each time with a printer that keeps what it would have printed. */
function watchCommand(
  { words = [] }: Runtime,
  { context, everyMs, given }: Watched,
  run: (context: Context) => Promise<CommandResult>,
): Promise<ExitCode> {
  return watch({
    io: context.io,
    print: context.print,
    everyMs,
    title: `svc ${words.map((word) => quoted(word)).join(' ')}`,
    hasQuery: parseOptions(GlobalOptions, given).query !== undefined,
    note: context.note,
    look: (print, note) => run(Object.create(context, { print: { value: print }, note: { value: note } })),
  })
}

/** Whether the command prints as things happen: nobody would see the first line before the last. */
function isLive(given: object): boolean {
  return ['follow', 'watch'].some((name) => ![undefined, false].includes(Object(given)[name]))
}

function makeContext({ io, pager }: Runtime, given: object): { context: Context; close(): Promise<void> } {
  const options = parseOptions(GlobalOptions, given)
  const query = options.query
  // `-o csv --json=a,b` is CSV with these members.
  const mode = options.output ?? (options.json === undefined ? modeOfEnvironment(io.env) : 'json')
  const usedPager = mode === 'table' && query === undefined && !isLive(given) ? pager : undefined
  const print = makePrinter(io, {
    mode,
    fields: fieldsOf(options.json),
    query,
    paged: pagedIo(io, usedPager),
    header: options.header,
    paint: paintFor(io, 'stdout', options.color),
  })
  let opened: Client | undefined
  let connections: ReturnType<typeof makeConnections> | undefined
  const context: Context = {
    io,
    print,
    paint: paintFor(io, 'stderr', options.color),
    stateDir: stateDirOf({ flag: options.stateDir, env: io.env, cwd: io.cwd }),
    get namedUrl() {
      return options.apiUrl ?? (withoutCredentials(io.env['SVC_API_URL'] ?? '', 'SVC_API_URL') || undefined)
    },
    flags: options,
    json: isJson(options, io.env),
    client() {
      opened ??= openClient(io, options)
      return opened
    },
    http() {
      connections ??= makeConnections(timeoutOf(io), traceOf(io))
      return connections
    },
    note(text) {
      if (context.json) return
      const tell = (): void => io.stderr.write(`${asTyped(text, io.calledAs, options)}\n`)
      if (usedPager === undefined) tell()
      else usedPager.after(tell)
    },
  }
  return { context, close: async () => void (await Promise.all([opened?.close(), connections?.close()])) }
}

/** A client of the service that flags, environment or state directory name, as they say who acts. */
export function openClient(io: Io, flags: FindOptions['flags']): Client {
  const where = { flags, env: io.env, cwd: io.cwd }
  const found = findService(where)
  const credentials = chooseCredentials({ ...where, found, platformUser: platformUser(io, flags.as) })
  const { chosen } = credentials
  const how =
    chosen === undefined ? 'no identity that is known' : `${chosen.by}${chosen.name ? ` (${chosen.name})` : ''}`
  debugLine(io, 'auth', `acting by ${printable(how)} at ${printable(found.apiUrl)}`)
  return makeClient({ apiUrl: found.apiUrl, credentials, timeoutMs: timeoutOf(io) }, traceOf(io))
}

function traceOf(io: Io): ((line: string) => void) | undefined {
  return isDebugging(io.env, 'api') ? (line) => debugLine(io, 'api', printable(line)) : undefined
}

/** How long one request may take. */
export function timeoutOf(io: Io): number {
  return durationOf(io.env['SVC_TIMEOUT'] || '15s', 'SVC_TIMEOUT')
}

/**
 * Reads a duration such as 30s into milliseconds.
 * @throws {CliError} naming the flag or variable it came from
 */
export function durationOf(text: string, source: string): number {
  try {
    return parseDuration(text)
  } catch (error) {
    throw new CliError('USAGE', `${source}: ${error instanceof Error ? error.message : String(error)}`, {
      exit: EXIT.usage,
    })
  }
}
