import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { ClaimedMail, MailRecord, SealedMail } from './record.ts'

const Wait = z.object({ seconds: z.int() })

export type MailRow = {
  id: string
  merchantId: string | null
  realm: string
  kind: string
  channel: 'EMAIL' | 'SMS'
  recipient: string
  subject: string
  /** Sealed. */
  body: string
  status: 'PENDING' | 'KEPT'
  uselessAfterSeconds: number | null
}

/** Mail is rare, so the notification may go with the commit itself: nobody is woken for what is not there yet. */
export async function insertMail(db: CommonQueryMethods, mail: MailRow): Promise<void> {
  await db.query(sql.typeAlias('void')`
    with mail as (
      insert into mails (id, merchant_id, realm, kind, channel, recipient, subject, body, status, useless_at)
      values (
        ${mail.id}, ${mail.merchantId}, ${mail.realm}, ${mail.kind}, ${mail.channel}, ${mail.recipient}, ${mail.subject},
        ${mail.body}, ${mail.status}, now() + ${mail.uselessAfterSeconds}::float8 * interval '1 second'
      )
      returning status
    ),
    woken as materialized (
      select pg_notify('svc_wake', 'send-mails') from mail where status = 'PENDING'
    )
    select from woken
  `)
}

/** Leases due mails of these channels. The lease of a worker that died ends, and the mail is sent again. */
export function claimMails(
  db: CommonQueryMethods,
  { channels, rowsMax, leaseMs }: { channels: readonly string[]; rowsMax: number; leaseMs: number },
): Promise<readonly ClaimedMail[]> {
  return db.any(sql.type(ClaimedMail)`
    update mails
    set locked_until = now() + ${leaseMs} * interval '1 millisecond', attempt_count = attempt_count + 1
    where id in (
      select id
      from mails
      where status = 'PENDING' and due_at <= now() and (locked_until is null or locked_until <= now())
        and channel = any(${sql.array([...channels], 'text')})
      order by due_at
      limit ${rowsMax}
      for update skip locked
    )
    returning id, merchant_id, channel, recipient, subject, body, attempt_count,
      coalesce(useless_at <= now(), false) as is_useless
  `)
}

type MailClaim = Pick<ClaimedMail, 'id' | 'attempt_count'>

/** The mail has gone out; nothing changes where another worker has claimed it since. */
export async function markSent(
  db: CommonQueryMethods,
  { id, attempt_count }: MailClaim,
  { keepBody }: { keepBody: boolean },
): Promise<void> {
  await db.query(sql.typeAlias('void')`
    update mails
    set status = 'SENT', sent_at = now(), locked_until = null, last_error = null,
      body = case when ${keepBody} then body end
    where id = ${id} and attempt_count = ${attempt_count} and status = 'PENDING'
  `)
}

/** The mail could not be sent: due again after `delayMs`, or given up where that is null. */
export async function markFailed(
  db: CommonQueryMethods,
  { id, attempt_count }: MailClaim,
  { error, delayMs, keepBody }: { error: string; delayMs: number | null; keepBody: boolean },
): Promise<void> {
  await db.query(sql.typeAlias('void')`
    update mails
    set last_error = ${error}, locked_until = null,
      status = case when ${delayMs}::float8 is null then 'DEAD' else 'PENDING' end,
      due_at = now() + coalesce(${delayMs}::float8, 0) * interval '1 millisecond',
      body = case when ${delayMs}::float8 is not null or ${keepBody} then body end
    where id = ${id} and attempt_count = ${attempt_count} and status = 'PENDING'
  `)
}

/** Deletes mails that are older than anyone needs them. */
export async function deleteOldMails(
  db: CommonQueryMethods,
  { olderThanDays, rowsMax }: { olderThanDays: number; rowsMax: number },
): Promise<number> {
  const { rowCount } = await db.query(sql.typeAlias('void')`
    delete from mails
    where id in (
      select id
      from mails
      where created_at < now() - ${olderThanDays} * interval '1 day'
      order by created_at
      limit ${rowsMax}
      for update skip locked
    )
  `)
  return rowCount
}

const mailColumns = sql.fragment`
  id, kind, recipient, subject, status, attempt_count, last_error, sent_at, created_at
`

/** The last mails, of one recipient where one is given, and without those of one realm. */
export function listMailRows(
  db: CommonQueryMethods,
  { recipient, withoutRealm, rowsMax }: { recipient: string | null; withoutRealm: string | null; rowsMax: number },
): Promise<readonly MailRecord[]> {
  return db.any(sql.type(MailRecord)`
    select ${mailColumns}
    from mails
    where (${recipient}::text is null or lower(recipient) = lower(${recipient}))
      and realm is distinct from ${withoutRealm}
    order by created_at desc, id desc
    limit ${rowsMax}
  `)
}

export function findMail(db: CommonQueryMethods, id: string): Promise<SealedMail | null> {
  return db.maybeOne(sql.type(SealedMail)`
    select ${mailColumns}, merchant_id, realm, body from mails where id = ${id}
  `)
}

export type MailSeries = { realm: string; kind: string; recipient: string }

/**
 * The seconds until fewer than `perHour` mails of one kind went to a person within an hour; 0 where it is so now. Asked
 * under a lock of whoever queues them.
 */
export async function secondsToNextMail(
  db: CommonQueryMethods,
  { realm, kind, recipient }: MailSeries,
  perHour: number,
): Promise<number> {
  const { seconds } = await db.one(sql.type(Wait)`
    with latest as (
      select created_at
      from mails
      where realm = ${realm} and recipient = ${recipient} and kind = ${kind} and created_at > now() - interval '1 hour'
      order by created_at desc
      limit ${perHour}
    )
    select case when count(*) < ${perHour} then 0
      else greatest(1, ceil(extract(epoch from min(created_at) + interval '1 hour' - now())))::int4 end as seconds
    from latest
  `)
  return seconds
}
