import type { App } from '../app.ts'
import { BankUnavailableError, bankOf } from '../banks/connector.ts'
import type { PayoutOrder, PayoutOutcome } from '../banks/connector.ts'
import { openNumbers } from '../bank-accounts/numbers.ts'
import { findBankAccount } from '../bank-accounts/sql.ts'
import { makeConcurrentBatches } from '../lib/concurrent-batches.ts'
import { findMerchant } from '../merchants/sql.ts'
import { announcePayout, movePayout } from './move.ts'
import type { PayoutMove } from './move.ts'
import { claimPayouts, lockReadiness, unlockPayout } from './move-sql.ts'
import type { PayoutRecord } from './record.ts'

/** How long the bank may take. */
const PAYOUT_TIMEOUT_MS = 5_000

/** Longer than that, and how long the payout of a worker that dies is left alone. */
const LEASE_SECONDS = 10

const PAYOUTS_MAX = 50

const runBatch = makeConcurrentBatches<PayoutRecord>()

/**
 * Sends payouts through their bank's API, and asks again about those that a crash or the bank's silence left SENT. A job:
 * one slow bank does not keep the others waiting. Payouts that go by file are not sent here.
 * @param signal ends the job after the calls in progress; without one, it ends when all due payouts are processed
 */
export function sendPayouts(app: App, signal?: AbortSignal): Promise<{ more: boolean }> {
  return runBatch(app, {
    limit: PAYOUTS_MAX,
    claim: (limit) => claimPayouts(app.pool, { limit, leaseSeconds: LEASE_SECONDS }),
    work: (payout) => sendPayout(app, payout),
    failed: (error) => app.log.error({ err: error }, 'a payout could not be sent; it is tried again'),
    signal,
  })
}

/**
 * Marks a payout as SENT, asks the bank outside any transaction, and records its answer. From the mark on the bank may
 * have the payout, so the same is asked until it answers, even after a hold: the bank knows the payout by its id.
 */
async function sendPayout(app: App, payout: PayoutRecord): Promise<void> {
  const order = await orderOf(app, payout)
  const isSent = payout.status === 'SENT' || (await markAsSent(app, payout))
  const answer = isSent ? await askBank(app, payout, order) : undefined
  // The bank has made a transfer under this id, with other terms: the money must not go back to be paid again.
  if (answer?.outcome === 'rejected' && answer.failureCode === 'DUPLICATE_PAYMENT')
    throw new Error(`the bank knows the payout ${payout.id} with other terms; it stays SENT`)
  const key = { ...keyOf(payout), from: 'SENT', changedBy: 'BATCH_JOB' } as const
  if (answer === undefined) await unlockPayout(app.pool, key)
  else if (answer.outcome === 'executed')
    await move(app, { ...key, on: 'confirmation', bankReference: answer.bankReference })
  else await move(app, { ...key, on: 'rejection', failureCode: answer.failureCode })
}

/** False where it is not sent: the merchant was held or its account disabled meanwhile, or another process sends it. */
async function markAsSent(app: App, payout: PayoutRecord): Promise<boolean> {
  const key = { ...keyOf(payout), from: 'CREATED', changedBy: 'BATCH_JOB' } as const
  const moved = await app.pool.transaction(async (tx) => {
    const ready = await lockReadiness(tx, key)
    if (ready.status !== 'CREATED' || !ready.may_be_paid) return null
    if (ready.is_account_active) return movePayout(tx, app, { ...key, on: 'sending' })
    return movePayout(tx, app, { ...key, on: 'rejection', failureCode: 'CANCELLED_BY_MERCHANT' })
  })
  if (moved !== null) announcePayout(app, moved)
  return moved?.status === 'SENT'
}

async function orderOf(app: App, payout: PayoutRecord): Promise<PayoutOrder> {
  const { merchant_id: merchantId, bank_account_id: accountId } = payout
  const [account, merchant] = await Promise.all([
    findBankAccount(app.pool, { merchantId, id: accountId }),
    findMerchant(app.pool, merchantId),
  ])
  if (account === null || merchant === null) throw new Error('the account of a payout is missing')
  return {
    payoutId: payout.id,
    endToEndId: payout.end_to_end_id,
    merchantId,
    payerName: merchant.trading_name,
    amount: payout.amount,
    currency: payout.currency,
    account: { holderName: account.account_holder_name, ...openNumbers(app, account) },
  }
}

async function askBank(app: App, payout: PayoutRecord, order: PayoutOrder): Promise<PayoutOutcome | undefined> {
  try {
    const { payouts } = bankOf(app.banks, payout.connector)
    if (payouts === undefined) throw new Error(`${payout.connector} makes no payouts`)
    return await payouts.send(order, AbortSignal.timeout(PAYOUT_TIMEOUT_MS))
  } catch (error) {
    if (!(error instanceof BankUnavailableError)) throw error
    app.log.warn({ err: error, payout_id: payout.id }, 'the bank did not answer; the payout stays SENT')
    return undefined
  }
}

async function move(app: App, payoutMove: PayoutMove): Promise<void> {
  const moved = await app.pool.transaction((tx) => movePayout(tx, app, payoutMove))
  if (moved !== null) announcePayout(app, moved)
}

function keyOf({ merchant_id: merchantId, id }: PayoutRecord): { merchantId: string; id: string } {
  return { merchantId, id }
}
