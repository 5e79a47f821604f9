import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { ClaimedMail, MailRow, SealedMail } from './record.ts'

const Wait = z.object({ seconds: z.int() })

export type NewMailRow = {
  id: string
  merchantId: string | null
  realm: string
  kind: string
  channel: 'EMAIL' | 'SMS'
  /** Sealed. */
  recipient: string
  recipientHash: string
  subject: string
  /** Sealed; null for a mail that another service has sent. */
  body: string | null
  status: 'PENDING' | 'SENT' | 'KEPT' | 'DEAD'
  lastError: string | null
  uselessAfterSeconds: number | null
  paymentId: string | null
}

/**
 * Mail is rare, so the notification can be part of the transaction: it is delivered with the commit, when the mail is
 * visible.
 */
export async function insertMail(tx: CommonQueryMethods, mail: NewMailRow): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    with mail as (
      insert into mails (id, merchant_id, realm, kind, channel, recipient, recipient_hash, subject, body, status, last_error,
        useless_at, payment_id, sent_at)
      values (
        ${mail.id}, ${mail.merchantId}, ${mail.realm}, ${mail.kind}, ${mail.channel}, ${mail.recipient},
        ${mail.recipientHash}, ${mail.subject}, ${mail.body}, ${mail.status}, ${mail.lastError},
        now() + ${mail.uselessAfterSeconds}::float8 * interval '1 second', ${mail.paymentId},
        case when ${mail.status} = 'SENT' then now() end
      )
    ),
    woken as materialized (
      select pg_notify('svc_wake', 'send-mails') where ${mail.status} = 'PENDING'
    )
    select from woken
  `)
}

export async function deleteMail(tx: CommonQueryMethods, id: string): Promise<void> {
  await tx.query(sql.typeAlias('void')`delete from mails where id = ${id}`)
}

/**
 * Leases due mails of these channels, first those that become useless soon, such as links and codes that people sign in
 * with: a backlog of others would let them expire. The lease of a crashed worker expires, and the mail is sent again.
 */
export function claimMails(
  tx: CommonQueryMethods,
  { channels, rowsMax, leaseMs }: { channels: readonly string[]; rowsMax: number; leaseMs: number },
): Promise<readonly ClaimedMail[]> {
  const isFree = sql.fragment`
    status = 'PENDING' and due_at <= now() and (locked_until is null or locked_until <= now())
      and channel = any(${sql.array([...channels], 'text')})
  `
  return tx.any(sql.type(ClaimedMail)`
    with urgent as materialized (
      select id from mails
      where ${isFree} and useless_at is not null
      order by due_at
      limit ${rowsMax}
      for update skip locked
    ),
    others as materialized (
      select id from mails
      where ${isFree} and useless_at is null
      order by due_at
      limit ${rowsMax} - (select count(*) from urgent)
      for update skip locked
    )
    update mails
    set locked_until = now() + ${leaseMs} * interval '1 millisecond', attempt_count = attempt_count + 1
    where id in (select id from urgent union all select id from others)
    returning id, merchant_id, kind, channel, recipient, subject, body, attempt_count,
      coalesce(useless_at <= now(), false) as is_useless
  `)
}

type MailClaim = Pick<ClaimedMail, 'id' | 'attempt_count'>

/** Marks a mail as sent; nothing changes if another worker has claimed it since. */
export async function markSent(
  tx: CommonQueryMethods,
  { id, attempt_count }: MailClaim,
  { keepBody }: { keepBody: boolean },
): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    update mails
    set status = 'SENT', sent_at = now(), locked_until = null, last_error = null,
      body = case when ${keepBody} then body end
    where id = ${id} and attempt_count = ${attempt_count} and status = 'PENDING'
  `)
}

/** Marks a failed attempt: due again after `delayMs`, or abandoned for null. */
export async function markFailed(
  tx: CommonQueryMethods,
  { id, attempt_count }: MailClaim,
  { error, delayMs, keepBody }: { error: string; delayMs: number | null; keepBody: boolean },
): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    update mails
    set last_error = ${error}, locked_until = null,
      status = case when ${delayMs}::float8 is null then 'DEAD' else 'PENDING' end,
      due_at = now() + coalesce(${delayMs}::float8, 0) * interval '1 millisecond',
      body = case when ${delayMs}::float8 is not null or ${keepBody} then body end
    where id = ${id} and attempt_count = ${attempt_count} and status = 'PENDING'
  `)
}

/** Deletes mails older than the retention period, up to a limit, and returns their count. */
export async function deleteOldMails(
  tx: CommonQueryMethods,
  { days, rowsMax }: { days: number; rowsMax: number },
): Promise<number> {
  const { rowCount } = await tx.query(sql.typeAlias('void')`
    delete from mails
    where id in (
      select id
      from mails
      where created_at < now() - ${days} * interval '1 day'
      order by created_at
      limit ${rowsMax}
      for update skip locked
    )
  `)
  return rowCount
}

const mailColumns = sql.fragment`
  id, merchant_id, realm, kind, recipient, subject, status, attempt_count, last_error, sent_at, created_at
`

/** The last mails, optionally of one recipient, or without those of one realm. */
export function listMailRows(
  tx: CommonQueryMethods,
  {
    recipientHash,
    withoutRealm,
    rowsMax,
  }: { recipientHash: string | null; withoutRealm: string | null; rowsMax: number },
): Promise<readonly MailRow[]> {
  return tx.any(sql.type(MailRow)`
    select ${mailColumns}
    from mails
    where (${recipientHash}::text is null or recipient_hash = ${recipientHash})
      and realm is distinct from ${withoutRealm}
    order by created_at desc, id desc
    limit ${rowsMax}
  `)
}

export function findMail(tx: CommonQueryMethods, id: string): Promise<SealedMail | null> {
  return tx.maybeOne(sql.type(SealedMail)`
    select ${mailColumns}, body from mails where id = ${id}
  `)
}

/** Mails of one kind to one recipient; of every realm for null. */
export type MailSeries = { realm: string | null; kind: string; recipientHash: string }

/** Locks the count of a recipient's mails until the transaction's end, so that each mail of a burst is counted. */
export async function lockMailCount(
  tx: DatabaseTransactionConnection,
  { kind, recipientHash }: Pick<MailSeries, 'kind' | 'recipientHash'>,
): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    select from pg_advisory_xact_lock(hashtextextended(${`mails ${kind} ${recipientHash}`}, 0))
  `)
}

/**
 * The seconds until fewer than `perHour` mails of a series were sent within an hour; 0 if that is the case now. Call
 * it under `lockMailCount`.
 */
export async function secondsToNextMail(
  tx: CommonQueryMethods,
  { realm, kind, recipientHash }: MailSeries,
  perHour: number,
): Promise<number> {
  const { seconds } = await tx.one(sql.type(Wait)`
    select seconds_to_next_mail(${kind}, ${recipientHash}, ${realm}, ${perHour}::int4) as seconds
  `)
  return seconds
}

/**
 * The same for mails of a kind of one realm, to whomever. Exact where the caller holds a lock for the realm's people.
 */
export async function secondsToNextMailOfRealm(
  tx: CommonQueryMethods,
  { realm, kind }: { realm: string; kind: string },
  perHour: number,
): Promise<number> {
  const wait = await tx.maybeOne(sql.type(Wait)`
    select least(3600, greatest(1, ceil(extract(epoch from created_at + interval '1 hour' - now()))))::int4 as seconds
    from mails
    where realm = ${realm} and kind = ${kind} and created_at > now() - interval '1 hour'
    order by created_at desc
    offset ${perHour - 1}
    limit 1
  `)
  return wait?.seconds ?? 0
}

/**
 * The same for mails of one payment, of which one is queued within an hour. One that still waits after an hour, because
 * the mail server is away, counts as if it had been queued now.
 */
export async function secondsToNextMailOfPayment(
  tx: CommonQueryMethods,
  { kind, recipientHash, paymentId }: Pick<MailSeries, 'kind' | 'recipientHash'> & { paymentId: string },
): Promise<number> {
  const { seconds } = await tx.one(sql.type(Wait)`
    select case when count(*) = 0 then 0
      else least(3600, greatest(1, ceil(extract(epoch from
        max(case when created_at > now() - interval '1 hour' then created_at else now() end) + interval '1 hour' - now()
      ))))::int4 end as seconds
    from mails
    where recipient_hash = ${recipientHash} and kind = ${kind} and payment_id = ${paymentId}
      and (created_at > now() - interval '1 hour' or status = 'PENDING')
  `)
  return seconds
}
