import type { CommonQueryMethods, QuerySqlToken, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import type { AuditChain, AuditRow } from '../lib/audit-chain.ts'

/** The columns of a row as the texts that its hash was made of (lib/audit-chain.ts computes it again from them). */
const COLUMNS: Readonly<Record<AuditChain, FragmentSqlToken>> = {
  operator_actions: sql.fragment`
    e.ordinal::text, e.id::text, actor_id, actor_name, actor_role, action, merchant_id::text, subject_id, reason,
    before::text, after::text, prev_hash::text, action_hash::text
  `,
  payment_events: sql.fragment`
    e.ordinal::text, e.id::text, merchant_id::text, payment_intent_id::text, previous_status::text, new_status::text,
    changed_by::text, raw_payload::text, raw_payload_sha256::text, prev_hash::text, event_hash::text
  `,
  dispute_events: sql.fragment`
    e.ordinal::text, e.id::text, merchant_id::text, dispute_id::text, previous_status::text, new_status::text,
    event::text, changed_by::text, actor_id, actor_name, note, prev_hash::text, event_hash::text
  `,
  checkpoints: sql.fragment`
    e.ordinal::text, e.id::text, chain, up_to_ordinal::text, row_count::text, digest::text, prev_hash::text,
    checkpoint_hash::text
  `,
}

const TABLES: Readonly<Record<AuditChain, FragmentSqlToken>> = {
  operator_actions: sql.fragment`operator_actions`,
  payment_events: sql.fragment`payment_events`,
  dispute_events: sql.fragment`dispute_events`,
  checkpoints: sql.fragment`audit_checkpoints`,
}

/** What a row adds to the size of a page beyond its columns of fixed size. */
const SIZES: Readonly<Record<AuditChain, FragmentSqlToken>> = {
  operator_actions: sql.fragment`octet_length(concat(reason, before, after))`,
  payment_events: sql.fragment`octet_length(raw_payload::text)`,
  dispute_events: sql.fragment`octet_length(coalesce(note, ''))`,
  checkpoints: sql.fragment`0`,
}

/**
 * Whether no row with a lower ordinal can appear any more. The rows of the first two tables are numbered under a lock
 * that is held until they are committed; those of the others are numbered while other transactions are under way, which
 * live for seconds. What is sealed is settled, whatever has become of the clock.
 */
function isSettled(chain: AuditChain, ageSeconds: number): FragmentSqlToken {
  if (chain === 'operator_actions' || chain === 'checkpoints') return sql.fragment`true`
  return sql.fragment`
    e.created_at < now() - make_interval(secs => ${ageSeconds})
    or e.ordinal <= (select max(up_to_ordinal) from audit_checkpoints where chain = ${chain}) is true
  `
}

/**
 * What the payment or dispute says of its own status, beside the last of its events. Who moves one writes both in one
 * transaction, so that within a statement they are never apart, whatever moves meanwhile.
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
  `,
  dispute_events: sql.fragment`
    case when not exists (
      select from dispute_events l
      where l.merchant_id = e.merchant_id and l.dispute_id = e.dispute_id and l.ordinal > e.ordinal
    ) then coalesce((
      select d.status::text from disputes d where d.merchant_id = e.merchant_id and d.id = e.dispute_id
    ), 'gone') end as standing,
  `,
  checkpoints: sql.fragment``,
}

const ExportedRow = z.object({ more: z.boolean() }).catchall(z.string().nullable())

export type ChainPage = {
  chain: AuditChain
  afterOrdinal: string
  limit: number
  /** The size at which a page ends before it is full. */
  bytesMax: number
  /** How old a row has to be. */
  ageSeconds: number
}

/**
 * The settled rows of a chain beyond an ordinal, and whether others follow them. Which rows fit into a page is found on
 * their sizes alone, and only those are fetched.
 */
export async function chainRows(
  db: CommonQueryMethods,
  { chain, afterOrdinal, limit, bytesMax, ageSeconds }: ChainPage,
): Promise<{ rows: AuditRow[]; more: boolean }> {
  const found = await db.any(sql.type(ExportedRow)`
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
    where s.bytes_before < ${bytesMax}
    order by e.ordinal
    limit ${limit}
  `)
  const rows = found.map(({ more: _more, ...row }) => row)
  return { rows, more: found.at(-1)?.more === true }
}

/** The chains that checkpoints seal. */
export type SealedChain = Exclude<AuditChain, 'checkpoints'>

const HASHES: Readonly<Record<SealedChain, FragmentSqlToken>> = {
  operator_actions: sql.fragment`action_hash`,
  payment_events: sql.fragment`event_hash`,
  dispute_events: sql.fragment`event_hash`,
}

/** Takes the right to seal, until the transaction ends; false while another process has it. */
export function tryLockSealing(db: CommonQueryMethods): Promise<boolean> {
  return db.oneFirst(sql.type(z.object({ locked: z.boolean() }))`
    select pg_try_advisory_xact_lock(hashtextextended('audit_checkpoints', 0)) as locked
  `)
}

export type NewSeal = { id: string; chain: SealedChain; rowsMax: number; ageSeconds: number }

/** Seals the next rows of a chain that are old enough; answers how many there were. None makes no checkpoint. */
export async function insertCheckpoint(db: CommonQueryMethods, seal: NewSeal): Promise<number> {
  const row = await db.maybeOne(checkpointStatement(seal))
  return row === null ? 0 : Number(row.row_count)
}

const SealedRows = z.object({ row_count: z.bigint() })

function checkpointStatement({ id, chain, rowsMax, ageSeconds }: NewSeal): QuerySqlToken<typeof SealedRows> {
  return sql.type(SealedRows)`
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
  `
}
