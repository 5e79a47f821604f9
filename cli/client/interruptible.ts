import type { Client } from './call.ts'
import { CliError } from '../base/errors.ts'
import { exitOfSignal } from '../base/exit-codes.ts'
import { onStopSignals } from '../base/signals.ts'

/**
 * Does work that must not end in silence when a signal asks the process to end: its requests are ended, and it cleans
 * up and says what it had begun. Nothing in it may wait for a person, whose Ctrl+C it would keep to itself.
 * @param work gets a client whose requests the signal ends; the facts of its error are reported with the interruption
 * @param show the command that shows a payment that it has made
 * @throws {CliError} INTERRUPTED, exit code 130 or 143; otherwise what the work throws
 */
export async function stoppable<T>(
  client: Client,
  work: (client: Client) => Promise<T>,
  show = 'svc payments show',
): Promise<T> {
  const stop = new AbortController()
  const removeHandlers = onStopSignals((signal) => stop.abort(signal))
  try {
    return await work({ ...client, signal: stop.signal })
  } catch (error) {
    if (!stop.signal.aborted) throw error
    throw interrupted(stop.signal.reason, error, show)
  } finally {
    removeHandlers()
  }
}

function interrupted(reason: unknown, error: unknown, show: string): CliError {
  const facts = error instanceof CliError ? (error.options.facts ?? {}) : {}
  return new CliError('INTERRUPTED', reason === 'SIGINT' ? 'interrupted' : `ended by ${String(reason)}`, {
    exit: exitOfSignal(reason),
    hint: wayOn(facts, show),
    facts,
    cause: error,
  })
}

function wayOn(
  { payment_id: payment, idempotency_key: key }: Readonly<Record<string, string>>,
  show: string,
): string | undefined {
  if (payment !== undefined) return `${show} ${payment}`
  return key === undefined ? undefined : `the same command with --idempotency-key ${key}, which makes it once`
}
