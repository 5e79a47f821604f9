import type { FieldError } from '../src/lib/errors.ts'
import { asTyped } from './called-as.ts'
import type { Given } from './called-as.ts'
import { EXIT } from './exit-codes.ts'
import type { ExitCode } from './exit-codes.ts'
import { paintFor } from './io.ts'
import type { ColorFlag, Io } from './io.ts'
import { printable } from './text.ts'

export type CliErrorOptions = {
  exit: ExitCode
  /** What to do next, in one line: a command to type where there is one. */
  hint?: string | undefined
  /** The HTTP status, where the API refused. */
  status?: number
  requestId?: string
  /** Whether the same command may succeed later. */
  retryable?: boolean
  docUrl?: string
  /** The broken fields of a request. */
  fields?: readonly FieldError[]
  /** What a program needs to go on, such as the id of what was made before the failure. */
  facts?: Readonly<Record<string, string>>
  cause?: unknown
}

/** An expected end of a command other than success: it names its exit code and, where it can, the next step. */
export class CliError extends Error {
  readonly code: string
  readonly options: CliErrorOptions

  constructor(code: string, message: string, options: CliErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'CliError'
    this.code = code
    this.options = options
  }
}

/** The same error with facts that the place of the failure did not know. */
export function withFacts(error: unknown, facts: Readonly<Record<string, string>>): unknown {
  if (!(error instanceof CliError)) return error
  return new CliError(error.code, error.message, {
    ...error.options,
    facts: { ...error.options.facts, ...facts },
    cause: error,
  })
}

/** The same error with another next step. */
export function withHint(error: CliError, hint: string): CliError {
  return new CliError(error.code, error.message, { ...error.options, hint, cause: error })
}

/** The command line is wrong: exit code 2. */
export function usageError(message: string, hint?: string): CliError {
  return new CliError('USAGE', message, { exit: EXIT.usage, hint })
}

export type ReportOptions = {
  json: boolean
  color: ColorFlag
  /** What the command line said of the service, which the next step has to say again. */
  given?: Given | undefined
}

/**
 * Tells the user what went wrong, on standard error, and returns the exit code. `json` writes one line of JSON for
 * programs; otherwise one line of text and one that begins with "Try:".
 */
export function reportError(io: Io, error: unknown, options: ReportOptions): ExitCode {
  const known = error instanceof CliError ? error : unexpected(error, io.env)
  const hint = known.options.hint === undefined ? undefined : asTyped(known.options.hint, io.calledAs, options.given)
  io.stderr.write(options.json ? `${JSON.stringify(toJson(known, hint))}\n` : toText(io, known, hint, options.color))
  return known.options.exit
}

function toJson(error: CliError, hint: string | undefined): unknown {
  const { status, requestId, retryable, docUrl, fields, facts } = error.options
  return {
    error: {
      code: error.code,
      message: error.message,
      status: status ?? null,
      hint: hint ?? null,
      request_id: requestId ?? null,
      retryable: retryable ?? false,
      ...(docUrl === undefined ? {} : { doc_url: docUrl }),
      ...(fields === undefined || fields.length === 0 ? {} : { errors: fields }),
      ...facts,
    },
  }
}

function toText(io: Io, error: CliError, hint: string | undefined, color: ColorFlag): string {
  const paint = paintFor(io, 'stderr', color)
  const { requestId, fields = [] } = error.options
  const request = requestId === undefined ? '' : ` [request ${requestId}]`
  const lines = [`${paint('red', 'Error:')} ${printable(error.message, 'lines')}${request}`]
  if (fields.length > 1) lines.push(...fields.map(({ path, message }) => `  ${printable(path)}: ${printable(message)}`))
  if (hint !== undefined) lines.push(`${paint('yellow', 'Try:')} ${printable(hint)}`)
  return `${lines.join('\n')}\n`
}

/** A failure nobody expected. The stack is for those who debug svc itself. */
function unexpected(error: unknown, env: NodeJS.ProcessEnv): CliError {
  const wantsStack = (env['SVC_DEBUG'] ?? '') !== ''
  const message = error instanceof Error ? (wantsStack ? (error.stack ?? error.message) : error.message) : String(error)
  return new CliError('UNEXPECTED', message, {
    exit: EXIT.failure,
    hint: wantsStack ? undefined : 'the same command with SVC_DEBUG=1 in the environment, to see where it failed',
  })
}
