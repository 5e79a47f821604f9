import type { App } from '../app.ts'
import { accountKey } from '../lib/account-identification.ts'
import { invalidField } from '../lib/errors.ts'
import { shown } from '../lib/file-text.ts'
import type { BankFile } from './bank-file.ts'

type AccountConfig = Pick<App['config'], 'mode' | 'payoutAccounts' | 'collectionAccount' | 'statementAccounts'>

/** Accounts in the spelling of `accountKey`; undefined in a sandbox whose configuration names none, which takes any. */
export type OwnAccounts = {
  /** Those whose statements are imported. */
  all: ReadonlySet<string> | undefined
  /** Those that payouts, and refunds by file, are paid from and return to. */
  paying: ReadonlySet<string> | undefined
}

export function ownAccounts({
  mode,
  payoutAccounts,
  collectionAccount,
  statementAccounts,
}: AccountConfig): OwnAccounts {
  const paying = new Set([...payoutAccounts.values()].map(accountKey))
  const collecting = collectionAccount === undefined ? [] : [accountKey(collectionAccount.identification)]
  const all = new Set([...paying, ...collecting, ...statementAccounts])
  const takesAny = mode === 'sandbox'
  return {
    all: takesAny && all.size === 0 ? undefined : all,
    paying: takesAny && paying.size === 0 ? undefined : paying,
  }
}

/**
 * Rejects a file with a statement of an account that is not ours (decision 411). On a merchant's own statement a payout
 * is a credit, which would be believed to be its return and paid again.
 * @throws {DomainError} VALIDATION_FAILED at `csv.account`, or at `content`, which names the account of an XML file
 */
export function refuseForeign(config: AccountConfig, { format, statements }: BankFile): void {
  const { all } = ownAccounts(config)
  const foreign = all === undefined ? undefined : statements.find(({ account }) => !all.has(account))
  if (all === undefined || foreign === undefined) return
  const ours = all.size === 0 ? 'none is configured' : `these end in ${[...all].map(endOf).join(', ')}`
  const next = 'check the file, or add the account to SVC_STATEMENT_ACCOUNTS'
  const problem = `not an account of this service (${ours}): ${next}`
  if (format === 'csv') throw invalidField('csv.account', 'UNKNOWN_ACCOUNT', `is ${problem}`)
  const where = `statement ${shown(foreign.reference)}`
  throw invalidField(
    'content',
    'UNKNOWN_ACCOUNT',
    `${where}: the account that ends in ${endOf(foreign.account)} is ${problem}`,
  )
}

function endOf(account: string): string {
  return account.slice(-4)
}
