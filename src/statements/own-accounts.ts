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
  const all = new Set([...paying, ...collecting, ...statementAccounts.values()])
  const takesAny = mode === 'sandbox'
  return {
    all: takesAny && all.size === 0 ? undefined : all,
    paying: takesAny && paying.size === 0 ? undefined : paying,
  }
}

/**
 * The file, with each account in our form where its bank writes it otherwise. A file with a statement of an account that is
 * not ours is rejected (decision 411): on a merchant's own statement a payout is a credit, which would be believed to be
 * its return and paid again.
 * @throws {DomainError} VALIDATION_FAILED at `csv.account`, or at `content`, which names the account of an XML file
 */
export function withOwnAccounts(config: AccountConfig, file: BankFile): BankFile {
  const statements = file.statements.map((statement) => ({
    ...statement,
    account: config.statementAccounts.get(statement.account) ?? statement.account,
  }))
  refuseForeign(config, { ...file, statements })
  return { ...file, statements }
}

function refuseForeign(config: AccountConfig, { format, statements }: BankFile): void {
  const { all } = ownAccounts(config)
  const foreign = all === undefined ? undefined : statements.find(({ account }) => !all.has(account))
  if (all === undefined || foreign === undefined) return
  const ends = [...all].map(endOf)
  const ours = all.size === 0 ? 'none is configured' : `these end in ${ends.join(', ')}`
  const isAlike = ends.includes(endOf(foreign.account))
  const problem = isAlike
    ? 'is another one than the account of this service that ends so too, or is written in another form'
    : `is not an account of this service (${ours})`
  const next = 'check the file, or add the account as its bank writes it to SVC_STATEMENT_ACCOUNTS'
  if (format === 'csv') throw invalidField('csv.account', 'UNKNOWN_ACCOUNT', `${problem}: ${next}`)
  const where = `statement ${shown(foreign.reference)}`
  throw invalidField(
    'content',
    'UNKNOWN_ACCOUNT',
    `${where}: the account that ends in ${endOf(foreign.account)} ${problem}: ${next}`,
  )
}

function endOf(account: string): string {
  return account.slice(-4)
}
