import { CallFailed } from './api.ts'
import type { Api } from './api.ts'
import { rememberBank } from './bank-preference.ts'
import type { Connection } from './connection.ts'
import type { PaidPayment } from '../src/wire/checkout.ts'
import { SCREENS } from './flow.ts'
import type { FlowEvent, State } from './flow.ts'
import { POLL_MAX_MS, QR_WATCH_MAX_MS, poll } from './poll.ts'
import type { Timers } from './poll.ts'

export type EffectContext = {
  api: Api
  connection: Connection
  timers: Timers
  /** Whether the payer goes to the bank in the shop's tab, and comes back to the shop. */
  sameTab: boolean
  send(event: FlowEvent): void
  /** Returns the current state, which may have changed since a call was sent. */
  now(): State
}

/** A lost response is retried once, because the bank may have completed the payment meanwhile. */
const CANCEL_TRIES = 2

/** Starts the effects of a phase and returns the function that stops them. */
export function enterPhase(context: EffectContext, before: State, event: FlowEvent): (() => void) | undefined {
  const { connection, send } = context
  const state = context.now()
  connection.guard(state.phase === 'processing')
  switch (state.phase) {
    case 'creating':
      if (event.type === 'CHOOSE') {
        connection.emit('SVC_BANK_SELECTED', { bankId: event.bank.id, bankName: event.bank.name })
      }
      void create(context, state)
      return undefined
    case 'handover':
      // This page will be gone when the payment is complete.
      if (context.sameTab && state.bank) void rememberBank(state.bank)
      return watchPayment(context, { maxMs: QR_WATCH_MAX_MS, onEnd: () => send({ type: 'TIMED_OUT' }) })
    case 'cancelling':
    case 'switching':
      void cancel(context, state)
      return undefined
    case 'processing':
      return watchPayment(context, {
        maxMs: POLL_MAX_MS,
        onEnd: () => send({ type: 'TIMED_OUT' }),
        now: before.phase === 'waiting',
      })
    case 'waiting':
      return watchPayment(context, { maxMs: 0, now: true })
    case 'paid':
      succeed(connection, { ...state.payment, ...state.seen })
      if (state.bank) void rememberBank(state.bank)
      return undefined
    case 'paidBefore':
      return watchOrder(context)
    case 'unusable':
      reportProblem(connection, state)
      return undefined
    case 'failed':
      connection.emit('SVC_PAYMENT_FAILED', { errorCode: state.failure ?? 'UNKNOWN' })
      return undefined
    case 'left':
      leave(connection, before, event)
      return undefined
    default:
      return undefined
  }
}

async function create({ api, send, sameTab }: EffectContext, { bank }: State): Promise<void> {
  try {
    send({ type: 'CREATED', payment: await api.startPayment(bank?.id ?? '', sameTab) })
  } catch (error) {
    const failure = codeOf(error)
    send(failure === 'CHECKOUT_ALREADY_PAID' ? { type: 'PAID_BEFORE' } : { type: 'REFUSED', failure })
  }
}

async function cancel({ api, send }: EffectContext, { payment }: State): Promise<void> {
  for (let attempt = 0; payment && attempt < CANCEL_TRIES; attempt += 1) {
    try {
      await api.cancel(payment)
      break
    } catch (error) {
      // The bank was faster. Any other error does not block the payer: an unauthorised payment expires by itself.
      if (codeOf(error) === 'PAYMENT_NOT_CANCELLABLE') return send({ type: 'TOO_LATE' })
    }
  }
  send({ type: 'CANCELLED' })
}

type WatchOptions = { maxMs: number; onEnd?: () => void; now?: boolean }

/** Polls the payment until its phase ends, and when the payer returns from the bank's tab. */
function watchPayment(context: EffectContext, { maxMs, onEnd, now = false }: WatchOptions): () => void {
  let isOver = false
  const check = async (): Promise<void> => {
    const { payment } = context.now()
    const seen = payment && (await context.api.payment(payment).catch(codeOf))
    if (!seen || isOver) return
    reportConnection(context, seen === 'NETWORK')
    if (typeof seen !== 'string') reportPayment(context, seen)
  }
  const onOffline = (): void => reportConnection(context, true)
  const onOnline = (): void => void check()
  window.addEventListener('offline', onOffline)
  window.addEventListener('online', onOnline)
  const onVisible = (): void => {
    if (document.visibilityState === 'visible') void check()
  }
  document.addEventListener('visibilitychange', onVisible)
  const stop = maxMs > 0 ? poll({ check, maxMs, ...(onEnd && { onEnd }) }, context.timers) : undefined
  if (now) void check()
  return () => {
    isOver = true
    document.removeEventListener('visibilitychange', onVisible)
    window.removeEventListener('offline', onOffline)
    window.removeEventListener('online', onOnline)
    stop?.()
  }
}

/** Reports a lost connection once, and once that it is back. */
function reportConnection({ send, now }: EffectContext, isOffline: boolean): void {
  if (isOffline !== (now().isOffline ?? false)) send({ type: 'CONNECTION', isOffline })
}

/** The shop's developer gets the reason, and the command that helps where there is one. */
function reportProblem({ emit }: Connection, { problem }: State): void {
  const { code: errorCode = 'UNKNOWN', message = '' } = problem ?? {}
  emit('SVC_PAYMENT_FAILED', { errorCode, ...(message !== '' && { message }) })
  console.error(`svc checkout: ${errorCode} ${message}`)
}

/** Success is a settled payment: a bank may still reject an authorised one (contract §Payment status). */
function reportPayment({ send, now }: EffectContext, seen: NonNullable<State['seen']>): void {
  if (seen.status === 'Settled' || seen.status === 'Refunded') send({ type: 'SETTLED', seen })
  else if (seen.status === 'Failed') send({ type: 'FAILED', seen, failure: seen.failure?.code ?? 'UNKNOWN' })
  else if (seen.status === 'Authorised' && now().seen?.status !== 'Authorised') send({ type: 'AUTHORISED', seen })
}

function succeed(
  { emit }: Connection,
  { payment_id = '', end_to_end_id = '' }: Partial<Omit<PaidPayment, 'status'>>,
): void {
  const payload = { transactionId: payment_id, endToExternalId: end_to_end_id, endToEndId: end_to_end_id }
  emit('SVC_PAYMENT_SUCCESS', payload)
}

/** Another attempt has paid the order, or is about to: its success is the shop's success too. */
function watchOrder({ api, connection, timers }: EffectContext): () => void {
  let isOver = false
  const check = async (): Promise<void> => {
    const { paid_by: paid } = await api.checkout().catch(() => ({ paid_by: null }))
    if (isOver || paid === null || paid.status === 'Authorised') return
    end()
    succeed(connection, paid)
  }
  const stop = poll({ check, maxMs: POLL_MAX_MS }, timers)
  const end = (): void => {
    isOver = true
    stop()
  }
  void check()
  return end
}

function leave({ emit, leave: go }: Connection, before: State, { type }: FlowEvent): void {
  const { checkout, payment } = before
  if (!checkout) return
  const returnUrl = checkout.return_url
  const transactionId = payment?.payment_id ?? null
  const eventType = type === 'RETURN' ? 'SVC_RETURN' : 'SVC_PAYMENT_CANCELLED'
  emit(eventType, { transactionId, screen: SCREENS[before.phase], returnUrl })
  go(returnUrl)
}

export function codeOf(error: unknown): string {
  return error instanceof CallFailed ? error.code : 'UNKNOWN'
}
