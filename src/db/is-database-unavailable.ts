import { BatchUnavailableError } from './batcher.ts'
import { DatabaseSilentError } from './pool.ts'

/** Names of slonik's errors for a connection that is lost or cannot be made. */
const UNAVAILABLE =
  /^(ConnectionError|BackendTerminatedError|BackendTerminatedUnexpectedlyError|UnexpectedStateError|StatementTimeoutError)$/

/** The network's codes, and the server's for: stopping, overloaded, a lock or a transaction that timed out or conflicted. */
const UNAVAILABLE_CODES = /^(ECONN|EPIPE|ETIMEDOUT|57P|57014|08|53|55P03|40001|40P01)/

/** Whether an error means that the database gave no answer, as opposed to a wrong one: a repeat may succeed. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (error instanceof BatchUnavailableError || error instanceof DatabaseSilentError) return true
  if (!(error instanceof Error)) return false
  if (UNAVAILABLE.test(error.name)) return true
  if ('code' in error && typeof error.code === 'string' && UNAVAILABLE_CODES.test(error.code)) return true
  return isDatabaseUnavailable(error.cause)
}
