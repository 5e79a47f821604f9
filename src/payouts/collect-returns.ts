import type { App } from '../app.ts'
import { BankUnavailableError } from '../banks/connector.ts'
import type { BankConnector, PayoutReturns } from '../banks/connector.ts'
import { makePagedJob, rejectFailures, runEach } from '../lib/paged-job.ts'
import { announcePayout, movePayout } from './move.ts'
import { noteUnexpectedReturn, readReturnPosition, saveReturnPosition } from './move-sql.ts'
import type { PayoutRecord } from './record.ts'

const RETURNS_TIMEOUT_MS = 5_000

type PayingBank = BankConnector & Required<Pick<BankConnector, 'payouts'>>
type Returned = PayoutReturns['returns'][number]

const runPage = makePagedJob<Returned, string>()

/**
 * Reads which payouts the banks have returned, and moves their money back. The position is saved after the moves: a crash
 * repeats them, which changes nothing. It is not saved behind a return that fails, which is read again, after those
 * behind it. A job.
 */
export async function collectReturns(app: App): Promise<{ more: boolean }> {
  let more = false
  const failureCount = await runEach([...app.banks.values()].filter(isPaying), {
    work: async (bank) => {
      if (await collectFrom(app, bank)) more = true
    },
    onFailure: (error, { id }) =>
      app.log.error(
        { err: error, connector: id },
        'not all returned payouts of a bank were recorded; they are read again',
      ),
  })
  if (!more) rejectFailures(failureCount)
  return { more }
}

function isPaying(bank: BankConnector): bank is PayingBank {
  return bank.payouts !== undefined
}

/** Whether there was a return. */
async function collectFrom(app: App, bank: PayingBank): Promise<boolean> {
  const { next, hasFailures } = await runPage(bank, {
    list: async (after) => {
      const answer = await askReturns(app, bank, after ?? (await readReturnPosition(app.pool, bank.id)))
      return { items: answer?.returns ?? [], next: answer?.position }
    },
    work: (returned) => recordReturn(app, returned),
    onFailure: (error, { payoutId }) =>
      app.log.error({ err: error, payout_id: payoutId }, 'a returned payout could not be recorded; it is read again'),
  })
  if (next === undefined) return false
  if (!hasFailures) await saveReturnPosition(app.pool, { connector: bank.id, position: next })
  return true
}

async function askReturns(app: App, bank: PayingBank, after: string | undefined): Promise<PayoutReturns | undefined> {
  try {
    return await bank.payouts.returns({ after }, AbortSignal.timeout(RETURNS_TIMEOUT_MS))
  } catch (error) {
    if (!(error instanceof BankUnavailableError)) throw error
    app.log.warn({ err: error, connector: bank.id }, 'the bank did not answer; its returns are read later')
    return undefined
  }
}

/**
 * A return proves that the payout was made, also where the bank's answer to it never arrived. One of a payout that has failed
 * here moves no money, as the failure has moved it back already, and proves that the failure was wrong: operators see it.
 */
async function recordReturn(app: App, returned: Returned): Promise<void> {
  const { merchantId, payoutId: id, bankReference, failureCode } = returned
  const key = { merchantId, id, changedBy: 'BATCH_JOB' } as const
  const { moves, unexpectedStatus } = await app.pool.transaction(async (tx) => {
    const both = [
      await movePayout(tx, app, { ...key, from: 'SENT', on: 'confirmation', bankReference }),
      await movePayout(tx, app, { ...key, from: 'PAID', on: 'return', failureCode }),
    ]
    const moves = both.filter((payout): payout is PayoutRecord => payout !== null)
    return { moves, unexpectedStatus: moves.length === 0 ? await noteUnexpectedReturn(tx, { merchantId, id }) : null }
  })
  for (const moved of moves) announcePayout(app, moved)
  if (unexpectedStatus !== null)
    app.log.error(
      { payout_id: id, merchant_id: merchantId, bank_reference: bankReference, status: unexpectedStatus },
      'a bank has returned a payout that is not paid here',
    )
}
