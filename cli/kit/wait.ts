import { setTimeout as delay } from 'node:timers/promises'
import { durationText } from '../../src/lib/duration.ts'
import { getPayment } from '../../src/wire/payments.ts'
import type { Payment, PaymentStatus, PayerView } from '../../src/wire/payments.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { CliError } from '../base/errors.ts'

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 1_000

/** What may still come after each status. The test holds it against the service's own transition table. */
export const STILL_POSSIBLE: Readonly<Record<PaymentStatus, readonly PaymentStatus[]>> = {
  Initiated: ['AwaitingAuthorisation', 'Authorised', 'Settled', 'Failed', 'Refunded'],
  AwaitingAuthorisation: ['Authorised', 'Settled', 'Failed', 'Refunded'],
  Authorised: ['Settled', 'Failed', 'Refunded'],
  Settled: ['Refunded'],
  Failed: [],
  Refunded: [],
}

export type WaitOptions = {
  paymentId: string
  timeoutMs: number
  /** Called with every answer, to show progress. */
  onProgress?: (payment: Payment | PayerView) => void
}

/** The payment as it was last seen, and what is wrong with that: exit code 3 or 9. */
export type WaitResult = { payment: Payment | PayerView; problem?: CliError }

/**
 * Waits until the payment is in the status, or has been in it on its way to another. The problem is exit code 3 as soon
 * as the status can no longer come, and 9 when the time is over.
 */
export async function waitForStatus(
  client: Client,
  options: WaitOptions & { status: PaymentStatus },
): Promise<WaitResult> {
  const { status: wanted } = options
  return waitForPayment(client, { ...options, wanted }, (payment) => {
    if (payment.status === wanted || payment.status_history.some((change) => change.new_status === wanted))
      return 'done'
    if (STILL_POSSIBLE[payment.status].includes(wanted)) return 'open'
    const why = payment.failure === null ? '' : ` (${payment.failure.code}: ${payment.failure.reason})`
    return new CliError('STATE_IMPOSSIBLE', `the payment is ${payment.status}${why}; it can no longer be ${wanted}`, {
      hint: `svc payments show ${payment.payment_id}`,
    })
  })
}

/** Polls the payment until it is judged. `wanted` is what the time-out's message says was awaited. */
async function waitForPayment(
  client: Client,
  options: WaitOptions & { wanted: string },
  judge: (payment: Payment | PayerView) => 'done' | 'open' | CliError,
): Promise<WaitResult> {
  const look = async (): Promise<{ payment: Payment | PayerView; verdict: ReturnType<typeof judge> }> => {
    const { body: payment } = await call(client, getPayment, { params: { id: options.paymentId } })
    options.onProgress?.(payment)
    return { payment, verdict: judge(payment) }
  }
  const { payment, verdict } = await askUntil(look, (last) => last.verdict !== 'open', options.timeoutMs, client.signal)
  if (verdict === 'done') return { payment }
  return { payment, problem: verdict === 'open' ? timedOut(payment, options) : verdict }
}

/**
 * Asks again, less and less often, until the answer is the awaited one or the time is over. Returns the last answer.
 * @param signal ends a pause at once, so that the caller notices
 */
export async function askUntil<Answer>(
  ask: () => Promise<Answer>,
  isAwaited: (answer: Answer) => boolean,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Answer> {
  const deadline = performance.now() + timeoutMs
  let pauseMs = FIRST_PAUSE_MS
  for (;;) {
    const answer = await ask()
    if (isAwaited(answer) || performance.now() + pauseMs > deadline) return answer
    await delay(pauseMs, undefined, { signal }).catch(() => undefined)
    pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 1.5)
  }
}

function timedOut(
  payment: Payment | PayerView,
  { timeoutMs, wanted }: { timeoutMs: number; wanted: string },
): CliError {
  return new CliError(
    'WAIT_TIMED_OUT',
    `the payment is still ${payment.status} after ${durationText(timeoutMs)}; awaited was ${wanted}`,
    {
      hint: `svc payments show ${payment.payment_id}\nto wait longer: the same command with a longer --timeout`,
      retryable: true,
    },
  )
}
