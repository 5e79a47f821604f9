import type pg from 'pg'
import type { Entry } from './clients.ts'
import type { Receipt } from './shops.ts'

/** A fault: what it hit, and when. */
export type Fault = { kind: string; at: number; until: number }

/** An event that its shop had accepted, and that came again: when it was accepted, and when it came the next time. */
export type Repetition = { shop: number; first: number; second: number }

export type Verdict = {
  /** Payments that a shop was told of and the service does not know, or knows otherwise. */
  lostAcks: string[]
  /** Keys with two payments, reads that went back, answers that the contract does not have. */
  wrong: string[]
  /** Delivered by the service's account, and never received. */
  lostWebhooks: string[]
  /** Received, and of no delivery. */
  phantoms: string[]
  badSignatures: number
  /** Events that came with other bytes than before. */
  byteVariants: string[]
  duplicates: {
    explained: number
    unexplained: string[]
    /** In how many of a hundred acceptances a repetition would have been explained: the fewer, the more it says that all are. */
    explainablePercent: number
    seconds: Repetition[]
  }
}

const ORDER = ['Initiated', 'AwaitingAuthorisation', 'Authorised', 'Settled', 'Refunded']
/**
 * How long it takes to record an attempt that was accepted: a slow shop takes a second and a half to say so, the machine the
 * rest. A connection that was cut is made again within the other time.
 */
const RECORD_MS = 3_500
const RECONNECT_MS = 1_000

export async function judge(
  owner: pg.Client,
  {
    entries,
    receipts,
    faults,
    merchants,
  }: {
    entries: readonly Entry[]
    receipts: readonly Receipt[]
    faults: readonly Fault[]
    merchants: readonly string[]
  },
): Promise<Verdict> {
  const payments = await owner.query<{ id: string; merchant_id: string; key: string; amount: string; status: string }>(
    'select id, merchant_id, idempotency_key as key, trim_scale(gross_amount)::text as amount, status from payment_intents',
  )
  const byId = new Map(payments.rows.map((row) => [row.id, row]))
  const deliveries = await owner.query<{ event_id: string; status: string }>('select event_id, status from webhook_log')
  const known = new Map(deliveries.rows.map((row) => [row.event_id, row.status]))
  const byEvent = Map.groupBy(receipts, ({ eventId }) => eventId)
  const lostAcks: string[] = []
  const wrong: string[] = []
  for (const { ids, seen, key, shop, amount, odd, refundIds } of entries) {
    if (ids.size > 1) wrong.push(`${key}: ${[...ids].join(', ')}`)
    if (refundIds.size > 1) wrong.push(`${key}: refunds ${[...refundIds].join(', ')}`)
    if (odd.length > 0) wrong.push(`${key}: ${odd.join('; ')}`)
    for (const id of ids) {
      const row = byId.get(id)
      if (
        row === undefined ||
        row.key !== key ||
        row.merchant_id !== merchants[shop] ||
        Number(row.amount) !== Number(amount)
      )
        lostAcks.push(id)
      else if (!isMonotone([...seen, row.status])) wrong.push(`${id}: ${[...seen, row.status].join(' ')}`)
    }
  }
  const accepted = (eventId: string): readonly Receipt[] =>
    (byEvent.get(eventId) ?? []).filter((each) => each.isAccepted)
  const repeated = [...byEvent.keys()].filter((eventId) => accepted(eventId).length > 1)
  const causes = faults.filter(({ kind }) => BETWEEN.test(kind))
  const unexplained = repeated.filter((eventId) => !isExplained(accepted(eventId), causes))
  return {
    lostAcks,
    wrong,
    lostWebhooks: [...known]
      .filter(([id, status]) => status === 'DELIVERED' && accepted(id).length === 0)
      .map(([id]) => id),
    phantoms: [...byEvent.keys()].filter((id) => !known.has(id)),
    badSignatures: receipts.filter(({ isSigned }) => !isSigned).length,
    byteVariants: [...byEvent].filter(([, all]) => new Set(all.map(({ hash }) => hash)).size > 1).map(([id]) => id),
    duplicates: {
      explained: repeated.length - unexplained.length,
      unexplained,
      explainablePercent: percentOf(
        receipts.filter((each) => each.isAccepted),
        ({ at }) => hasCause(at, causes),
      ),
      seconds: [...byEvent.values()].flatMap((all) => pairsOf(all).filter(({ isAccepted }) => isAccepted)),
    },
  }
}

/** A status never goes back; Failed is an end. */
function isMonotone(statuses: readonly string[]): boolean {
  return statuses.every((status, index) => {
    const before = statuses[index - 1]
    if (before === undefined || before === status) return true
    if (before === 'Failed' || before === 'Refunded') return false
    return status === 'Failed' ? before !== 'Settled' : ORDER.indexOf(status) > ORDER.indexOf(before)
  })
}

function pairsOf(receipts: readonly Receipt[]): (Repetition & { isAccepted: boolean })[] {
  return receipts.slice(1).map(({ shop, at }, index) => ({
    shop,
    first: receipts[index]?.at ?? at,
    second: at,
    isAccepted: receipts[index]?.isAccepted === true,
  }))
}

/** What can come between the acceptance of a webhook and its record: a worker or the database is hit. */
const BETWEEN = /worker|database|backends|rotate key/

/** For each of its repetitions, something hit a worker or the database before the earlier acceptance can have been recorded. */
function isExplained(receipts: readonly Receipt[], causes: readonly Fault[]): boolean {
  return pairsOf(receipts).every(({ first }) => hasCause(first, causes))
}

function hasCause(acceptedAt: number, causes: readonly Fault[]): boolean {
  return causes.some(({ at, until }) => at <= acceptedAt + RECORD_MS && until + RECONNECT_MS >= acceptedAt)
}

function percentOf<T>(all: readonly T[], is: (each: T) => boolean): number {
  return all.length === 0 ? 0 : Math.round((100 * all.filter((each) => is(each)).length) / all.length)
}

/** What a run has to have had, and had none of: then it proves nothing. Undefined is not part of this run. */
export function idleParts(counts: Readonly<Record<string, number | undefined>>): string[] {
  return Object.keys(counts).filter((name) => counts[name] === 0)
}
