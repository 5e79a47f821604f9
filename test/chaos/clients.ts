import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { request } from 'undici'

/**
 * The ledger of one payment as its shop keeps it. What timed out is indeterminate: it is asked again under the same key until
 * there is an answer.
 */
export type Entry = {
  shop: number
  key: string
  amount: string
  /** Every id that a 2xx answer had: more than one is a payment made twice. */
  ids: Set<string>
  /** The statuses that reads showed, in their order. */
  seen: string[]
  refundKey: string | undefined
  refundIds: Set<string>
  /** Answers of a kind that the contract does not have. */
  odd: string[]
}

export type Traffic = {
  entries: Entry[]
  requests: number
  unanswered: Record<string, number>
  /** When payments were created. */
  createdAt: number[]
  /** How long each 503 took. */
  refusedMs: number[]
  /** Requests with forged tokens that were answered otherwise than as such. */
  intrusions: string[]
  /** How many of them were answered 401. */
  forgedRejected: number
}

export function newTraffic(): Traffic {
  return { entries: [], requests: 0, unanswered: {}, createdAt: [], refusedMs: [], intrusions: [], forgedRejected: 0 }
}

type Headers = Record<string, string>

type ForgedHeaders = (shop: number) => Promise<Headers>

type ClientInput = {
  addresses: readonly string[]
  shops: number
  /** What a shop shows of itself. */
  headersOf(shop: number): Promise<Headers>
  /** Where there are tokens: headers that must never be accepted. */
  forged: ForgedHeaders | undefined
  /** Where there is a model bank: the payer's way to it and back. */
  payAtBank: ((redirectUrl: string, decision: 'approve' | 'cancel') => Promise<URL | undefined>) | undefined
  random: () => number
  traffic: Traffic
  isOver: () => boolean
}

const TIMEOUT_MS = 4_000
const REPEATS_MAX = 200
const RETRYABLE = [429, 500, 502, 503, 504]
const VISITS_MAX = 5

type Answer = { status: number; body: Record<string, string>; location: string | undefined }

/** One payment after the other, with refunds of some, until it is over. */
export async function runClient(input: ClientInput): Promise<void> {
  while (!input.isOver()) {
    await pay(input).catch((error: unknown) => count(input.traffic, `gave up: ${String(error).slice(0, 80)}`))
    if (input.forged !== undefined && input.random() < 0.05) await intrude(input, input.forged)
    await delay(20 + input.random() * 100)
  }
}

async function pay(input: ClientInput): Promise<void> {
  const { random, shops, traffic, payAtBank } = input
  const shop = Math.floor(random() * shops)
  const isAtModelBank = payAtBank !== undefined && random() < 0.3
  const entry: Entry = {
    shop,
    key: randomUUID(),
    amount: `${1 + Math.floor(random() * (isAtModelBank ? 9 : 900))}.${10 + Math.floor(random() * 90)}`,
    ids: new Set(),
    seen: [],
    refundKey: undefined,
    refundIds: new Set(),
    odd: [],
  }
  traffic.entries.push(entry)
  const create = {
    method: 'POST',
    path: '/api/v1/payments',
    shop,
    headers: { 'x-idempotency-key': entry.key },
    body: JSON.stringify({
      amount: entry.amount,
      currency: 'GBP',
      redirect_uri: 'https://shop.example/return',
      ...(isAtModelBank ? { debtor_bank_id: 'model' } : {}),
    }),
  } as const
  const created = await ask(input, create)
  const id = created.body['payment_id'] ?? ''
  note(entry.ids, entry, created, [200, 201], id)
  // Some ask twice, whatever they were answered.
  if (random() < 0.2) {
    const again = await ask(input, create)
    note(entry.ids, entry, again, [200, 201], again.body['payment_id'] ?? '')
  }
  if (random() < 0.05) return
  const address = created.body['redirect_url'] ?? ''
  const back = isAtModelBank ? await visit(input, address) : await decide(input, address)
  if (back === undefined) return
  const { searchParams } = back
  await ask(input, {
    method: 'POST',
    path: `/api/v1/payments/${id}/sca-complete`,
    body: JSON.stringify(Object.fromEntries(searchParams)),
  })
  await follow(input, entry, id)
  if (isAtModelBank || entry.seen.at(-1) !== 'Settled' || random() < 0.6) return
  entry.refundKey = randomUUID()
  const refunded = await ask(input, {
    method: 'POST',
    path: `/api/v1/payments/${id}/refund`,
    shop,
    headers: { 'x-idempotency-key': entry.refundKey },
    body: '{}',
  })
  note(entry.refundIds, entry, refunded, [200, 201, 202, 409, 422], refunded.body['refund_id'] ?? '')
}

/** The payer decides on the page of the mock bank. */
async function decide(input: ClientInput, redirectUrl: string): Promise<URL | undefined> {
  const { pathname, search } = new URL(redirectUrl)
  const { location } = await ask(input, {
    method: 'POST',
    path: pathname + search,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `decision=${input.random() < 0.92 ? 'approve' : 'cancel'}`,
  })
  return location === undefined ? undefined : new URL(location)
}

/** The same at the model bank. A payer gives up after some errors: nobody knows then whether the bank has agreed. */
async function visit({ payAtBank, random, traffic }: ClientInput, redirectUrl: string): Promise<URL | undefined> {
  const decision = random() < 0.92 ? 'approve' : 'cancel'
  for (let attempt = 0; attempt < VISITS_MAX; attempt += 1) {
    try {
      return await payAtBank?.(redirectUrl, decision)
    } catch {
      count(traffic, 'visit of the bank')
      await delay(500)
    }
  }
  return undefined
}

/** Whoever shows a forged token is answered 401, or not at all. */
async function intrude({ addresses, shops, random, traffic }: ClientInput, forged: ForgedHeaders): Promise<void> {
  const address = addresses[Math.floor(random() * addresses.length)] ?? ''
  const headers = await forged(Math.floor(random() * shops))
  const answer = await request(`${address}/api/v1/payments`, { headers, headersTimeout: TIMEOUT_MS }).catch(
    () => undefined,
  )
  await answer?.body.dump()
  if (answer?.statusCode === 401) traffic.forgedRejected += 1
  if (answer !== undefined && answer.statusCode !== 401 && answer.statusCode < 500)
    traffic.intrusions.push(`${answer.statusCode} ${headers['authorization'] ?? ''}`)
}

async function follow(input: ClientInput, entry: Entry, id: string): Promise<void> {
  for (let look = 0; look < 20 && !input.isOver(); look += 1) {
    const { body } = await ask(input, {
      method: 'GET',
      path: `/api/v1/payments/${id}`,
      shop: entry.shop,
    })
    if (body['status'] !== undefined) entry.seen.push(body['status'])
    if (/Settled|Failed/.test(body['status'] ?? '')) return
    await delay(300)
  }
}

function note(ids: Set<string>, entry: Entry, { status, body }: Answer, expected: readonly number[], id: string): void {
  if (!expected.includes(status)) entry.odd.push(`${status} ${JSON.stringify(body).slice(0, 120)}`)
  if (status < 300 && id !== '') ids.add(id)
}

type ShopCall = { method: 'GET' | 'POST'; path: string; shop?: number; headers?: Headers; body?: string }

/** Repeats the same request, at any process of the API, until one answers. */
async function ask(
  { addresses, random, traffic, headersOf, forged }: ClientInput,
  { path, shop, headers = {}, ...asked }: ShopCall,
): Promise<Answer> {
  for (let repeat = 0; repeat < REPEATS_MAX; repeat += 1) {
    const address = addresses[Math.floor(random() * addresses.length)] ?? ''
    traffic.requests += 1
    const began = Date.now()
    try {
      const response = await request(address + path, {
        ...asked,
        headers: {
          ...(asked.body?.startsWith('{') === true ? { 'content-type': 'application/json' } : {}),
          ...(shop === undefined ? {} : await headersOf(shop)),
          ...headers,
        },
        headersTimeout: TIMEOUT_MS,
        bodyTimeout: TIMEOUT_MS,
      })
      const text = await response.body.text()
      if (response.statusCode === 201) traffic.createdAt.push(Date.now())
      // A genuine token is refused for a while: after a change of the key, and by a clock that is wrong.
      const isRefusedToken = response.statusCode === 401 && forged !== undefined
      if (!RETRYABLE.includes(response.statusCode) && !isRefusedToken) {
        const isJson = /json/.test(String(response.headers['content-type']))
        const location = response.headers['location']
        return {
          status: response.statusCode,
          body: isJson ? JSON.parse(text) : {},
          location: typeof location === 'string' ? location : undefined,
        }
      }
      if (response.statusCode === 503) traffic.refusedMs.push(Date.now() - began)
      count(traffic, String(response.statusCode))
    } catch (error) {
      count(traffic, error instanceof Error && 'code' in error ? String(error.code) : 'error')
    }
    await delay(100 + random() * 200)
  }
  throw new Error(`no answer after ${REPEATS_MAX} tries`)
}

function count({ unanswered }: Traffic, what: string): void {
  unanswered[what] = (unanswered[what] ?? 0) + 1
}
