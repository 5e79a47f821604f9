import { userInfo } from 'node:os'
import type { Command } from 'commander'
import { z } from 'zod'
import { parseDuration } from '../src/lib/duration.ts'
import { chooseCredentials } from './auth/choose.ts'
import type { Http } from './auth/credentials.ts'
import { asTyped } from './called-as.ts'
import type { Given } from './called-as.ts'
import { makeClient, makeConnections } from './client.ts'
import type { Client } from './client.ts'
import { CliError, usageError } from './errors.ts'
import { EXIT } from './exit-codes.ts'
import type { ExitCode } from './exit-codes.ts'
import { inFlags } from './flag-errors.ts'
import { findService } from './find-service.ts'
import type { FindOptions } from './find-service.ts'
import { paintFor } from './io.ts'
import type { Io, Paint } from './io.ts'
import { NO_CREDENTIALS, holdsCredentials, withoutCredentials } from './service-address.ts'
import { OUTPUT_MODES, makePrinter } from './output.ts'
import type { Printer } from './output.ts'
import { stateDirOf } from './service-state.ts'

const GlobalOptions = z.object({
  apiUrl: z
    .string()
    .refine((text) => !holdsCredentials(text), NO_CREDENTIALS)
    .optional(),
  clientId: z.string().optional(),
  as: z.string().optional(),
  customer: z.string().optional(),
  profile: z.string().optional(),
  stateDir: z.string().optional(),
  output: z.enum(OUTPUT_MODES).optional(),
  json: z.union([z.literal(true), z.string()]).optional(),
  query: z.string().optional(),
  header: z.boolean().default(true),
  color: z.enum(['auto', 'always', 'never']).default('auto'),
})
export type GlobalOptions = z.infer<typeof GlobalOptions>

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
}

/** The JSON forms, in which errors are JSON as well. */
export function isJson(options: Pick<GlobalOptions, 'output' | 'json'>, env: NodeJS.ProcessEnv): boolean {
  const mode = options.output ?? (options.json === undefined ? env['SVC_OUTPUT'] : 'json')
  return mode === 'json' || mode === 'jsonl'
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
    const { context, close } = makeContext(runtime.io, { ...this.optsWithGlobals(), customer: actingCustomer(this) })
    runtime.given = context.flags
    try {
      runtime.exitCode =
        (await run(context, { args: this.args, options: parseOptions(schema, this.opts()) })) ?? EXIT.ok
    } catch (error) {
      throw inFlags(error, this)
    } finally {
      await close()
    }
  }
}

/** The customer to act as, which svc ob takes above its commands; a flag of this name of a command itself is its own. */
function actingCustomer({ parent }: Command): unknown {
  return parent?.optsWithGlobals()['customer']
}

function parseOptions<Options extends z.ZodType>(schema: Options, given: unknown): z.output<Options> {
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const name = String(issue?.path[0] ?? '').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  throw usageError(`--${name}: ${issue?.message ?? 'is wrong'}`)
}

function makeContext(io: Io, given: unknown): { context: Context; close(): Promise<void> } {
  const options = parseOptions(GlobalOptions, given)
  const query = options.query
  const print = makePrinter(io, {
    // `-o csv --json=a,b` is CSV with these members.
    mode: options.output ?? (options.json === undefined ? modeOfEnvironment(io.env) : 'json'),
    fields: fieldsOf(options.json),
    query,
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
      connections ??= makeConnections(timeoutOf(io))
      return connections
    },
    note(text) {
      if (!context.json) io.stderr.write(`${asTyped(text, io.calledAs, options)}\n`)
    },
  }
  return { context, close: async () => void (await Promise.all([opened?.close(), connections?.close()])) }
}

function openClient(io: Io, flags: GlobalOptions): Client {
  const where = { flags, env: io.env, cwd: io.cwd }
  const found = findService(where)
  const credentials = chooseCredentials({ ...where, found, platformUser: platformUser(io, flags.as) })
  return makeClient({ apiUrl: found.apiUrl, credentials, timeoutMs: timeoutOf(io) })
}

/** How long one request may take. */
export function timeoutOf(io: Io): number {
  return durationOf(io.env['SVC_TIMEOUT'] || '15s', 'SVC_TIMEOUT')
}

const OPERATOR_NAME = /^[\x21-\x7e]{1,64}$/

/** The operator's name for operations of the platform: flag, environment, then who is signed in to this machine. */
export function platformUser(io: Io, flag: string | undefined): string {
  const name = flag ?? (io.env['SVC_PLATFORM_USER'] || systemUser())
  if (OPERATOR_NAME.test(name)) return name
  throw usageError(
    `${flag === undefined ? 'SVC_PLATFORM_USER' : '--as'}: "${name}" is no operator's name: 1 to 64 letters, digits and marks without spaces`,
    '--as ada',
  )
}

function systemUser(): string {
  try {
    const { username } = userInfo()
    return OPERATOR_NAME.test(username) ? username : 'operator'
  } catch {
    // A container may run under a number that has no name.
    return 'operator'
  }
}

function modeOfEnvironment(env: NodeJS.ProcessEnv): (typeof OUTPUT_MODES)[number] {
  const text = env['SVC_OUTPUT'] || 'table'
  const mode = OUTPUT_MODES.find((known) => known === text)
  if (mode === undefined) throw usageError(`SVC_OUTPUT: "${text}" is none of ${OUTPUT_MODES.join(', ')}`)
  return mode
}

function fieldsOf(json: true | string | undefined): string[] | undefined {
  if (json === undefined || json === true || json === '') return undefined
  return json.split(',').map((field) => field.trim())
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
