import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { TransferOutcome } from '../accounts/transfer-sql.ts'
import { sql } from '../db/sql.ts'
import type { ExecutionOrder, RefundOrder } from './connector.ts'
import type { MockBankRequest } from './mock-request.ts'

/** The payer's decision; `approve` includes approvals that the scenario turns into another outcome. */
export const Decision = z.enum(['approve', 'cancel'])
export type Decision = z.infer<typeof Decision>

export const Authorisation = z.strictObject({
  state: z.string(),
  end_to_end_id: z.string(),
  amount: z.string(),
  currency: z.string(),
  scenario: z.string(),
  decision: Decision,
  code: z.string().nullable(),
  bank_reference: z.string(),
  payee_id: z.string().nullable(),
  payee_name: z.string(),
  /** The account of this bank that pays, and its holder; null for an account at another bank. */
  debtor_account_id: z.string().nullable(),
  debtor_name: z.string().nullable(),
  remittance_reference: z.string().nullable(),
  /** Whether its merchant has fault injection settings (faults-sql.ts): without them, a call needs no further query. */
  has_faults: z.boolean(),
})
export type Authorisation = z.infer<typeof Authorisation>

const Calls = z.strictObject({ calls: z.int() })
const Booking = z.strictObject({ payment_id: z.string(), bank_reference: z.string() })
const Refundable = z.strictObject({
  fits: z.boolean(),
  debtor_account_id: z.string().nullable(),
  creditor_account_id: z.string().nullable(),
})
type Refundable = z.infer<typeof Refundable>
const FailedTransfer = z.strictObject({ outcome: TransferOutcome })
const Taken = z.strictObject({ outcome: z.enum([...TransferOutcome.options, 'DUPLICATE']), reference: z.string() })

const columns = sql.fragment`
  state, end_to_end_id, amount, currency, scenario, decision, code, bank_reference, payee_id,
  left(payee_name, 140) as payee_name, debtor_account_id, remittance_reference,
  (select a.name from accounts a where a.id = debtor_account_id) as debtor_name,
  exists (select from mock_bank.faults f where f.merchant_id = payee_id) as has_faults
`

/** Records the payer's first decision; null after an earlier one. */
export function insertAuthorisation(
  tx: CommonQueryMethods,
  {
    request,
    decision,
    code,
    bankReference,
    debtorAccountId,
  }: {
    request: MockBankRequest
    decision: Decision
    code: string | null
    bankReference: string
    debtorAccountId: string | null
  },
): Promise<Authorisation | null> {
  return tx.maybeOne(sql.type(Authorisation)`
    insert into mock_bank.authorisations (
      state, consent_reference, end_to_end_id, amount, currency, payee_name, debtor_bank_id, scenario, decision, code,
      bank_reference, payee_id, debtor_account_id, remittance_reference, mandate_valid_to
    )
    values (
      ${request.state}, ${request.consent}, ${request.endToEndId}, ${request.amount}, ${request.currency},
      ${request.payeeName}, ${request.debtorBankId ?? null}, ${request.scenario}, ${decision}, ${code}, ${bankReference},
      ${request.payeeId ?? null}, ${debtorAccountId}, ${request.remittanceReference ?? null},
      ${request.mandate?.validTo ?? null}::timestamptz
    )
    on conflict (state) do nothing
    returning ${columns}
  `)
}

export function findAuthorisation(tx: CommonQueryMethods, state: string): Promise<Authorisation | null> {
  return tx.maybeOne(
    sql.prepared(
      'find_authorisation',
      Authorisation,
    )`select ${columns} from mock_bank.authorisations where state = ${state}`,
  )
}

/** Finds an authorisation and locks its row until the transaction ends: requests about one payment are serialised. */
export function lockAuthorisation(tx: CommonQueryMethods, state: string): Promise<Authorisation | null> {
  return tx.maybeOne(
    sql.type(Authorisation)`select ${columns} from mock_bank.authorisations where state = ${state} for update`,
  )
}

/** Counts an exchange, including this one. */
export async function countExchange(tx: CommonQueryMethods, state: string): Promise<number> {
  const row = await tx.one(sql.type(Calls)`
    update mock_bank.authorisations set exchange_calls = exchange_calls + 1 where state = ${state} returning exchange_calls as calls
  `)
  return row.calls
}

/** Counts an execution, including this one. */
export async function countExecution(tx: CommonQueryMethods, state: string): Promise<number> {
  const row = await tx.one(sql.type(Calls)`
    update mock_bank.authorisations set execution_calls = execution_calls + 1 where state = ${state} returning execution_calls as calls
  `)
  return row.calls
}

/** Moves a payment's money and books the debit, once (migrations/functions/take_money.sql). */
export function callTakeMoney(
  tx: CommonQueryMethods,
  order: ExecutionOrder,
  { amountMinor, merchantAccountId }: { amountMinor: bigint | null; merchantAccountId: string | null },
): Promise<z.infer<typeof Taken>> {
  return tx.one(sql.prepared('take_money', Taken)`
    select outcome, reference
    from mock_bank.take_money(
      ${order.state}::text, ${order.paymentId}::uuid, ${order.endToEndId}::text, ${order.amount}::numeric,
      ${amountMinor}::bigint, ${order.currency}::char(3), ${merchantAccountId}::uuid
    )
  `)
}

export function findCredit(tx: CommonQueryMethods, refundId: string): Promise<z.infer<typeof Booking> | null> {
  return tx.maybeOne(sql.type(Booking)`
    select payment_id, bank_reference from mock_bank.bank_credits where refund_id = ${refundId}
  `)
}

/** Why a refund's money did not move; null without such a record. */
export function findRefusal(tx: CommonQueryMethods, id: string): Promise<z.infer<typeof FailedTransfer> | null> {
  return tx.maybeOne(sql.type(FailedTransfer)`select outcome from mock_bank.refusals where id = ${id}`)
}

export async function insertRefusal(
  tx: CommonQueryMethods,
  { id, outcome }: { id: string; outcome: TransferOutcome },
): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    insert into mock_bank.refusals (id, outcome) values (${id}, ${outcome})
  `)
}

/** The accounts of a payment's debit, and whether the order fits into the remaining amount; null without a debit. */
export function findRefundable(tx: CommonQueryMethods, order: RefundOrder): Promise<Refundable | null> {
  return tx.maybeOne(sql.type(Refundable)`
    select d.currency = ${order.currency}
      and d.amount >= ${order.amount}::numeric + coalesce(
        (select sum(c.amount) from mock_bank.bank_credits c where c.end_to_end_id = d.end_to_end_id), 0
      ) as fits, d.debtor_account_id, d.creditor_account_id
    from mock_bank.bank_debits d
    where d.end_to_end_id = ${order.endToEndId} and d.payment_id = ${order.paymentId}
  `)
}

/** Books the credit of a refund. */
export async function insertCredit(tx: CommonQueryMethods, order: RefundOrder, bankReference: string): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    insert into mock_bank.bank_credits (refund_id, payment_id, end_to_end_id, amount, currency, bank_reference)
    values (
      ${order.refundId}, ${order.paymentId}, ${order.endToEndId}, ${order.amount}, ${order.currency}, ${bankReference}
    )
  `)
}
