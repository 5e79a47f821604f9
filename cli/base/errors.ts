import type { FieldError } from '../../src/lib/errors.ts'
import { asTyped } from './command-hints.ts'
import type { ServiceFlags } from './command-hints.ts'
import { EXIT, exitOfError } from './exit-codes.ts'
import type { ExitCode } from './exit-codes.ts'
import { paintFor } from './io.ts'
import type { ColorFlag, Io, Paint } from './io.ts'
import { printable } from './text.ts'
import { wrapped, wrappedCommand } from './wrap.ts'

export type FlagFieldError = FieldError & { flag?: string }

export type CliErrorOptions = {
  /** That of its code where nothing is said. */
  exit?: ExitCode
  /** What to do next, each way in a line of its own: a command to type where there is one, behind what it is for. */
  hint?: string | undefined
  status?: number
  requestId?: string
  retryable?: boolean
  docUrl?: string
  fields?: readonly FlagFieldError[]
  /** What a program needs to go on, such as the id of what was made before the failure. */
  facts?: Readonly<Record<string, string>>
  cause?: unknown
}

/** An expected end of a command other than success: its code decides the exit code, and it names, where it can, the next step. */
export class CliError extends Error {
  readonly code: string
  readonly options: CliErrorOptions & { exit: ExitCode }

  constructor(code: string, message: string, options: CliErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'CliError'
    this.code = code
    this.options = { ...options, exit: options.exit ?? exitOfError(code) }
  }
}

export function withFacts(error: CliError, facts: Readonly<Record<string, string>>): CliError
export function withFacts(error: unknown, facts: Readonly<Record<string, string>>): unknown
export function withFacts(error: unknown, facts: Readonly<Record<string, string>>): unknown {
  if (!(error instanceof CliError)) return error
  return new CliError(error.code, error.message, {
    ...error.options,
    facts: { ...error.options.facts, ...facts },
    cause: error,
  })
}

export function withHint(error: CliError, hint: string): CliError {
  return new CliError(error.code, error.message, { ...error.options, hint, cause: error })
}

/** Whether the failure is what a restart of the service, or its database, looks like from here: worth waiting for. */
export function isPassing(error: unknown): error is CliError {
  if (!(error instanceof CliError)) return false
  return error.options.exit === EXIT.network || error.options.retryable === true || (error.options.status ?? 0) >= 500
}

/** The words of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The code of a failure of the system, such as ENOENT; empty where it has none. */
export function codeOf(error: unknown): string {
  if (error instanceof AggregateError) return codeOf(error.errors[0])
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

export function usageError(message: string, hint?: string): CliError {
  return new CliError('USAGE', message, { hint })
}

export type ReportOptions = {
  json: boolean
  color: ColorFlag
  /** What the command line said of the service, which the next step has to say again. */
  given?: ServiceFlags | undefined
}

export function joinedFields(fields: readonly FlagFieldError[]): string {
  return fields.map((field) => fieldText(field)).join('; ')
}

function fieldText({ path, flag, message }: FlagFieldError): string {
  return `${flag ?? (path || 'body')}: ${message}`
}

/**
 * Reports what went wrong, on standard error, and returns the exit code. `json` writes one line of JSON for programs;
 * otherwise a text and what begins with "Try:", broken between words where a terminal is narrow.
 */
export function reportError(io: Io, error: unknown, options: ReportOptions): ExitCode {
  const known = error instanceof CliError ? error : unexpected(error, io.env)
  // Each way by itself: that one of them names a profile says nothing of the others.
  const hint = known.options.hint
    ?.split('\n')
    .map((way) => asTyped(way, io.calledAs, options.given))
    .join('\n')
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
      hint: hint?.replaceAll('\n', '; ') ?? null,
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
  const width = io.stderr.isTTY && io.stderr.columns > 0 ? io.stderr.columns : Infinity
  const isList = fields.length > 1 && error.message === joinedFields(fields)
  const message = isList ? `${fields.length} values are wrong` : error.message
  const [first = '', ...rest] = withBelow(`Error: ${printable(message, 'lines')}`, width)
  const lines = [first.replace('Error:', paint('red', 'Error:')), ...rest]
  if (fields.length > 1) lines.push(...fields.flatMap((field) => wrapped(printable(fieldText(field)), width, '  ')))
  if (hint !== undefined) lines.push(...hintLines(printable(hint, 'lines'), width, paint))
  if (requestId !== undefined) lines.push(paint('dim', `[request ${printable(requestId)}]`))
  return `${lines.join('\n')}\n`
}

function withBelow(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => {
    const [first = '', ...rest] = wrapped(line, width)
    return rest.length === 0 ? [first] : [first, ...wrapped(rest.join(' '), width, '  ')]
  })
}

const TRY = 'Try: '

function hintLines(hint: string, width: number, paint: Paint): string[] {
  const lines = hint
    .split('\n')
    .flatMap((way) => (isCommand(way) ? wrappedCommand : wrapped)(way, width - TRY.length))
    .map((line) => `${' '.repeat(TRY.length)}${line}`)
  return lines.map((line, index) => (index === 0 ? `${paint('yellow', 'Try:')} ${line.slice(TRY.length)}` : line))
}

function isCommand(text: string): boolean {
  return /^(npx )?svc /.test(text) && !/[,;:] | or /.test(text.replaceAll(/"[^"]*"/g, ''))
}

/** An unexpected failure. The stack is for those who debug svc itself. */
function unexpected(error: unknown, env: NodeJS.ProcessEnv): CliError {
  const wantsStack = (env['SVC_DEBUG'] ?? '') !== ''
  const message = error instanceof Error ? (wantsStack ? (error.stack ?? error.message) : error.message) : String(error)
  return new CliError('UNEXPECTED', message, {
    hint: wantsStack ? undefined : 'the same command with SVC_DEBUG=1 in the environment, to see where it failed',
  })
}
