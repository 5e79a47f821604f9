import type { DatabaseTransactionConnection } from 'slonik'
import type { SchemeName } from '../lib/account-identification.ts'
import type { FailureCode } from '../lib/failure-codes.ts'
import type { BankRedirects } from './redirects.ts'

/**
 * The interface to a bank. The mock bank implements it for the sandbox; a real connector would call a bank's API. Every
 * call may be repeated: the bank recognises repeats by their ids. No call is made inside a transaction (decisions 17,
 * 53 and 54).
 */
export type BankConnector = StagesConsents & {
  /** The name in `/api/v1/bank/callbacks/{connector}`. */
  readonly id: string
  /**
   * Exchanges the code of the payer's redirect for the outcome of the authorisation. Repeating it for the same state
   * and code gives the same outcome.
   * @throws {BankUnavailableError} when the bank gives no answer; nothing is then known
   */
  exchangeCode(request: { state: string; code: string }, signal: AbortSignal): Promise<AuthorisationOutcome>
  /**
   * What the bank itself says of a consent. It is asked before anything that a browser claims may end a payment.
   * @throws {BankUnavailableError} when the bank gives no answer; nothing is then known
   */
  readConsent(request: { state: string }, signal: AbortSignal): Promise<ConsentView>
  /**
   * Executes an authorised payment; `paymentId` is the bank's idempotency key. Where the bank settles later, it is
   * called again until the outcome is final.
   * @throws {BankUnavailableError} when the bank gives no answer; the payment may or may not have been made
   */
  execute(order: ExecutionOrder, signal: AbortSignal): Promise<ExecutionOutcome>
  /**
   * Gives money back; `refundId` is the bank's idempotency key. Undefined for a bank whose API does not refund: an operator
   * takes its refunds to the bank in a file.
   * @throws {BankUnavailableError} when the bank gives no answer
   */
  refund?(order: RefundOrder, signal: AbortSignal): Promise<RefundOutcome>
  /** Orders that the bank took without a word; undefined for a bank that always says what became of an order. */
  readonly unanswered?: UnansweredOrders
  /** Transfers to merchants' bank accounts; undefined for a bank whose API makes none. */
  readonly payouts?: BankPayouts
  /**
   * Stages a payment under a mandate that the payer authorised before; `paymentId` is the bank's idempotency key.
   * @throws {BankUnavailableError} when the bank gives no answer
   */
  stageUnderMandate(order: MandateOrder, signal: AbortSignal): Promise<StagingOutcome>
  /**
   * Authorises a payment that was staged under a mandate, without the payer. Repeating it gives the same outcome. It
   * must not execute: only `execute` moves money, so an authorisation that is not used, because the mandate ended or
   * the answer came too late, lapses.
   * @throws {BankUnavailableError} when the bank gives no answer; nothing is then known
   */
  authoriseUnderMandate(order: MandateOrder, signal: AbortSignal): Promise<BankCallback['result']>
  /**
   * Ends a mandate at the bank, which accepts no further payment under it. Repeating it changes nothing.
   * @throws {BankUnavailableError} when the bank gives no answer
   */
  endMandate(mandate: { bankConsentReference: string }, signal: AbortSignal): Promise<void>
  /** Verifies and parses a callback; undefined when it is not from the bank (decision 54). Banks without callbacks lack it. */
  readCallback?(callback: {
    headers: Readonly<Record<string, string | undefined>>
    rawBody: Buffer
  }): BankCallback | undefined
  /** The payer's way through the bank's own pages; undefined where `redirectUrl` of a consent leads there directly. */
  readonly redirects?: BankRedirects
  /** Ends its connections. */
  close?(): Promise<void>
  /** The same bank within a transaction, if it keeps its books in the service's database: for dry runs. */
  within?(tx: DatabaseTransactionConnection): BankConnector
}

type UnansweredOrders = {
  /**
   * Whether the bank has this order under an id of its own, which an operator was given there.
   * @throws {BankUnavailableError} when the bank gives no answer
   */
  isOrder(order: { paymentId: string; bankPaymentId: string }, signal: AbortSignal): Promise<boolean>
  /** Notes the bank's id of an order: from now on `execute` asks for it. False where another order has that id. */
  note(tx: DatabaseTransactionConnection, order: { paymentId: string; bankPaymentId: string }): Promise<boolean>
}

type BankPayouts = {
  /**
   * Sends money to a merchant's bank account; `payoutId` is the bank's idempotency key.
   * @throws {BankUnavailableError} when the bank gives no answer; the transfer may or may not have been made
   */
  send(order: PayoutOrder, signal: AbortSignal): Promise<PayoutOutcome>
  /**
   * Executed payouts whose money came back, the oldest first, after the position of an earlier answer. The position
   * is that of the last of them.
   * @throws {BankUnavailableError} when the bank gives no answer
   */
  returns(request: { after: string | undefined }, signal: AbortSignal): Promise<PayoutReturns>
}

/**
 * Whether staging a consent needs a call to the bank. Local: the references are generated here, and creating a payment
 * is one statement. Remote: the payment is recorded as Initiated first and staged outside the transaction (decision
 * 17).
 */
type StagesConsents =
  | { readonly staging: 'local'; stage(request: ConsentRequest): StagedConsent }
  | { readonly staging: 'remote'; stage(request: ConsentRequest, signal: AbortSignal): Promise<StagedConsent> }

export type ConsentRequest = {
  paymentId: string
  consentId: string
  endToEndId: string
  /** The unguessable token that the payer brings back (`bank_consent_id`). */
  state: string
  /** numeric(19,4) as text. */
  amount: string
  currency: string
  /** The merchant, whose account the bank credits. */
  payeeId: string
  payeeName: string
  redirectUri: string
  debtorBankId: string | undefined
  /** The account that the merchant expects the money from; undefined lets the payer choose. */
  debtorAccount: DebtorAccount | undefined
  /** The reference on the payer's statement. */
  remittanceReference: string | undefined
  /** Sandbox behaviour by name; undefined in live mode. */
  scenario: string | undefined
  /**
   * The mandate that the payer authorises with its first payment: further payments of at most that amount each, until
   * it ends.
   */
  mandate?: { maxAmountPerPayment: string; limits: readonly MandateLimit[]; validTo: string } | undefined
}

/** The limit on the sum of payments within one period: numeric(19,4) as text. */
export type MandateLimit = {
  period: 'DAY' | 'WEEK' | 'FORTNIGHT' | 'MONTH' | 'HALF_YEAR' | 'YEAR'
  /** Where periods begin: with the calendar's own, or on the day of the mandate. */
  alignment: 'CALENDAR' | 'CONSENT'
  maxAmount: string
}

export type DebtorAccount = { scheme: SchemeName; identification: string }

/** The account of a payment's own two members, which come together or not at all. */
export function debtorAccountOf(payment: {
  debtor_account_scheme?: SchemeName | null | undefined
  debtor_identification?: string | null | undefined
}): DebtorAccount | undefined {
  const { debtor_account_scheme: scheme, debtor_identification: identification } = payment
  return scheme && identification ? { scheme, identification } : undefined
}

export type StagedConsent = { bankConsentReference: string; redirectUrl: string }

/** A payment under a mandate. */
export type MandateOrder = {
  paymentId: string
  endToEndId: string
  state: string
  /** numeric(19,4) as text. */
  amount: string
  currency: string
  /** The bank's id of the mandate. */
  bankConsentReference: string
  /** The reference on the payer's statement. */
  remittanceReference: string | undefined
  /** Sandbox behaviour by name; undefined in live mode. */
  scenario: string | undefined
}

export type StagingOutcome = { outcome: 'staged' } | { outcome: 'rejected'; failureCode: FailureCode }

export type AuthorisationOutcome =
  | {
      outcome: 'authorised'
      bankReference: string | undefined
      settleInSeconds: number
      /** The account that the payer chose, where the bank says so: refunds by file need it. */
      debtorAccount?: DebtorAccount | undefined
    }
  | { outcome: 'rejected'; failureCode: FailureCode }
  | { outcome: 'code-invalid' }

/** `awaiting`: the payer has not decided yet, or the bank has not noted it. */
export type ConsentView =
  | { status: 'awaiting' }
  | { status: 'authorised' }
  | { status: 'rejected'; failureCode: FailureCode }

export type ExecutionOrder = {
  paymentId: string
  endToEndId: string
  state: string
  /** numeric(19,4) as text: the gross amount (decision 59). */
  amount: string
  currency: string
}

export type ExecutionOutcome =
  /** Some banks name the payer's account only now. */
  | { outcome: 'executed'; bankReference: string; debtorAccount?: DebtorAccount | undefined }
  | { outcome: 'rejected'; failureCode: FailureCode }
  /** Accepted and not settled yet. */
  | { outcome: 'pending'; askAgainInSeconds: number }
  /** The bank may have taken the order, and does not say so. Not to be asked again: an operator finds out (decision 273). */
  | { outcome: 'unanswered'; reason: string; askAgainInSeconds: number | undefined }

export type RefundOrder = {
  refundId: string
  paymentId: string
  endToEndId: string
  state: string
  /** numeric(19,4) as text. */
  amount: string
  currency: string
}

export type RefundOutcome =
  | { outcome: 'executed'; bankReference: string }
  | { outcome: 'refused'; failureCode: FailureCode }

export type PayoutOrder = {
  payoutId: string
  endToEndId: string
  merchantId: string
  /** The merchant's name, for the statement of the account that is paid. */
  payerName: string
  /** numeric(19,4) as text, with two digits that count. */
  amount: string
  currency: string
  account: { holderName: string; sortCode: string; accountNumber: string; iban: string | null }
}

export type PayoutOutcome =
  | { outcome: 'executed'; bankReference: string }
  | { outcome: 'rejected'; failureCode: FailureCode }

export type PayoutReturns = {
  returns: readonly { payoutId: string; merchantId: string; bankReference: string; failureCode: FailureCode }[]
  /** Undefined without a return. */
  position: string | undefined
}

/** A bank's own report on an authorisation, its origin proven. */
export type BankCallback = { state: string; result: Exclude<AuthorisationOutcome, { outcome: 'code-invalid' }> }

/**
 * The connector that a payment went to.
 * @throws {BankUnavailableError} when this process is not configured for it
 */
export function bankOf(banks: ReadonlyMap<string, BankConnector>, connector: string): BankConnector {
  const bank = banks.get(connector)
  if (bank === undefined) throw new BankUnavailableError(`the bank connector ${connector} is not configured here`)
  return bank
}

/**
 * What an error says of its bank: that it is silent; that it answers, and rejects this request; or nothing, where it was not
 * asked, or its answer is about one payer alone. Only silence closes a bank to other payments (circuit.ts).
 */
type BankState = 'silent' | 'answers' | 'unknown'

/** The bank gave no answer that helps: what became of the request is not known, and it may be repeated. */
export class BankUnavailableError extends Error {
  override readonly name = 'BankUnavailableError'
  readonly bank: BankState

  constructor(message: string, { bank = 'silent', cause }: { bank?: BankState; cause?: unknown } = {}) {
    super(message, { cause })
    this.bank = bank
  }
}
