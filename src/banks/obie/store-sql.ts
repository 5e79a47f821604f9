import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../../db/sql.ts'

const Nothing = z.object({})

export const ConsentRow = z.strictObject({
  state: z.string(),
  kind: z.enum(['payment', 'mandate']),
  request: z.string(),
  first_reference: z.string().nullable(),
  consent_id: z.string().nullable(),
  tokens: z.string().nullable(),
})
export type ConsentRow = z.infer<typeof ConsentRow>

const consentColumns = sql.fragment`state, kind, request, first_reference, consent_id, tokens`

/** Stores what the payer will be asked, unless it was stored before: a repeat sends the same. */
export async function insertConsent(
  db: CommonQueryMethods,
  consent: Pick<ConsentRow, 'state' | 'kind' | 'request' | 'first_reference'> & { bank: string },
): Promise<void> {
  await db.query(sql.prepared('insert_obie_consent', Nothing)`
    insert into obie.consents (state, bank, kind, request, first_reference)
    values (${consent.state}, ${consent.bank}, ${consent.kind}, ${consent.request}, ${consent.first_reference})
    on conflict (state) do nothing
  `)
}

export function findConsent(db: CommonQueryMethods, state: string): Promise<ConsentRow | null> {
  return db.maybeOne(sql.prepared('find_obie_consent', ConsentRow)`
    select ${consentColumns} from obie.consents where state = ${state}
  `)
}

export function findConsentByBankId(
  db: CommonQueryMethods,
  { bank, consentId }: { bank: string; consentId: string },
): Promise<ConsentRow | null> {
  return db.maybeOne(sql.prepared('find_obie_consent_by_bank_id', ConsentRow)`
    select ${consentColumns} from obie.consents where bank = ${bank} and consent_id = ${consentId}
  `)
}

export async function saveConsentId(
  db: CommonQueryMethods,
  { state, consentId }: { state: string; consentId: string },
): Promise<void> {
  await db.query(sql.prepared('save_obie_consent_id', Nothing)`
    update obie.consents set consent_id = ${consentId} where state = ${state} and consent_id is null
  `)
}

export async function saveTokens(
  db: CommonQueryMethods,
  { state, tokens }: { state: string; tokens: string },
): Promise<void> {
  await db.query(sql.prepared('save_obie_tokens', Nothing)`
    update obie.consents set tokens = ${tokens}, renewed_until = null where state = ${state}
  `)
}

/** Changes nothing where another process has renewed them meanwhile. */
export async function replaceTokens(
  db: CommonQueryMethods,
  { state, before, tokens }: { state: string; before: string; tokens: string },
): Promise<void> {
  await db.query(sql.type(Nothing)`
    update obie.consents set tokens = ${tokens} where state = ${state} and tokens = ${before}
  `)
}

/** Leases the renewal of a consent's tokens: false where another process has it. */
export async function leaseRenewal(
  db: CommonQueryMethods,
  { state, seconds }: { state: string; seconds: number },
): Promise<boolean> {
  const { rowCount } = await db.query(sql.prepared('lease_obie_renewal', Nothing)`
    update obie.consents set renewed_until = now() + ${seconds} * interval '1 second'
    where state = ${state} and (renewed_until is null or renewed_until < now())
  `)
  return rowCount === 1
}

export const VisitRow = z.strictObject({
  nonce: z.string(),
  state: z.string(),
  browser: z.string(),
  verifier: z.string(),
  returned: z.boolean(),
  bank_code: z.string().nullable(),
})
export type VisitRow = z.infer<typeof VisitRow>

const visitColumns = sql.fragment`nonce, state, browser, verifier, returned_at is not null as returned, bank_code`

export async function insertVisit(
  db: CommonQueryMethods,
  visit: Pick<VisitRow, 'nonce' | 'state' | 'browser' | 'verifier'>,
): Promise<void> {
  await db.query(sql.prepared('insert_obie_visit', Nothing)`
    insert into obie.visits (nonce, state, browser, verifier)
    values (${visit.nonce}, ${visit.state}, ${visit.browser}, ${visit.verifier})
  `)
}

/** Whether this browser was sent to the bank for this payment. */
export async function hasVisitOf(
  db: CommonQueryMethods,
  { state, browser }: { state: string; browser: string },
): Promise<boolean> {
  return db.exists(sql.prepared('has_obie_visit_of', Nothing)`
    select from obie.visits where state = ${state} and browser = ${browser}
  `)
}

export function findVisit(
  db: CommonQueryMethods,
  { state, nonce }: { state: string; nonce: string },
): Promise<VisitRow | null> {
  return db.maybeOne(sql.prepared('find_obie_visit', VisitRow)`
    select ${visitColumns} from obie.visits where nonce = ${nonce} and state = ${state}
  `)
}

export function findLastVisit(
  db: CommonQueryMethods,
  { state, browser }: { state: string; browser: string },
): Promise<VisitRow | null> {
  return db.maybeOne(sql.type(VisitRow)`
    select ${visitColumns} from obie.visits where state = ${state} and browser = ${browser}
    order by created_at desc limit 1
  `)
}

export function findVisitByCode(
  db: CommonQueryMethods,
  { state, codeHash }: { state: string; codeHash: string },
): Promise<VisitRow | null> {
  return db.maybeOne(sql.prepared('find_obie_visit_by_code', VisitRow)`
    select ${visitColumns} from obie.visits where code_hash = ${codeHash} and state = ${state}
  `)
}

/** Keeps the bank's code, once: false where the visit had an answer before. */
export async function saveReturn(
  db: CommonQueryMethods,
  { nonce, codeHash, bankCode }: { nonce: string; codeHash: string; bankCode: string },
): Promise<boolean> {
  const { rowCount } = await db.query(sql.prepared('save_obie_return', Nothing)`
    update obie.visits set returned_at = now(), code_hash = ${codeHash}, bank_code = ${bankCode}
    where nonce = ${nonce} and returned_at is null
  `)
  return rowCount === 1
}

export const PaymentRow = z.strictObject({
  payment_id: z.string(),
  consent_state: z.string(),
  request: z.string(),
  bank_payment_id: z.string().nullable(),
  times_asked: z.int(),
  /** Since the order was first sent. */
  age_seconds: z.number().nullable(),
  /** Since it was last sent, and since the time before that; without those that the bank has refused. */
  asked_seconds: z.number().nullable(),
  asked_before_seconds: z.number().nullable(),
})
export type PaymentRow = z.infer<typeof PaymentRow>

const paymentColumns = sql.fragment`
  payment_id, consent_state, request, bank_payment_id, times_asked,
  extract(epoch from now() - first_sent_at)::float8 as age_seconds,
  extract(epoch from now() - asked_at)::float8 as asked_seconds,
  extract(epoch from now() - asked_before_at)::float8 as asked_before_seconds
`

/** Stores an order before it is sent, unless it was stored before. */
export async function insertPayment(
  db: CommonQueryMethods,
  payment: { paymentId: string; consentState: string; request: string },
): Promise<void> {
  await db.query(sql.prepared('insert_obie_payment', Nothing)`
    insert into obie.payments (payment_id, consent_state, request)
    values (${payment.paymentId}, ${payment.consentState}, ${payment.request})
    on conflict (payment_id) do nothing
  `)
}

export function findPayment(db: CommonQueryMethods, paymentId: string): Promise<PaymentRow | null> {
  return db.maybeOne(sql.prepared('find_obie_payment', PaymentRow)`
    select ${paymentColumns} from obie.payments where payment_id = ${paymentId}
  `)
}

/** Notes the bank's id of an order, which stays: false where it has another one, or another order of the consent has this one. */
export async function savePaymentId(
  db: CommonQueryMethods,
  { paymentId, bankPaymentId }: { paymentId: string; bankPaymentId: string },
): Promise<boolean> {
  const { rowCount } = await db.query(sql.prepared('save_obie_payment_id', Nothing)`
    update obie.payments p set bank_payment_id = ${bankPaymentId}
    where payment_id = ${paymentId} and coalesce(bank_payment_id, ${bankPaymentId}) = ${bankPaymentId}
      and not exists (
        select from obie.payments other
        where other.consent_state = p.consent_state and other.bank_payment_id = ${bankPaymentId}
          and other.payment_id <> p.payment_id
      )
  `)
  return rowCount === 1
}

/** Before the order is sent, or asked about: an order that was never sent is certainly not taken. */
export async function noteAsking(db: CommonQueryMethods, paymentId: string): Promise<void> {
  await db.query(sql.prepared('note_obie_asking', Nothing)`
    update obie.payments
    set times_asked = times_asked + 1, asked_before_at = asked_at, asked_at = now(),
      first_sent_at = coalesce(first_sent_at, now())
    where payment_id = ${paymentId}
  `)
}

/** After a sending that was refused: the one before it is again the last that the bank may be at work on. */
export async function noteRefusal(db: CommonQueryMethods, paymentId: string): Promise<void> {
  await db.query(sql.prepared('note_obie_refusal', Nothing)`
    update obie.payments set asked_at = asked_before_at where payment_id = ${paymentId}
  `)
}
