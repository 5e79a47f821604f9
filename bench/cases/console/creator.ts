import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'undici'
import { z } from 'zod'

const PER_SECOND = 200
const BODY = JSON.stringify({ amount: '50.00', currency: 'GBP', redirect_uri: 'https://shop.example/return' })
const TURNS_MAX = 20

const Created = z.object({ payment_id: z.string() })

/** The generator of payments. */
export type PaymentCreator = {
  run(): Promise<void>
  isDone(): boolean
  seconds(): number
  /** When a payment was created, by the end of its id; milliseconds of the monotonic clock. */
  at(end: string): number | undefined
  newest(): string
  /** The number of responses that the service was too busy. */
  busy(): number
}

/** Creates payments over HTTP at an even rate. */
export function makePaymentCreator(url: string, clientId: string, count: number): PaymentCreator {
  const pool = new Pool(url, { connections: 16 })
  const known = new Map<string, number>()
  let newest = { id: '', at: 0 }
  let [begun, ended, busy] = [0, 0, 0]

  /** Creates a payment, and retries with the same key while the service is too busy. */
  async function create(): Promise<void> {
    const key = randomUUID()
    for (let turn = 0; ; turn += 1) {
      const { statusCode, body } = await pool.request({
        method: 'POST',
        path: '/api/v1/payments',
        headers: { 'content-type': 'application/json', 'x-merchant-client-id': clientId, 'x-idempotency-key': key },
        body: BODY,
      })
      const text = await body.text()
      if (statusCode === 503 && turn < TURNS_MAX) {
        busy += 1
        await delay(100)
        continue
      }
      if (statusCode !== 201) throw new Error(`answered ${statusCode}: ${text}`)
      const { payment_id: id } = Created.parse(JSON.parse(text))
      const at = performance.now()
      known.set(id.slice(-8), at)
      if (at > newest.at) newest = { id, at }
      return
    }
  }

  return {
    async run() {
      begun = performance.now()
      const all: Promise<void>[] = []
      let failure: unknown
      while (all.length < count) {
        const due = Math.min(count, Math.floor(((performance.now() - begun) / 1000) * PER_SECOND) + 1)
        while (all.length < due) all.push(create().catch((error: unknown) => void (failure ??= error)))
        if (failure !== undefined) break
        await delay(4)
      }
      await Promise.all(all)
      ended = performance.now()
      await pool.close()
      if (failure !== undefined) throw failure
    },
    isDone: () => ended > 0,
    seconds: () => (ended - begun) / 1000,
    at: (end) => known.get(end),
    newest: () => newest.id,
    busy: () => busy,
  }
}
