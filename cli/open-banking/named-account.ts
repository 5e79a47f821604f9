import { IBAN, SORT_CODE_ACCOUNT_NUMBER, normalIdentification } from '../../src/lib/account-identification.ts'
import { isUuid } from '../../src/lib/ids.ts'
import { listAccounts } from '../../src/wire/accounts.ts'
import type { Account } from '../../src/wire/accounts.ts'
import { CliError, usageError } from '../base/errors.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { notFound, resolveId } from '../kit/resolve-id.ts'
import type { Noun } from '../kit/resolve-id.ts'
import { PAGE_SIZE_MAX, collect } from './pages.ts'
import type { ObReader } from './pages.ts'

/** An account as people name it: by its id, and by the numbers by which others pay it. */
export type NamedAccount = { id: string; numbers: readonly string[] }

/** An account number without the sort code of its bank. */
const ACCOUNT_NUMBER = /^\d{8}$/

/**
 * The id of the account that the user means: by its number, with or without sort code, by its IBAN, by its id, or by the
 * beginning or the end of that.
 * @throws {CliError} exit code 6 where there is none, 2 where the text fits more than one
 */
export async function resolveAccount(text: string, noun: Noun, accounts: readonly NamedAccount[]): Promise<string> {
  if (isUuid(text)) return text.toLowerCase()
  const given = text.trim()
  const number = numberIn(given)
  const isMeant = (each: string): boolean =>
    number === undefined
      ? ACCOUNT_NUMBER.test(given) && /^\d{6}/.test(each) && each.slice(6) === given
      : each === number
  const found = accounts.filter(({ numbers }) => numbers.some(isMeant))
  const [only] = found
  if (found.length > 1)
    throw usageError(
      `"${text}" is the number of several accounts`,
      `one by its id: ${found.map(({ id }) => id).join(', ')}`,
    )
  if (only !== undefined) return only.id
  if (number !== undefined) throw notFound(text, noun)
  return resolveId(given, noun, async () => accounts.map(({ id }) => id))
}

/** The number with its sort code, or the IBAN, that a text is, in the form that the API answers. */
export function numberIn(text: string): string | undefined {
  return normalIdentification(SORT_CODE_ACCOUNT_NUMBER, text) ?? normalIdentification(IBAN, text)
}

/** A sort code with its account number as banks print it; other identifications as they are. */
export function numberText(identification: string): string {
  return identification.replace(/^(\d\d)(\d\d)(\d\d)(\d{8})$/, '$1-$2-$3 $4')
}

export function accountReader(client: Client): ObReader<Account> {
  return async (query) => (await call(client, listAccounts, { query })).body
}

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
