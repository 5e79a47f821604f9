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

/** How many accounts the bank's page offers; a program may name any other one. */
const OFFERED_MAX = 20

/** Stands for an account that this bank alone could have and has not: the id of none, so that no money comes from it. */
const NO_ACCOUNT = '00000000-0000-0000-0000-000000000000'

/** Where a payment's money may come from: the account that the payment names itself, or else one of several. */
export type PayingAccounts = {
  named: PayingAccount | null
  offered: readonly PayingAccount[]
  /** Why the named account can't pay as it is now, and what an approved payment fails with; null where it can. */
  failure: { problem: string; code: FailureCode } | null
}

/** What the bank's page shows. An account that the payment names at another bank is no account here. */
export async function payingAccounts(db: CommonQueryMethods, request: MockBankRequest): Promise<PayingAccounts> {
  const named = await namedAccount(db, request)
  // Staged before the bank knew its payees: nobody could be credited.
  if (request.payeeId === undefined) return { named: accountOf(named), offered: [], failure: null }
  if (named !== ELSEWHERE) return { named: accountOf(named), offered: [], failure: failureOf(named, request.currency) }
  const offered = await listPayingAccounts(db, { currency: request.currency, limit: OFFERED_MAX })
  return { named: null, offered, failure: null }
}

/**
 * The account that a payment comes from: the one that it names, where that is a number of this bank, else the one that
 * the payer chose by its id or number. Null is an account at another bank. A payment from a number that nobody has can be
 * approved, and fails when it is executed, as it does from one that is closed.
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
    return isNamed ? { accountId: named.id } : { problem: 'the payment names another account that it comes from' }
  }
  if (request.payeeId === undefined) return { problem: 'the payment does not say whom to credit' }
  if (account.of_merchant) return { problem: 'it is the settlement account of a merchant' }
  const failure = failureOf(account, request.currency)
  return failure === null ? { accountId: account.id } : { problem: failure.problem }
}

const ELSEWHERE = 'at another bank, or none at all'
const NOWHERE = 'at this bank, which has no such account'

/** What a payment names as the account that it comes from. */
type NamedAccount = PayingAccount | typeof ELSEWHERE | typeof NOWHERE

async function namedAccount(db: CommonQueryMethods, { debtorAccount }: MockBankRequest): Promise<NamedAccount> {
  if (debtorAccount === undefined) return ELSEWHERE
  const account = await findOurs(db, debtorAccount)
  // Settlement accounts are moved by the bank alone: to payers there are none, whoever's they are.
  if (account !== null) return account.of_merchant ? NOWHERE : account
  const number = normalIdentification(debtorAccount.scheme, debtorAccount.identification)
  return number !== undefined && isOurs(number) ? NOWHERE : ELSEWHERE
}

function accountOf(named: NamedAccount): PayingAccount | null {
  return named === ELSEWHERE || named === NOWHERE ? null : named
}

/** The first of what would be refused of it (mock-transfer-failures.ts), but for what it has too little money for. */
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
