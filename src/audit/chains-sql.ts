import type { CommonQueryMethods, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import type { AuditChain, AuditRow } from '../lib/audit-chain.ts'

/** The columns of a row as the texts that its hash covers (lib/audit-chain.ts computes the hash again from them). */
const COLUMNS: Readonly<Record<AuditChain, FragmentSqlToken>> = {
  operator_actions: sql.fragment`
    e.ordinal::text, e.id::text, actor_id, actor_name, actor_role, action, merchant_id::text, subject_id, reason,
    before::text, after::text, prev_hash::text, action_hash::text
  `,
  payment_events: sql.fragment`
    e.ordinal::text, e.id::text, merchant_id::text, payment_intent_id::text, previous_status::text, new_status::text,
    changed_by::text, raw_payload::text, raw_payload_sha256::text, prev_hash::text, event_hash::text,
    gross_amount::text, fee_amount::text, net_amount::text, currency::text
  `,
  refund_events: sql.fragment`
    e.ordinal::text, e.id::text, merchant_id::text, refund_id::text, previous_status::text, new_status::text,
    prev_hash::text, event_hash::text, payment_intent_id::text, amount::text, currency::text
  `,
  dispute_events: sql.fragment`
    e.ordinal::text, e.id::text, merchant_id::text, dispute_id::text, previous_status::text, new_status::text,
    event::text, changed_by::text, actor_id, actor_name, note, prev_hash::text, event_hash::text,
    payment_intent_id::text, gross_amount::text, currency::text
  `,
  payout_events: sql.fragment`
    e.ordinal::text, e.id::text, merchant_id::text, payout_id::text, previous_status::text, new_status::text, changed_by,
    prev_hash::text, event_hash::text, bank_account_id::text, amount::text, currency::text
  `,
  ledger_entries: sql.fragment`
    e.ordinal::text, merchant_id::text, movement::text, subject_id::text, debit::text, credit::text, amount::text,
    currency::text, entry_hash::text
  `,
  checkpoints: sql.fragment`
    e.ordinal::text, e.id::text, chain, up_to_ordinal::text, row_count::text, digest::text, prev_hash::text,
    checkpoint_hash::text
  `,
}

const TABLES: Readonly<Record<AuditChain, FragmentSqlToken>> = {
  operator_actions: sql.fragment`operator_actions`,
  payment_events: sql.fragment`payment_events`,
  refund_events: sql.fragment`refund_events`,
  dispute_events: sql.fragment`dispute_events`,
  payout_events: sql.fragment`payout_events`,
  ledger_entries: sql.fragment`ledger_entries`,
  checkpoints: sql.fragment`audit_checkpoints`,
}

/** The size of a row's columns of variable length, in bytes. */
const SIZES: Readonly<Record<AuditChain, FragmentSqlToken>> = {
  operator_actions: sql.fragment`octet_length(concat(reason, before, after))`,
  payment_events: sql.fragment`octet_length(raw_payload::text)`,
  refund_events: sql.fragment`0`,
  dispute_events: sql.fragment`octet_length(coalesce(note, ''))`,
  payout_events: sql.fragment`0`,
  ledger_entries: sql.fragment`0`,
  checkpoints: sql.fragment`0`,
}

/**
 * Whether no row with a lower ordinal can still appear. Operator actions and checkpoints are numbered under a lock that is
 * held until they are committed; the events of payments and disputes are numbered while other transactions run, which
 * live for seconds. Sealed rows are settled, even if the clock has been set back since.
 */
function isSettled(chain: AuditChain, ageSeconds: number): FragmentSqlToken {
  if (chain === 'operator_actions' || chain === 'checkpoints') return sql.fragment`true`
  return sql.fragment`
    e.created_at < now() - make_interval(secs => ${ageSeconds})
    or e.ordinal <= (select max(up_to_ordinal) from audit_checkpoints where chain = ${chain}) is true
  `
}

/**
 * The own status of the payment, refund or dispute, beside the last of its events. A move writes both in one transaction,
 * so that within one statement they never differ, even while others move.
 */
const STANDINGS: Readonly<Record<AuditChain, FragmentSqlToken>> = {
  operator_actions: sql.fragment``,
  payment_events: sql.fragment`
    case when not exists (
      select from payment_events l
      where l.merchant_id = e.merchant_id and l.payment_intent_id = e.payment_intent_id and l.ordinal > e.ordinal
    ) then coalesce((
      select p.status::text from payment_intents p where p.merchant_id = e.merchant_id and p.id = e.payment_intent_id
    ), 'gone') end as standing,
    standing_merchant_id, standing_gross_amount, standing_fee_amount, standing_net_amount, standing_currency,
  `,
  refund_events: sql.fragment`
    case when not exists (
      select from refund_events l
      where l.merchant_id = e.merchant_id and l.refund_id = e.refund_id and l.ordinal > e.ordinal
    ) then coalesce((
      select r.status::text from payment_refunds r where r.merchant_id = e.merchant_id and r.id = e.refund_id
    ), 'gone') end as standing,
    standing_payment_intent_id, standing_amount, standing_currency,
  `,
  dispute_events: sql.fragment`
    case when not exists (
      select from dispute_events l
      where l.merchant_id = e.merchant_id and l.dispute_id = e.dispute_id and l.ordinal > e.ordinal
    ) then coalesce((
      select d.status::text from disputes d where d.merchant_id = e.merchant_id and d.id = e.dispute_id
    ), 'gone') end as standing,
    standing_merchant_id, standing_payment_intent_id, standing_gross_amount, standing_currency,
  `,
  payout_events: sql.fragment`
    case when not exists (
      select from payout_events l
      where l.merchant_id = e.merchant_id and l.payout_id = e.payout_id and l.ordinal > e.ordinal
    ) then coalesce((
      select p.status::text from payouts p where p.merchant_id = e.merchant_id and p.id = e.payout_id
    ), 'gone') end as standing,
    standing_bank_account_id, standing_amount, standing_currency,
  `,
  ledger_entries: sql.fragment``,
  checkpoints: sql.fragment``,
}

/**
 * The current values that a first event seals, beside that event. They never change, so no move can come between. By id
 * alone, so that a payment that was given to another merchant is found; lateral, because they must be looked up by key
 * whatever the plan.
 */
const SEALED_VALUES: Readonly<Record<AuditChain, FragmentSqlToken>> = {
  operator_actions: sql.fragment``,
  payment_events: sql.fragment`
    left join lateral (
      select p.merchant_id::text as standing_merchant_id, p.gross_amount::text as standing_gross_amount,
        p.fee_amount::text as standing_fee_amount, p.net_amount::text as standing_net_amount,
        p.currency::text as standing_currency
      from payment_intents p
      where p.id = e.payment_intent_id
      limit 1
    ) now on e.previous_status is null
  `,
  refund_events: sql.fragment`
    left join lateral (
      select r.payment_intent_id::text as standing_payment_intent_id, r.amount::text as standing_amount,
        p.currency::text as standing_currency
      from payment_refunds r
      left join payment_intents p on p.id = r.payment_intent_id
      where r.merchant_id = e.merchant_id and r.id = e.refund_id
      limit 1
    ) now on e.previous_status is null
  `,
  dispute_events: sql.fragment`
    left join lateral (
      select d.merchant_id::text as standing_merchant_id, d.payment_intent_id::text as standing_payment_intent_id,
        p.gross_amount::text as standing_gross_amount, p.currency::text as standing_currency
      from disputes d
      left join payment_intents p on p.id = d.payment_intent_id
      where d.id = e.dispute_id
      limit 1
    ) now on e.previous_status is null
  `,
  payout_events: sql.fragment`
    left join lateral (
      select p.bank_account_id::text as standing_bank_account_id, p.amount::text as standing_amount,
        p.currency::text as standing_currency
      from payouts p
      where p.merchant_id = e.merchant_id and p.id = e.payout_id
      limit 1
    ) now on e.previous_status is null
  `,
  ledger_entries: sql.fragment``,
  checkpoints: sql.fragment``,
}

const ExportedRow = z.object({ more: z.boolean() }).catchall(z.string().nullable())

export type ChainPage = {
  chain: AuditChain
  afterOrdinal: string
  limit: number
  /** The size in bytes at which a page ends before it has `limit` rows. */
  bytesMax: number
  /** The minimum age of a row. */
  ageSeconds: number
}

/**
 * The settled rows of a chain after an ordinal, and whether others follow them. The rows that fit into a page are
 * determined by their sizes alone, and only those are fetched.
 */
export async function listChainRows(
  tx: CommonQueryMethods,
  { chain, afterOrdinal, limit, bytesMax, ageSeconds }: ChainPage,
): Promise<{ rows: AuditRow[]; more: boolean }> {
  const found = await tx.any(sql.type(ExportedRow)`
    with next as (
      select e.ordinal, (${isSettled(chain, ageSeconds)}) as is_settled, ${SIZES[chain]} as size
      from ${TABLES[chain]} e
      where e.ordinal > ${afterOrdinal}::bigint
      order by e.ordinal
      limit ${limit + 1}
    ),
    counted as (
      select ordinal, bool_and(is_settled) over w as all_settled, sum(size) over w - size as bytes_before
      from next
      window w as (order by ordinal)
    ),
    settled as (
      select ordinal, bytes_before, lead(true, 1, false) over (order by ordinal) as more from counted where all_settled
    )
    select ${COLUMNS[chain]}, ${STANDINGS[chain]} s.more,
      to_char(e.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US') as created_at
    from settled s
    join ${TABLES[chain]} e on e.ordinal = s.ordinal
    ${SEALED_VALUES[chain]}
    where s.bytes_before < ${bytesMax}
    order by e.ordinal
    limit ${limit}
  `)
  const rows = found.map(({ more: _more, ...row }) => row)
  return { rows, more: found.at(-1)?.more === true }
}

/** The chains that checkpoints seal. */
type SealedChain = Exclude<AuditChain, 'checkpoints'>

const HASHES: Readonly<Record<SealedChain, FragmentSqlToken>> = {
  operator_actions: sql.fragment`action_hash`,
  payment_events: sql.fragment`event_hash`,
  refund_events: sql.fragment`event_hash`,
  dispute_events: sql.fragment`event_hash`,
  payout_events: sql.fragment`event_hash`,
  ledger_entries: sql.fragment`entry_hash`,
}

/** A chain that has a hash is sealed. */
export const SEALED_CHAINS = Object.keys(HASHES) as SealedChain[]

/** Locks sealing until the transaction ends; false while another process holds the lock. */
export function tryLockSealing(tx: CommonQueryMethods): Promise<boolean> {
  return tx.oneFirst(sql.type(z.object({ locked: z.boolean() }))`
    select pg_try_advisory_xact_lock(hashtextextended('audit_checkpoints', 0)) as locked
  `)
}

export type NewCheckpoint = { id: string; chain: SealedChain; rowsMax: number; ageSeconds: number }

const Checkpoint = z.object({ row_count: z.bigint() })

/** Seals the next rows of a chain that are old enough; null, and no checkpoint, where there are none. */
export function insertCheckpoint(
  tx: CommonQueryMethods,
  { id, chain, rowsMax, ageSeconds }: NewCheckpoint,
): Promise<z.infer<typeof Checkpoint> | null> {
  return tx.maybeOne(sql.type(Checkpoint)`
    with before as materialized (
      select up_to_ordinal, digest from audit_checkpoints where chain = ${chain} order by up_to_ordinal desc limit 1
    ),
    next as materialized (
      select ordinal, ${HASHES[chain]} as hash, created_at < now() - make_interval(secs => ${ageSeconds}) as is_old
      from ${TABLES[chain]}
      where ordinal > coalesce((select up_to_ordinal from before), 0)
      order by ordinal
      limit ${rowsMax}
    ),
    sealed as (select ordinal, hash, bool_and(is_old) over (order by ordinal) as is_sealed from next)
    insert into audit_checkpoints (id, chain, up_to_ordinal, row_count, digest, prev_hash, checkpoint_hash)
    select ${id}, ${chain}, max(ordinal), count(*),
      encode(sha256(convert_to(
        coalesce((select digest from before), repeat('0', 64)) || string_agg(hash, '' order by ordinal), 'UTF8'
      )), 'hex'),
      '', ''
    from sealed
    where is_sealed
    having count(*) > 0
    returning row_count
  `)
}
