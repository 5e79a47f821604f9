import type { Client } from 'pg'
import type { BenchOptions } from '../support/context.ts'
import { insertMerchant, insertPayments } from '../support/database.ts'
import { median } from '../support/numbers.ts'
import { printTable } from '../support/report.ts'
import type { RatioTarget } from '../support/report.ts'

const BATCH = 32
const BATCHES = 100

/** What a move of the settlement job writes, and what the bank's answer writes before it. */
const MOVES = {
  authorise: `'from_status', 'AwaitingAuthorisation', 'to_status', 'Authorised', 'changed_by', 'BANK_CALLBACK',
    'consent_from', 'AWAITING_AUTHORISATION', 'consent_to', 'AUTHORISED', 'settle_seconds', 0, 'event_type', 'payment.authorized'`,
  settle: `'from_status', 'Authorised', 'to_status', 'Settled', 'changed_by', 'BATCH_JOB', 'event_type', 'payment.settled'`,
} as const

/**
 * PostgreSQL's processor time of settling a payment, in batches as the job sends them, and of adding its entries to the
 * kept balances and to the lines of settlements afterwards; beside creating one.
 */
export async function benchSettle(bench: BenchOptions): Promise<RatioTarget[]> {
  const database = await bench.server.database('bench_settle')
  const merchant = await insertMerchant(database, 'bench-settle', 'https://shop.example/webhooks')
  const { owner } = database
  const costs = { create: [] as number[], settle: [] as number[], fold: [] as number[] }
  for (let turn = 0; turn < bench.rounds + 1; turn += 1) {
    let ids: string[] = []
    const create = await cpuUs(bench, async () => {
      ids = await insertPayments(database, merchant, BATCH * BATCHES)
    })
    await moveAll(owner, { merchantId: merchant.id, ids, move: 'authorise' })
    const settle = await cpuUs(bench, () => moveAll(owner, { merchantId: merchant.id, ids, move: 'settle' }))
    const fold = await cpuUs(bench, () => foldAll(owner))
    // The first turn warms up.
    if (turn === 0) continue
    costs.create.push(create)
    costs.settle.push(settle)
    costs.fold.push(fold)
  }
  const [create, settle, fold] = [median(costs.create), median(costs.settle), median(costs.fold)]
  printTable('Settle a payment', [
    ['step', 'CPU µs of PostgreSQL per payment'],
    ['create, 500 per call', create.toFixed(0)],
    [`settle, ${BATCH} per call`, settle.toFixed(0)],
    ['keep balances and lines, in the background', fold.toFixed(0)],
  ])
  return [
    { what: 'CPU: settle a payment : create it', ratio: settle / create, most: 2.6 },
    { what: 'CPU: keep balances and lines : settle', ratio: fold / settle, most: 0.1 },
  ]
}

async function cpuUs({ server }: BenchOptions, run: () => Promise<unknown>): Promise<number> {
  const before = await server.cpuMs()
  await run()
  return (((await server.cpuMs()) ?? Number.NaN) - (before ?? Number.NaN)) * (1_000 / (BATCH * BATCHES))
}

/** A move as the service sends it. @param merchantId and `id` as SQL */
export function moveItem(move: keyof typeof MOVES, { merchantId, id }: { merchantId: string; id: string }): string {
  return `json_build_object(
    'merchant_id', ${merchantId}, 'payment_id', ${id}, 'raw_payload', '{}', 'audit_id', uuidv7(), 'delivery_id', uuidv7(),
    'event_id', 'evt_' || gen_random_uuid(), 'test', false, ${MOVES[move]}
  )`
}

type Moved = { merchantId: string; ids: readonly string[]; move: keyof typeof MOVES }

/** Moves payments as the settlement job does. */
export async function moveAll(owner: Client, { merchantId, ids, move }: Moved): Promise<void> {
  for (let first = 0; first < ids.length; first += BATCH) {
    const { rows } = await owner.query<{ outcome: string }>({
      name: move,
      text: `select m.outcome from (
          select json_agg(${moveItem(move, { merchantId: '$1::text', id: 'id' })}) as items from unnest($2::uuid[]) id
        ) i, move_payments(i.items) m`,
      values: [merchantId, ids.slice(first, first + BATCH)],
    })
    if (rows.some(({ outcome }) => outcome !== 'MOVED')) throw new Error(`a payment did not ${move}`)
  }
}

/** Adds all entries of the ledger to the kept balances. */
export async function foldAll(owner: Client): Promise<void> {
  for (;;) {
    const { rows } = await owner.query<{ count: number }>('select fold_ledger(5000) as count')
    if (rows[0]?.count === 0) return
  }
}
