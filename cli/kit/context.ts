import type { Command } from 'commander'
import { parseDuration } from '../../src/lib/duration.ts'
import { chooseCredentials } from '../client/auth/choose.ts'
import type { Http } from '../client/auth/credentials.ts'
import type { ServiceFlags } from '../base/command-hints.ts'
import { makeClient, makeConnections } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { debugLine, isDebugging } from '../base/debug.ts'
import { CliError, withHint, messageOf } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import type { ExitCode } from '../base/exit-codes.ts'
import { withHelp } from './flag-errors.ts'
import { findService } from '../client/find-service.ts'
import type { FindOptions } from '../client/find-service.ts'
import type { Io } from '../base/io.ts'
import { withoutCredentials } from '../base/service-address.ts'
import { platformUser } from '../client/operator-name.ts'
import type { Pager } from '../output/pager.ts'
import { makePlainContext } from './plain-context.ts'
import type { PlainContext } from './plain-context.ts'
import { stateDirOf } from '../client/service-state.ts'
import { printable } from '../base/text.ts'

export type Context = PlainContext & {
  stateDir: string
  /** The service's address as the flag or SVC_API_URL names it; undefined when neither does. */
  namedUrl: string | undefined
  /** What the command line says of the service and of who to act as. */
  flags: FindOptions['flags']
  /** The client of the service that flags, environment or state directory name. */
  client(): Client
  /** Connections for what comes before there is a client: signing in. */
  http(): Http
}

/** A command's exit code; nothing is success. */
export type CommandResult = ExitCode | void

export type Runtime = {
  io: Io
  exitCode: ExitCode
  /** What the command line said of service and identity, once it has been understood: next steps repeat it. */
  given?: ServiceFlags
  /** What shows results that are longer than the terminal; without it they are printed as they are. */
  pager?: Pager
}

/** Runs a command in a context of its own: errors are in terms of its flags, and its connections are closed. */
export async function inContext(
  runtime: Runtime,
  command: Command,
  run: (context: Context) => Promise<CommandResult> | CommandResult,
): Promise<void> {
  const given = { ...command.optsWithGlobals(), customer: actingCustomer(command) }
  const { context, close } = makeContext(runtime, given)
  runtime.given = context.flags
  try {
    runtime.exitCode = (await run(context)) ?? EXIT.ok
  } catch (error) {
    throw withHelp(error, command)
  } finally {
    await close()
  }
}

/** The customer to act as, which svc ob takes above its commands; a flag of this name of a command itself is its own. */
function actingCustomer({ parent }: Command): unknown {
  return parent?.optsWithGlobals()['customer']
}

function makeContext(runtime: Runtime, given: object): { context: Context; close(): Promise<void> } {
  const { io } = runtime
  const { context: plain, options } = makePlainContext(runtime, given)
  let opened: Client | undefined
  let connections: ReturnType<typeof makeConnections> | undefined
  const context: Context = {
    ...plain,
    stateDir: stateDirOf({ flag: options.stateDir, env: io.env, cwd: io.cwd }),
    get namedUrl() {
      return options.apiUrl ?? (withoutCredentials(io.env['SVC_API_URL'] ?? '', 'SVC_API_URL') || undefined)
    },
    flags: options,
    client() {
      opened ??= openClient(io, options)
      return opened
    },
    http() {
      connections ??= makeConnections(timeoutOf(io), traceOf(io))
      return connections
    },
  }
  return { context, close: async () => void (await Promise.all([opened?.close(), connections?.close()])) }
}

export function openClient(io: Io, flags: FindOptions['flags']): Client {
  const where = { flags, env: io.env, cwd: io.cwd }
  const found = findService(where)
  const credentials = chooseCredentials({ ...where, found, platformUser: platformUser(io) })
  const { chosen } = credentials
  const how =
    chosen === undefined ? 'no identity that is known' : `${chosen.by}${chosen.name ? ` (${chosen.name})` : ''}`
  debugLine(io, 'auth', `acting by ${printable(how)} at ${printable(found.apiUrl)}`)
  return makeClient({ apiUrl: found.apiUrl, credentials, timeoutMs: timeoutOf(io) }, traceOf(io))
}

function traceOf(io: Io): ((line: string) => void) | undefined {
  return isDebugging(io.env, 'api') ? (line) => debugLine(io, 'api', printable(line)) : undefined
}

export function timeoutOf(io: Io): number {
  const text = io.env['SVC_TIMEOUT'] || '15s'
  const origin = io.origins?.get('SVC_TIMEOUT')
  try {
    return durationOf(text, origin === undefined ? 'SVC_TIMEOUT' : `SVC_TIMEOUT, of ${origin}`)
  } catch (error) {
    throw error instanceof CliError ? withHint(error, 'SVC_TIMEOUT=15s, or unset SVC_TIMEOUT') : error
  }
}

/**
 * Reads a duration such as 30s into milliseconds.
 * @throws {CliError} naming the flag or variable it came from
 */
export function durationOf(text: string, source: string): number {
  try {
    return parseDuration(text)
  } catch (error) {
    throw new CliError('USAGE', `${source}: ${messageOf(error)}`)
  }
}
