// What a queue's job does to deliver a webhook: the same two signatures and the same POST as the service's own.
import { createHmac } from 'node:crypto'
import { Pool } from 'undici'

const SECRET = '0'.repeat(64)

export function makeSend(connections) {
  const pools = new Map()

  function poolOf(origin) {
    const known = pools.get(origin)
    if (known !== undefined) return known
    const made = new Pool(origin, { connections, headersTimeout: 5_000, bodyTimeout: 5_000 })
    pools.set(origin, made)
    return made
  }

  return {
    send: async ({ url, id, payload }) => {
      const { origin, pathname } = new URL(url)
      const timestamp = Math.floor(Date.now() / 1000)
      const answer = await poolOf(origin).request({
        method: 'POST',
        path: pathname,
        headers: {
          'content-type': 'application/json',
          'user-agent': 'bench/1',
          'X-Service-Signature': createHmac('sha256', SECRET).update(payload).digest('hex'),
          'webhook-id': id,
          'webhook-timestamp': String(timestamp),
          'webhook-signature': `v1,${createHmac('sha256', SECRET).update(`${id}.${timestamp}.${payload}`).digest('base64')}`,
        },
        body: payload,
      })
      await answer.body.dump()
      if (answer.statusCode !== 200) throw new Error(`answered ${answer.statusCode}`)
    },
    close: () => Promise.all([...pools.values()].map((pool) => pool.close())),
  }
}
