import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import type { BankLine, BankStatement } from './bank-file.ts'
import { StatementLineRecord, StatementRecord, UnmatchedMovementRecord } from './record.ts'
import type { PayoutLine, RefundLine } from './record.ts'

const statementColumns = sql.fragment`
  id, format, reference, account, currency, opening_amount, closing_amount, line_count, new_line_count, unbooked_count,
  imported_by, imported_at
`

const lineColumns = sql.fragment`
  id, statement_id, account, booked_on::text as booked_on, direction, amount, currency, is_reversal, bank_reference,
  end_to_end_id, remittance, return_reason, merchant_id, payment_id, refund_id, payout_id, matched_by, matched_at, resolution_reason
`

/**
 * One import, or resolution of a line, at a time: two files that overlap would each take the other's lines for new ones, and a
 * line or its movement would be matched twice.
 */
export async function lockStatements(tx: DatabaseTransactionConnection): Promise<void> {
  await tx.query(sql.type(z.object({}))`select from (select pg_advisory_xact_lock(hashtext('bank_statements'))) locked`)
}

/** The statements of a file that was imported before, in its order. */
export function listStatementsOfFile(tx: CommonQueryMethods, fileHash: string): Promise<readonly StatementRecord[]> {
  return tx.any(sql.type(StatementRecord)`
    select ${statementColumns} from bank_statements where file_hash = ${fileHash} order by file_position
  `)
}

/** Which of these lines of an account are known already. */
export async function listKnownHashes(
  tx: CommonQueryMethods,
  { account, hashes }: { account: string; hashes: readonly string[] },
): Promise<ReadonlySet<string>> {
  const rows = await tx.any(sql.type(z.object({ line_hash: z.string() }))`
    select line_hash from bank_statement_lines
    where account = ${account} and line_hash = any(${sql.array([...hashes], 'bpchar')})
  `)
  return new Set(rows.map(({ line_hash }) => line_hash))
}

export type NewStatement = Omit<BankStatement, 'lines'> & {
  id: string
  format: string
  lineCount: number
  newLineCount: number
  fileHash: string
  filePosition: number
  importedBy: string
}

export function insertStatement(tx: DatabaseTransactionConnection, statement: NewStatement): Promise<StatementRecord> {
  const { opening, closing } = statement
  return tx.one(sql.type(StatementRecord)`
    insert into bank_statements (
      id, format, reference, account, currency, opening_amount, closing_amount, line_count, new_line_count,
      unbooked_count, file_hash, file_position, imported_by
    )
    values (
      ${statement.id}, ${statement.format}, ${statement.reference}, ${statement.account},
      ${(opening ?? closing)?.currency ?? null}, ${opening?.amount ?? null}::numeric, ${closing?.amount ?? null}::numeric,
      ${statement.lineCount}, ${statement.newLineCount}, ${statement.unbookedCount}, ${statement.fileHash},
      ${statement.filePosition}, ${statement.importedBy}
    )
    returning ${statementColumns}
  `)
}

export type NewLine = BankLine & { id: string; hash: string }

/** At most this many lines go with one statement. */
const LINES_AT_ONCE = 2_000

export async function insertLines(
  tx: DatabaseTransactionConnection,
  { statementId, account, lines }: { statementId: string; account: string; lines: readonly NewLine[] },
): Promise<void> {
  for (let first = 0; first < lines.length; first += LINES_AT_ONCE) {
    const tuples = lines
      .slice(first, first + LINES_AT_ONCE)
      .map((line) => [
        line.id,
        line.hash,
        line.bookedOn,
        line.direction,
        line.amount,
        line.currency,
        line.isReversal,
        line.bankReference,
        line.endToEndId,
        line.remittance,
        line.returnReason,
      ])
    const types = ['uuid', 'text', 'text', 'text', 'text', 'text', 'bool', 'text', 'text', 'text', 'text']
    await tx.query(sql.typeAlias('void')`
      insert into bank_statement_lines (
        id, statement_id, account, line_hash, booked_on, direction, amount, currency, is_reversal, bank_reference,
        end_to_end_id, remittance, return_reason
      )
      select id, ${statementId}, ${account}, hash, booked_on::date, direction, amount::numeric, currency, is_reversal,
        bank_reference, end_to_end_id, remittance, return_reason
      from ${sql.unnest(tuples, types)} as l (
        id, hash, booked_on, direction, amount, currency, is_reversal, bank_reference, end_to_end_id, remittance,
        return_reason
      )
    `)
  }
}

export async function countUnmatchedLines(tx: CommonQueryMethods): Promise<number> {
  const { count } = await tx.one(sql.typeAlias('count')`
    select count(*) as count from bank_statement_lines where matched_by is null
  `)
  return Number(count)
}

/** A page of statements, the newest first, with one row more than `limit` where there are more. */
export function listStatementRows(
  tx: CommonQueryMethods,
  { afterId, limit }: { afterId: string | undefined; limit: number },
): Promise<readonly StatementRecord[]> {
  const after =
    afterId === undefined
      ? sql.fragment`true`
      : sql.fragment`(imported_at, id) < (select imported_at, id from bank_statements where id = ${afterId})`
  return tx.any(sql.type(StatementRecord)`
    select ${statementColumns} from bank_statements where ${after} order by imported_at desc, id desc limit ${limit + 1}
  `)
}

export type LinePage = {
  statementId: string | undefined
  paymentId: string | undefined
  state: 'matched' | 'unmatched' | undefined
  from: string | undefined
  to: string | undefined
  afterId: string | undefined
  limit: number
}

/** A page of lines, the last booked first, with one row more than `limit` where there are more. */
export function listLineRows(tx: CommonQueryMethods, page: LinePage): Promise<readonly StatementLineRecord[]> {
  const conditions = [sql.fragment`true`]
  if (page.statementId !== undefined) conditions.push(sql.fragment`statement_id = ${page.statementId}`)
  if (page.paymentId !== undefined) conditions.push(sql.fragment`payment_id = ${page.paymentId}`)
  if (page.state === 'matched') conditions.push(sql.fragment`matched_by is not null`)
  if (page.state === 'unmatched') conditions.push(sql.fragment`matched_by is null`)
  if (page.from !== undefined) conditions.push(sql.fragment`booked_on >= ${page.from}::date`)
  if (page.to !== undefined) conditions.push(sql.fragment`booked_on <= ${page.to}::date`)
  if (page.afterId !== undefined)
    conditions.push(
      sql.fragment`(booked_on, id) < (select booked_on, id from bank_statement_lines where id = ${page.afterId})`,
    )
  return tx.any(sql.type(StatementLineRecord)`
    select ${lineColumns}
    from bank_statement_lines
    where ${sql.join(conditions, sql.fragment` and `)}
    -- By the table's own day: the text of it, which is returned, has no index.
    order by bank_statement_lines.booked_on desc, id desc
    limit ${page.limit + 1}
  `)
}

export function lockLine(tx: DatabaseTransactionConnection, id: string): Promise<StatementLineRecord | null> {
  return tx.maybeOne(sql.type(StatementLineRecord)`
    select ${lineColumns} from bank_statement_lines where id = ${id} for update
  `)
}

export type NamedMovement = {
  merchantId: string | null
  paymentId: string | null
  refundId: string | null
  payoutId: string | null
}

/** Says what a line is, by hand; without a movement the reason alone explains it. */
export function resolveLine(
  tx: DatabaseTransactionConnection,
  line: NamedMovement & { id: string; reason: string },
): Promise<StatementLineRecord> {
  return tx.one(sql.type(StatementLineRecord)`
    update bank_statement_lines
    set merchant_id = ${line.merchantId}, payment_id = ${line.paymentId}, refund_id = ${line.refundId},
      payout_id = ${line.payoutId}, matched_by = 'MANUAL', matched_at = now(), resolution_reason = ${line.reason}
    where id = ${line.id}
    returning ${lineColumns}
  `)
}

const OpenedLine = StatementLineRecord.pick({ direction: true }).extend({ refund_id: z.string().nullable() })

/**
 * Opens lines again whose payout or refund failed while they were matched: it was read before it was locked, and a line of
 * what has failed is matched with nothing, so that reconciliation names it. Called once the others have moved.
 */
export async function openLinesOfFailed(
  tx: DatabaseTransactionConnection,
  { payouts, refunds }: { payouts: readonly PayoutLine[]; refunds: readonly RefundLine[] },
): Promise<readonly z.infer<typeof OpenedLine>[]> {
  const keys = [
    ...payouts.map((line) => [line.merchant_id, line.payout_id, null]),
    ...refunds.map((line) => [line.merchant_id, null, line.refund_id]),
  ]
  if (keys.length === 0) return []
  return tx.any(sql.type(OpenedLine)`
    with failed as materialized (
      select distinct k.merchant_id, p.id as payout_id, r.id as refund_id
      from ${sql.unnest(keys, ['uuid', 'uuid', 'uuid'])} as k (merchant_id, payout_id, refund_id)
      left join payouts p on p.merchant_id = k.merchant_id and p.id = k.payout_id
      left join payment_refunds r on r.merchant_id = k.merchant_id and r.id = k.refund_id
      where p.status = 'FAILED' or r.status = 'FAILED'
    )
    update bank_statement_lines l
    set merchant_id = null, payment_id = null, refund_id = null, payout_id = null, matched_by = null, matched_at = null,
      resolution_reason = null
    from (
      select d.id, f.refund_id from failed f
      join bank_statement_lines d on d.merchant_id = f.merchant_id and d.payout_id = f.payout_id
      union all
      select d.id, f.refund_id from failed f
      join bank_statement_lines d on d.merchant_id = f.merchant_id and d.refund_id = f.refund_id
    ) opened
    where l.id = opened.id
    returning l.direction, opened.refund_id
  `)
}

/** A movement of ours as a statement would show it, and the line that is known of it. */
const Movement = UnmatchedMovementRecord.extend({
  direction: z.enum(['CREDIT', 'DEBIT']),
  line_id: z.string().nullable(),
})
export type Movement = z.infer<typeof Movement>

/** A settled payment, or with `refundId` its executed refund, which for a credit has come back; null for any other. */
export function findMovement(
  tx: CommonQueryMethods,
  { paymentId, refundId, direction }: { paymentId: string; refundId: string | null; direction: 'CREDIT' | 'DEBIT' },
): Promise<Movement | null> {
  return tx.maybeOne(sql.type(Movement)`
    select case when r.id is null then 'payment' else 'refund' end as kind, p.merchant_id, p.id as payment_id,
      r.id as refund_id, null as payout_id, coalesce(r.end_to_end_id, p.end_to_end_id) as end_to_end_id,
      coalesce(r.amount, p.gross_amount) as amount, p.currency,
      coalesce(r.created_at, p.created_at) as created_at, case when r.id is null then 'CREDIT' else ${direction} end as direction,
      (
        select l.id from bank_statement_lines l
        where l.merchant_id = p.merchant_id and l.payment_id = p.id and l.refund_id is not distinct from r.id
          and (r.id is null or l.direction = ${direction})
      ) as line_id
    from payment_intents p
    left join payment_refunds r
      on r.merchant_id = p.merchant_id and r.payment_intent_id = p.id and r.id = ${refundId}
        and (r.status = 'EXECUTED' or (r.status = 'PENDING' and r.sent_at is not null))
    where p.id = ${paymentId} and p.status in ('Settled', 'Refunded') and (r.id is not null or ${refundId}::uuid is null)
  `)
}

/** A payout that was sent, or for a credit one that can have come back; null for any other. */
export function findPayoutMovement(
  tx: CommonQueryMethods,
  { payoutId, direction }: { payoutId: string; direction: 'CREDIT' | 'DEBIT' },
): Promise<Movement | null> {
  return tx.maybeOne(sql.type(Movement)`
    select 'payout' as kind, p.merchant_id, null as payment_id, null as refund_id, p.id as payout_id, p.end_to_end_id,
      p.amount, p.currency, p.sent_at as created_at, ${direction} as direction,
      (
        select l.id from bank_statement_lines l
        where l.merchant_id = p.merchant_id and l.payout_id = p.id and l.direction = ${direction}
      ) as line_id
    from payouts p
    where p.id = ${payoutId} and p.status in ('SENT', 'PAID', 'RETURNED')
  `)
}
