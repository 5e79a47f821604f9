import { isUuid } from '../../src/lib/ids.ts'
import { isSlug, realmOfClientId } from '../../src/lib/realms.ts'
import { getMerchant, listMerchants } from '../../src/wire/admin.ts'
import type { AdminMerchant } from '../../src/wire/admin.ts'
import type { OperationReply } from '../../src/wire/operation.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { CliError, usageError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { idsIn, resolveId, rowsIn } from '../kit/resolve-id.ts'

export type MerchantDetails = OperationReply<typeof getMerchant>['body']

/** A merchant, and whether the words that named it can mean no other: its whole id, its realm, its client id. */
export type FoundMerchant = { merchant: MerchantDetails; isExact: boolean }

/** At most so many matches are listed; more of them need a longer word. */
const PARTS_MAX = 5

/**
 * The merchant that a word means: by id, by the name of its realm, by its client id, or by 8 characters or
 * more of the id's beginning or end. Names are the merchant's own choice, so they name nothing; the error says whose they are.
 * @throws {CliError} when there is none, or more than one
 */
export async function findMerchant(client: Client, given: string): Promise<FoundMerchant> {
  const { id, isExact } = await idOf(client, given)
  const { body: merchant } = await call(client, getMerchant, { params: { id } })
  return { merchant, isExact }
}

async function idOf(client: Client, given: string): Promise<{ id: string; isExact: boolean }> {
  if (isUuid(given)) return { id: given.toLowerCase(), isExact: true }
  const named = await byName(client, given)
  if (named !== undefined) return { id: named.id, isExact: true }
  try {
    return { id: await resolveId(given, 'merchant', () => idsIn(client, listMerchants, 'id')), isExact: false }
  } catch (error) {
    if (!(error instanceof CliError) || error.options.exit !== EXIT.notFound) throw error
    const { data } = await byPart(client, given)
    const hint = wholeNamed(data, given).map(({ realm_slug: realm, id }) => `svc merchants show ${realm ?? id}`)
    throw hint.length === 0
      ? error
      : new CliError(error.code, error.message, { ...error.options, hint: hint.join('\n') })
  }
}

async function byPart(client: Client, text: string) {
  return (await call(client, listMerchants, { query: { search: text, limit: PARTS_MAX } })).body
}

function wholeNamed(merchants: readonly AdminMerchant[], name: string): AdminMerchant[] {
  return merchants.filter(({ trading_name: each }) => each.toLowerCase() === name.toLowerCase())
}

/** By the realm, or by a client id, which begins with its realm. */
async function byName(client: Client, name: string): Promise<AdminMerchant | undefined> {
  if (!isSlug(name)) return undefined
  const ofRealm = await inRealm(client, name)
  if (ofRealm !== undefined) return ofRealm
  const realm = realmOfClientId(name)
  const found = realm === undefined ? undefined : await inRealm(client, realm)
  return found?.client_id === name ? found : undefined
}

async function inRealm(client: Client, realm: string): Promise<AdminMerchant | undefined> {
  for await (const merchant of rowsIn(client, listMerchants, { search: realm }))
    if (merchant.realm_slug === realm) return merchant
  return undefined
}

/** The id of the merchant that a flag names; undefined where none does. @throws {CliError} as above */
export async function merchantId(client: Client, given: string | undefined): Promise<string | undefined> {
  return given === undefined ? undefined : (await findMerchant(client, given)).merchant.id
}

/**
 * The id of the merchant that people name: as above, or by a part of its realm or of its names that no other has.
 * @throws {CliError} when there is none, or more than one
 */
export async function findMerchantByPart(client: Client, text: string): Promise<string> {
  try {
    return (await findMerchant(client, text)).merchant.id
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    const body = await byPart(client, text)
    const whole = wholeNamed(body.data, text)
    const found = whole.length === 1 ? whole : body.data
    const [only] = found
    if (only === undefined) throw error
    if (found.length === 1) return only.id
    const names = found.map(({ realm_slug: realm, trading_name: name }) => realm ?? name)
    throw usageError(`"${text}" may be ${names.join(', ')}${body.has_more ? ' and others' : ''}: which of them?`)
  }
}
