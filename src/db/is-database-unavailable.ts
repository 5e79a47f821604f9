import {
  BackendTerminatedError,
  BackendTerminatedUnexpectedlyError,
  ConnectionError,
  IdleTransactionTimeoutError,
  StatementCancelledError,
  StatementTimeoutError,
  UnexpectedStateError,
} from 'slonik'
import { BatchUnavailableError } from './batcher.ts'
import { DatabaseSilentError } from './pool.ts'
import { DatabaseBusyError } from './turns.ts'

/** Errors that a repeat may cure. slonik gives its errors no names of their own, so their classes are compared. */
const UNAVAILABLE = [
  BatchUnavailableError,
  DatabaseBusyError,
  DatabaseSilentError,
  BackendTerminatedError,
  BackendTerminatedUnexpectedlyError,
  ConnectionError,
  IdleTransactionTimeoutError,
  StatementCancelledError,
  StatementTimeoutError,
  // The pool is about to close, or lost the connection that it was about to use.
  UnexpectedStateError,
]

/**
 * The network's codes, and the server's for: stopping, overloaded, a standby, a lock or a transaction that timed out or
 * conflicted.
 */
const UNAVAILABLE_CODES =
  /^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|57P|57014|08|53|25006|25P03|55P03|40001|40P01)/

/** What pg and slonik's driver say of a connection that is lost or cannot be made: these errors have neither class nor code. */
const UNAVAILABLE_MESSAGES =
  /^(timeout expired|Query read timeout|Connection terminated|Client has encountered a connection error|Client was closed|Client is (pending destroy|destroyed))/

/** Whether an error means that the database gave no answer, as opposed to a wrong one: a repeat may succeed. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (UNAVAILABLE.some((kind) => error instanceof kind)) return true
  // A Unix socket that is not there has the code of a missing file.
  if ('syscall' in error && error.syscall === 'connect') return true
  if ('code' in error && typeof error.code === 'string') return UNAVAILABLE_CODES.test(error.code)
  if (UNAVAILABLE_MESSAGES.test(error.message)) return true
  if (error instanceof AggregateError) return error.errors.some(isDatabaseUnavailable)
  return isDatabaseUnavailable(error.cause)
}
