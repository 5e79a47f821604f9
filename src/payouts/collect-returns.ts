import type { App } from '../app.ts'
import { BankUnavailableError } from '../banks/connector.ts'
import type { BankConnector, PayoutReturns } from '../banks/connector.ts'
import { announcePayout, movePayout } from './move.ts'
import { readReturnPosition, saveReturnPosition } from './move-sql.ts'
import type { PayoutRecord } from './record.ts'

const RETURNS_TIMEOUT_MS = 5_000

type PayingBank = Required<Pick<BankConnector, 'id' | 'payouts'>>

/**
 * Reads which payouts the banks have returned, and moves their money back. The position is saved after the moves: a crash
 * repeats them, which changes nothing. A job.
 */
export async function collectReturns(app: App): Promise<{ more: boolean }> {
  let more = false
  for (const { id, payouts } of app.banks.values())
    if (payouts !== undefined && (await collectFrom(app, { id, payouts }))) more = true
  return { more }
}

/** Whether there was a return. */
async function collectFrom(app: App, bank: PayingBank): Promise<boolean> {
  const after = await readReturnPosition(app.pool, bank.id)
  const answer = await askReturns(app, bank, after)
  if (answer?.position === undefined) return false
  for (const returned of answer.returns) await recordReturn(app, returned)
  await saveReturnPosition(app.pool, { connector: bank.id, position: answer.position })
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

/** A return proves that the payout was made, also where the bank's answer to it never arrived. */
async function recordReturn(app: App, returned: PayoutReturns['returns'][number]): Promise<void> {
  const { merchantId, payoutId: id, bankReference, failureCode } = returned
  const key = { merchantId, id, changedBy: 'BATCH_JOB' } as const
  const moves = await app.pool.transaction(async (tx) => [
    await movePayout(tx, app, { ...key, from: 'SENT', on: 'confirmation', bankReference }),
    await movePayout(tx, app, { ...key, from: 'PAID', on: 'return', failureCode }),
  ])
  for (const moved of moves.filter((payout): payout is PayoutRecord => payout !== null)) announcePayout(app, moved)
}
