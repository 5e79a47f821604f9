import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { z } from 'zod'
import { bankAccountColumns } from '../bank-accounts/sql.ts'
import { BankAccountRecord } from '../bank-accounts/record.ts'
import { sql } from '../db/sql.ts'
import { PayoutRecord } from '../payouts/record.ts'
import { mayBePaid, payoutColumns } from '../payouts/sql.ts'
import { PayoutFileContent, PayoutFileRecord } from './record.ts'
import type { FileRefund } from './record.ts'

const columns = sql.fragment`
  f.id, f.message_id, f.payout_count, f.refund_count, f.control_sum, f.content_hash, f.created_by, f.created_at
`

/** One file at a time: of two, each would have a part of the payouts. */
export async function lockFiles(tx: DatabaseTransactionConnection): Promise<void> {
  await tx.query(sql.type(z.object({}))`select from (select pg_advisory_xact_lock(hashtext('payout_files'))) locked`)
}

/** At most so many rows, and one more where there are more; behind this one. */
export type Page<Row> = { limit: number; after: Row | undefined }

/** Payouts that wait for a file, of merchants that may be paid, the longest first. Locked. */
export function lockWaitingPayouts(
  tx: DatabaseTransactionConnection,
  { limit, after }: Page<Pick<PayoutRecord, 'merchant_id' | 'id'>>,
): Promise<readonly PayoutRecord[]> {
  const isBehind =
    after === undefined
      ? sql.fragment`true`
      : sql.fragment`(p.created_at, p.id) > (
          select a.created_at, a.id from payouts a where a.merchant_id = ${after.merchant_id} and a.id = ${after.id}
        )`
  return tx.any(sql.type(PayoutRecord)`
    select ${payoutColumns}
    from payouts p
    join merchants m on m.id = p.merchant_id and ${mayBePaid}
    where p.status = 'CREATED' and p.connector = 'file' and ${isBehind}
    order by p.created_at, p.id
    limit ${limit + 1}
    for update of p
  `)
}

/** The accounts of these payouts. */
export function listAccountsOf(
  tx: CommonQueryMethods,
  payouts: readonly PayoutRecord[],
): Promise<readonly BankAccountRecord[]> {
  const keys = payouts.map((payout) => [payout.merchant_id, payout.bank_account_id])
  return tx.any(sql.type(BankAccountRecord)`
    select ${bankAccountColumns}
    from merchant_bank_accounts
    where (merchant_id, id) in (select * from ${sql.unnest(keys, ['uuid', 'uuid'])})
  `)
}

export type NewPayoutFile = {
  id: string
  messageId: string
  payoutIds: readonly string[]
  refunds: readonly Pick<FileRefund, 'merchant_id' | 'id'>[]
  /** Sealed. */
  content: string
  contentHash: string
  createdBy: string
}

/** Records a file of payouts and refunds, whose amounts it adds up itself, and that they are in it. */
export async function insertPayoutFile(
  tx: DatabaseTransactionConnection,
  { payoutIds, refunds, ...file }: NewPayoutFile,
): Promise<PayoutFileRecord> {
  const ids = sql.array([...payoutIds], 'uuid')
  // By the whole key: by their ids alone, no index finds refunds.
  const refundKeys = sql.unnest(
    refunds.map((refund) => [refund.merchant_id, refund.id]),
    ['uuid', 'uuid'],
  )
  const isRefund = sql.fragment`(merchant_id, id) in (select * from ${refundKeys})`
  const made = await tx.one(sql.type(PayoutFileRecord)`
    insert into payout_files as f (id, message_id, payout_count, refund_count, control_sum, content, content_hash, created_by)
    select ${file.id}, ${file.messageId}, payout.count, refund.count, payout.sum + refund.sum, ${file.content},
      ${file.contentHash}, ${file.createdBy}
    from (select count(*), coalesce(sum(amount), 0) as sum from payouts where id = any(${ids})) payout
    cross join (
      select count(*), coalesce(sum(amount), 0) as sum from payment_refunds where ${isRefund}
    ) refund
    returning ${columns}
  `)
  await tx.query(sql.type(z.object({}))`update payouts set file_id = ${file.id} where id = any(${ids})`)
  await tx.query(sql.type(z.object({}))`
    update payment_refunds set file_id = ${file.id}, sent_at = now(), updated_at = now() where ${isRefund}
  `)
  return made
}

export function findPayoutFile(tx: CommonQueryMethods, id: string): Promise<PayoutFileContent | null> {
  return tx.maybeOne(sql.type(PayoutFileContent)`select ${columns}, f.content from payout_files f where f.id = ${id}`)
}

export function findFileOfMessage(tx: CommonQueryMethods, messageId: string): Promise<PayoutFileRecord | null> {
  return tx.maybeOne(sql.type(PayoutFileRecord)`
    select ${columns} from payout_files f where f.message_id = ${messageId}
  `)
}

/** The payouts of a file. Locked. */
export function lockPayoutsOfFile(tx: DatabaseTransactionConnection, fileId: string): Promise<readonly PayoutRecord[]> {
  return tx.any(sql.type(PayoutRecord)`
    select ${payoutColumns} from payouts p where p.file_id = ${fileId} order by p.created_at, p.id for update
  `)
}

/** A page of files, the newest first, with one row more than `limit` where there are more. */
export function listPayoutFileRows(
  tx: CommonQueryMethods,
  { afterId, limit }: { afterId: string | undefined; limit: number },
): Promise<readonly PayoutFileRecord[]> {
  const after =
    afterId === undefined
      ? sql.fragment`true`
      : sql.fragment`(f.created_at, f.id) < (select a.created_at, a.id from payout_files a where a.id = ${afterId})`
  return tx.any(sql.type(PayoutFileRecord)`
    select ${columns} from payout_files f where ${after} order by f.created_at desc, f.id desc limit ${limit + 1}
  `)
}
