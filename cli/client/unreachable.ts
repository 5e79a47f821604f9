import { durationText } from '../../src/lib/duration.ts'
import { CliError, messageOf, codeOf } from '../base/errors.ts'

const CONNECTION_FAILURES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** Whether no connection came about, or it was cut. */
export function isConnectionFailure(error: unknown): boolean {
  return CONNECTION_FAILURES.has(codeOf(error))
}

/** Whether the network, or the name of the host, failed; anything else is a matter of this one request. */
export function isNetworkFailure(error: unknown): boolean {
  if (error instanceof AggregateError) return isNetworkFailure(error.errors[0])
  // What the operating system refuses names the call that failed.
  return isConnectionFailure(error) || (error instanceof Error && 'syscall' in error)
}

/** Requests that never left, for they can't be written as HTTP. */
const NOT_SENT = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED', 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH'])

const WHY: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  ENOTFOUND: 'there is no host of that name',
  EAI_AGAIN: "the name of the host can't be resolved now",
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_SOCKET: 'the connection was cut',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'the answer is too large to be one of svc',
}

export function whyUnreachable(error: unknown): string {
  return WHY[codeOf(error)] ?? messageOf(error)
}

type Called = { apiUrl: string; timeoutMs: number; signal?: AbortSignal | undefined }

export function unreachable(client: Called, error: unknown): CliError {
  if (client.signal?.aborted === true)
    return new CliError('REQUEST_STOPPED', `the request to ${client.apiUrl} was stopped before its answer came`, {
      cause: error,
    })
  if (NOT_SENT.has(codeOf(error)))
    return new CliError('REQUEST_NOT_SENT', `this request can't be sent: ${messageOf(error)}`, {
      cause: error,
    })
  const isTimeout = error instanceof Error && (error.name === 'TimeoutError' || codeOf(error).endsWith('_TIMEOUT'))
  if (isTimeout && codeOf(error) !== 'UND_ERR_CONNECT_TIMEOUT') {
    return new CliError(
      'REQUEST_TIMED_OUT',
      `${client.apiUrl} did not answer within ${durationText(client.timeoutMs)}`,
      {
        hint: 'svc status\nto wait longer: the same command with SVC_TIMEOUT=60s',
        retryable: true,
        cause: error,
      },
    )
  }
  return new CliError('SERVICE_UNREACHABLE', `${client.apiUrl} can't be reached: ${whyUnreachable(error)}`, {
    hint: 'svc status\nto start one: svc up',
    retryable: true,
    cause: error,
  })
}
