import type { CommonQueryMethods } from 'slonik'
import { findByNumber } from '../accounts/find-by-number.ts'
import { isOurs } from '../accounts/our-bank.ts'
import { IBAN, SORT_CODE_ACCOUNT_NUMBER, normalIdentification } from '../lib/account-identification.ts'
import type { FailureCode } from '../lib/failure-codes.ts'
import { isUuid } from '../lib/ids.ts'
import type { DebtorAccount } from './connector.ts'
import { findPayingAccount, listPayingAccounts } from './mock-accounts-sql.ts'
import type { PayingAccount } from './mock-accounts-sql.ts'
import type { MockBankRequest } from './mock-request.ts'

/** The number of accounts that the bank's page offers; a program may name any other one. */
const OFFERED_MAX = 20

/**
 * The id of an account with a number of this bank that does not exist: no row has it, so that no money comes from it.
 */
const NO_ACCOUNT = '00000000-0000-0000-0000-000000000000'

/** The accounts that can pay: the one that the payment names, or else a choice. */
export type PayingAccounts = {
  named: PayingAccount | null
  offered: readonly PayingAccount[]
  /** Why the named account can't pay at present, and the failure code of an approved payment; null where it can. */
  failure: { problem: string; code: FailureCode } | null
}

/** The accounts for the bank's page. An account at another bank that the payment names is not listed. */
export async function payingAccounts(db: CommonQueryMethods, request: MockBankRequest): Promise<PayingAccounts> {
  const named = await namedAccount(db, request)
  // Staged before the bank knew its payees: no account could be credited.
  if (request.payeeId === undefined) return { named: accountOf(named), offered: [], failure: null }
  if (named !== ELSEWHERE) return { named: accountOf(named), offered: [], failure: failureOf(named, request.currency) }
  const offered = await listPayingAccounts(db, { currency: request.currency, limit: OFFERED_MAX })
  return { named: null, offered, failure: null }
}

/**
 * The debtor account of a payment: the one that it names, where the number belongs to this bank, otherwise the one that
 * the payer chose by its id or number. Null is an account at another bank. A payment from a nonexistent number can be
 * approved and fails on execution, like one from a closed account.
 */
export async function choosePayingAccount(
  db: CommonQueryMethods,
  request: MockBankRequest,
  chosen: string | undefined,
): Promise<{ accountId: string | null } | { problem: string }> {
  const named = await namedAccount(db, request)
  if (chosen === undefined || chosen === '') {
    if (named === NOWHERE) return { accountId: NO_ACCOUNT }
    return { accountId: named === ELSEWHERE ? null : named.id }
  }
  const account = await findChosen(db, chosen)
  if (account === null) return { problem: 'this bank has no such account' }
  if (named !== ELSEWHERE) {
    const isNamed = named !== NOWHERE && account.id === named.id
    return isNamed ? { accountId: named.id } : { problem: 'the payment names another debtor account' }
  }
  if (request.payeeId === undefined) return { problem: 'the payment does not name a payee account' }
  if (account.of_merchant) return { problem: 'it is the settlement account of a merchant' }
  const failure = failureOf(account, request.currency)
  return failure === null ? { accountId: account.id } : { problem: failure.problem }
}

const ELSEWHERE = 'at another bank, or none at all'
const NOWHERE = 'at this bank, which has no such account'

/** The debtor account that a payment names. */
type NamedAccount = PayingAccount | typeof ELSEWHERE | typeof NOWHERE

async function namedAccount(db: CommonQueryMethods, { debtorAccount }: MockBankRequest): Promise<NamedAccount> {
  if (debtorAccount === undefined) return ELSEWHERE
  const account = await findOurs(db, debtorAccount)
  // Only the bank moves money of settlement accounts: to payers they do not exist.
  if (account !== null) return account.of_merchant ? NOWHERE : account
  const number = normalIdentification(debtorAccount.scheme, debtorAccount.identification)
  return number !== undefined && isOurs(number) ? NOWHERE : ELSEWHERE
}

function accountOf(named: NamedAccount): PayingAccount | null {
  return named === ELSEWHERE || named === NOWHERE ? null : named
}

/** The first reason for which execution would fail (mock-transfer-failures.ts), except insufficient funds. */
function failureOf(account: PayingAccount | typeof NOWHERE, currency: string): PayingAccounts['failure'] {
  if (account === NOWHERE) return { problem: 'this bank has no such account', code: 'INVALID_DEBTOR_ACCOUNT' }
  if (account.status === 'Closed') return { problem: 'it is closed', code: 'ACCOUNT_CLOSED' }
  if (account.status === 'Blocked') return { problem: 'it is blocked', code: 'ACCOUNT_BLOCKED' }
  if (account.currency === currency) return null
  return { problem: `it is in ${account.currency}, and the payment in ${currency}`, code: 'INVALID_DEBTOR_ACCOUNT' }
}

async function findChosen(db: CommonQueryMethods, chosen: string): Promise<PayingAccount | null> {
  if (isUuid(chosen)) return findPayingAccount(db, chosen)
  const scheme = /^[a-z]/i.test(chosen) ? IBAN : SORT_CODE_ACCOUNT_NUMBER
  return findOurs(db, { scheme, identification: chosen })
}

async function findOurs(
  db: CommonQueryMethods,
  { scheme, identification }: DebtorAccount,
): Promise<PayingAccount | null> {
  const normal = normalIdentification(scheme, identification)
  const account = normal === undefined ? null : await findByNumber(db, { scheme, identification: normal })
  return account === null ? null : findPayingAccount(db, account.id)
}
