import { listAccounts } from '../../src/wire/accounts.ts'
import type { Account } from '../../src/wire/accounts.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { CliError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { resolveAccount } from './named-account.ts'
import { notFound } from '../kit/resolve-id.ts'
import { PAGE_SIZE_MAX, collect } from './pages.ts'
import type { ObReader } from './pages.ts'

export function accountReader(client: Client): ObReader<Account> {
  return async (query) => (await call(client, listAccounts, { query })).body
}

/** All accounts of the customer, in the service's order. */
export async function allAccounts(client: Client): Promise<Account[]> {
  const paging = { page: '1', pageSize: String(PAGE_SIZE_MAX), all: true }
  return (await collect(paging, ({ AccountId }) => AccountId, accountReader(client))).items
}

/**
 * The customer's account that the user means, as `resolveAccount` reads it; the first one where nothing is said.
 * @throws {CliError} exit code 6 where there is none, 2 where a part fits more than one
 */
export async function findAccount(client: Client, text: string | undefined): Promise<Account> {
  const accounts = await allAccounts(client)
  if (text === undefined) {
    const [first] = accounts
    if (first !== undefined) return first
    throw new CliError('NOT_FOUND', 'this customer has no account', {
      exit: EXIT.notFound,
      hint: 'svc whoami --customer',
    })
  }
  const named = accounts.map(({ AccountId, Account: names }) => ({
    id: AccountId,
    numbers: names.map(({ Identification }) => Identification),
  }))
  const id = await resolveAccount(text, 'account', named)
  const found = accounts.find(({ AccountId }) => AccountId === id)
  if (found === undefined) throw notFound(text, 'account')
  return found
}
