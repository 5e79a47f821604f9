import { randomUUID } from 'node:crypto'
import { listMerchants, setKybStatus, setPayoutHold } from '../../../src/wire/admin.ts'
import { createSandboxMerchant } from '../../../src/wire/sandbox.ts'
import type { NewSandboxMerchant, SandboxMerchant } from '../../../src/wire/sandbox.ts'
import { putWebhookEndpoint } from '../../../src/wire/webhooks.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import { APPLICANTS, SHOPS, SUSPENDED } from './words.ts'

export type Shop = {
  name: string
  /** Undefined where it was there before, and only its own client knows it. */
  merchantId: string | undefined
  client: Client
}

/** Nothing listens on the port of "discard": webhooks to it are never delivered. */
const DEAF = 'http://127.0.0.1:9/webhooks'

export function nameOf(name: string, seed: number): string {
  return seed === 1 ? name : `${name} ${seed}`
}

/** How far a seed of this number came here before: to its end, or no farther than some of what it makes. */
export async function seededBefore(client: Client, seed: number): Promise<'whole' | 'part' | 'nothing'> {
  if (await isThere(client, nameOf(APPLICANTS[0], seed))) return 'whole'
  return (await isThere(client, nameOf(SHOPS[0].name, seed))) ? 'part' : 'nothing'
}

async function isThere(client: Client, name: string): Promise<boolean> {
  const { body } = await call(client, listMerchants, { query: { search: name, limit: 100 } })
  return body.data.some((merchant) => merchant.trading_name === name)
}

/**
 * Makes shops with a receiver that answers; where there is more than one, nothing listens at the last one's.
 * @param count 1 to the number of names that there are
 */
export async function makeShops(
  client: Client,
  { seed, count, onMade }: { seed: number; count: number; onMade(name: string): void },
): Promise<Shop[]> {
  const shops: Shop[] = []
  for (const [index, shop] of SHOPS.slice(0, count).entries()) {
    const isDeaf = count > 1 && index === count - 1
    const made = await make(client, { ...shop, name: nameOf(shop.name, seed), webhook_url: isDeaf ? DEAF : null })
    onMade(made.name)
    const acting = asMerchant(client, made)
    const url = `${client.apiUrl}/dev/webhook-receiver/${made.merchant_id}`
    if (!isDeaf) await call(acting, putWebhookEndpoint, { body: { webhook_url: url } })
    shops.push({ name: made.name, merchantId: made.merchant_id, client: acting })
  }
  return shops
}

export function heldOf(shops: readonly Shop[]): Shop | undefined {
  return shops.length > 2 ? shops[1] : undefined
}

/** What waits for an operator beside payments: a hold where there are three shops, a suspension, and reviews. */
export async function makeReviews(
  client: Client,
  { seed, shops }: { seed: number; shops: readonly Shop[] },
): Promise<{ held: string[]; pending: string[] }> {
  const held = heldOf(shops)
  if (held !== undefined)
    await call(client, setPayoutHold, {
      params: { id: held.merchantId ?? '' },
      body: { payout_held: true, reason: 'Refunds are twice what they were last month' },
    })
  const suspended = await make(client, { name: nameOf(SUSPENDED, seed) })
  await call(client, setKybStatus, {
    params: { id: suspended.merchant_id },
    body: { kyb_status: 'SUSPENDED', reason: 'The register knows no such company' },
  })
  // The first of them last: it says that the seed is whole.
  const names = APPLICANTS.map((name) => nameOf(name, seed))
  for (const name of names.toReversed()) await make(client, { name, kyb_status: 'PENDING' })
  return { held: held === undefined ? [] : [held.name], pending: names }
}

async function make(client: Client, fields: Partial<NewSandboxMerchant> & { name: string }): Promise<SandboxMerchant> {
  const reference = `seed ${fields.name} ${randomUUID()}`
  return (await call(client, createSandboxMerchant, { body: { ...fields, reference } })).body
}

function asMerchant(client: Client, made: SandboxMerchant): Client {
  const { realm_slug: realm, client_id: clientId, client_secret: clientSecret } = made
  return {
    ...client,
    credentials: client.credentials.asMerchant({ realm, clientId, clientSecret: clientSecret ?? '' }),
  }
}
