import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { z } from 'zod'
import { growingWait } from '../banks/wait-sql.ts'
import type { WaitBounds } from '../banks/wait-sql.ts'
import { sql } from '../db/sql.ts'
import type { ConsentStatus } from '../wire/payments.ts'
import { EndedMandate, LockedConsent, MandateRecord, UsedAmount } from './record.ts'
import type { PayerContactHash } from './record.ts'

type Key = { merchantId: string; id: string }

const statusNow = sql.fragment`
  case
    when c.status in ('AWAITING_AUTHORISATION', 'AUTHORISED') and c.expires_at <= now() then 'EXPIRED'
    else c.status
  end
`

const firstConnector = sql.fragment`(
  select p.bank_connector
  from payment_intents p
  where p.merchant_id = c.merchant_id and p.consent_id = c.id
  order by p.created_at, p.id
  limit 1
)`

/** When a mandate was created by the sandbox clock, from which its periods count. */
const countsFrom = sql.fragment`sandbox_moved_moment(c.merchant_id, c.created_at) as counts_from`

const mandates = sql.fragment`
  select c.id, c.merchant_id, m.trading_name as merchant_name, c.consent_type, ${statusNow} as status,
    c.status = 'AWAITING_AUTHORISATION' as is_unanswered, c.currency, c.control_parameters, c.payer_name,
    c.remittance_reference, c.debtor_bank_id, made.first_payment_id, made.payment_count,
    made.last_payment_at, c.valid_to, c.expires_at, c.revoked_by, c.created_at, c.updated_at,
    ${countsFrom}, now() as now
  from payment_consents c
  join merchants m on m.id = c.merchant_id
  cross join lateral (
    select (array_agg(p.id order by p.created_at, p.id))[1] as first_payment_id, count(*)::integer as payment_count,
      max(p.created_at) as last_payment_at
    from payment_intents p
    where p.merchant_id = c.merchant_id and p.consent_id = c.id
  ) made
  where c.consent_type = 'VARIABLE_RECURRING'
`

export function findMandate(tx: CommonQueryMethods, { merchantId, id }: Key): Promise<MandateRecord | null> {
  return tx.maybeOne(sql.type(MandateRecord)`${mandates} and c.merchant_id = ${merchantId} and c.id = ${id}`)
}

/** A page of one merchant's mandates, the newest first, with one row more than `limit` where there are more. */
export function listMandateRows(
  tx: CommonQueryMethods,
  page: { merchantId: string; status: ConsentStatus | undefined; limit: number; afterId: string | undefined },
): Promise<readonly MandateRecord[]> {
  const conditions = [sql.fragment`c.merchant_id = ${page.merchantId}`]
  if (page.status !== undefined) conditions.push(sql.fragment`${statusNow} = ${page.status}::consent_status`)
  if (page.afterId !== undefined) {
    conditions.push(sql.fragment`(c.created_at, c.id) < (
      select created_at, id from payment_consents where merchant_id = ${page.merchantId} and id = ${page.afterId}
    )`)
  }
  return tx.any(sql.type(MandateRecord)`
    ${mandates} and ${sql.join(conditions, sql.fragment` and `)}
    order by c.created_at desc, c.id desc
    limit ${page.limit + 1}
  `)
}

/** The active mandates of a payer with every merchant, the newest first. */
export function listMandatesOfContact(
  tx: CommonQueryMethods,
  { contact, limit }: { contact: PayerContactHash; limit: number },
): Promise<readonly MandateRecord[]> {
  const ofPayer =
    contact.type === 'EMAIL'
      ? sql.fragment`c.payer_email_hash = ${contact.hash}`
      : sql.fragment`c.payer_phone_hash = ${contact.hash}`
  return tx.any(sql.type(MandateRecord)`
    ${mandates} and ${ofPayer} and c.status = 'AUTHORISED' and c.expires_at > now()
    order by c.created_at desc, c.id desc
    limit ${limit}
  `)
}

const lockedConsents = sql.fragment`
  select c.id, c.consent_type, c.status, c.currency, c.control_parameters, c.debtor_bank_id, c.bank_consent_reference,
    ${firstConnector} as bank_connector, c.expires_at, c.created_at, c.revoked_by, c.expires_at <= now() as is_over,
    ${countsFrom}, now() as now
  from payment_consents c
`

/**
 * Locks a consent until the end of the transaction and reads it, so that payments under a mandate and its end come one
 * after the other. `no key`: rows that refer to it by foreign key can still be inserted.
 */
export function lockConsent(tx: DatabaseTransactionConnection, { merchantId, id }: Key): Promise<LockedConsent | null> {
  return tx.maybeOne(sql.type(LockedConsent)`
    ${lockedConsents} where c.merchant_id = ${merchantId} and c.id = ${id}
    for no key update of c
  `)
}

/** `lockConsent` without waiting: null also where another transaction holds the lock. */
export function tryLockConsent(
  tx: DatabaseTransactionConnection,
  { merchantId, id }: Key,
): Promise<LockedConsent | null> {
  return tx.maybeOne(sql.type(LockedConsent)`
    ${lockedConsents} where c.merchant_id = ${merchantId} and c.id = ${id}
    for no key update of c skip locked
  `)
}

/** Whether a merchant has a consent of this id. */
export async function hasConsent(tx: CommonQueryMethods, { merchantId, id }: Key): Promise<boolean> {
  const { exists } = await tx.one(sql.typeAlias('exists')`
    select exists (select from payment_consents where merchant_id = ${merchantId} and id = ${id}) as exists
  `)
  return exists
}

/**
 * The amounts paid under mandates since given instants, in the same order. Failed payments don't count; refunds don't
 * restore a cap. The age of payments is that of the sandbox clock.
 */
export function readUsedAmounts(
  tx: CommonQueryMethods,
  since: readonly { merchantId: string; consentId: string; start: string }[],
): Promise<readonly UsedAmount[]> {
  return tx.any(sql.type(UsedAmount)`
    -- Materialized: the sandbox clock is read once for each instant, and not for each payment.
    with s as materialized (
      select r.*, sandbox_unmoved_moment(r.merchant_id, r.start) as made_from
      from rows from (
        json_to_recordset(${JSON.stringify(
          since.map(({ merchantId, consentId, start }) => ({ merchant_id: merchantId, consent_id: consentId, start })),
        )}) as (merchant_id uuid, consent_id uuid, start timestamptz)
      ) with ordinality as r (merchant_id, consent_id, start, ord)
    )
    select s.ord, coalesce((
      select sum(p.gross_amount)
      from payment_intents p
      where p.merchant_id = s.merchant_id and p.consent_id = s.consent_id and p.status <> 'Failed'
        and p.created_at >= s.made_from
    ), 0)::numeric(19, 4) as used_amount
    from s
    order by s.ord
  `)
}

/** `revoke_consent`: ends a mandate whose row the transaction has locked; false where it was not active. */
export async function revokeConsentRow(
  tx: DatabaseTransactionConnection,
  { merchantId, id, by }: Key & { by: 'PAYER' | 'MERCHANT' },
): Promise<boolean> {
  const { status } = await tx.one(sql.type(z.object({ status: z.string().nullable() }))`
    select revoke_consent(${merchantId}, ${id}, ${by}) as status
  `)
  return status === 'REVOKED'
}

/** Expires at most `limit` mandates whose validity has ended, and returns their number. */
export async function expireMandateRows(tx: CommonQueryMethods, limit: number): Promise<number> {
  const { ended } = await tx.one(sql.type(z.object({ ended: z.int() }))`select expire_mandates(${limit}) as ended`)
  return ended
}

/**
 * Claims ended mandates that must be reported to their banks. The claim of a worker that dies or gets no answer ends after a
 * tenth of the time since the mandate's end, within these bounds.
 */
export function claimEndedMandates(
  tx: CommonQueryMethods,
  { limit, ...bounds }: { limit: number } & WaitBounds,
): Promise<readonly EndedMandate[]> {
  return tx.any(sql.type(EndedMandate)`
    with due as (
      select merchant_id, id
      from payment_consents
      where revocation_due_at <= now()
      order by revocation_due_at
      limit ${limit}
      for no key update skip locked
    )
    update payment_consents c
    set revocation_due_at = now() + ${growingWait(sql.fragment`c.updated_at`, bounds)}
    from due
    where c.merchant_id = due.merchant_id and c.id = due.id
    returning c.id, c.merchant_id, c.bank_consent_reference, ${firstConnector} as bank_connector
  `)
}

/** Records that the bank knows of the mandate's end. */
export async function clearRevocationDue(tx: CommonQueryMethods, { merchantId, id }: Key): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    update payment_consents set revocation_due_at = null where merchant_id = ${merchantId} and id = ${id}
  `)
}
