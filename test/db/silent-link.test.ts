import { connect, createServer } from 'node:net'
import type { Socket } from 'node:net'
import t from 'tap'
import { makePgConnection } from '../../src/db/connection.ts'
import { describeDatabaseError } from '../../src/db/describe-error.ts'
import { makePool } from '../../src/db/pool.ts'
import { sql } from '../../src/db/sql.ts'
import { emptyDatabase } from '../support/database.ts'

const { url } = await emptyDatabase(t)

// A proxy before the server; once silent it passes nothing on and closes nothing, like a cut cable.
const sockets = new Set<Socket>()
let silent = false
const server = createServer((near) => {
  const far = connect(Number(new URL(url).port), new URL(url).hostname)
  for (const [from, to] of [
    [near, far],
    [far, near],
  ] as const) {
    sockets.add(from)
    from.on('error', () => undefined)
    from.on('data', (data) => silent || to.write(data))
  }
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
t.teardown(() => {
  for (const socket of sockets) socket.destroy()
  server.close()
})
const address = server.address()
const through = new URL(url)
through.port = String(typeof address === 'object' && address !== null ? address.port : 0)

t.test('a link that went silent fails queries in bounded time, and the pool recovers when it is back', async (t) => {
  const pool = await makePool({ databaseUrl: through.href, size: 1 })
  const client = await makePgConnection({ databaseUrl: through.href, onError: () => undefined })
  const query = sql.typeAlias('exists')`select true as exists`
  t.equal(await pool.oneFirst(query), true)
  silent = true
  const failures = await Promise.all([
    pool.oneFirst(query).then(
      () => 'answered',
      (error: unknown) => error,
    ),
    client.query('select 1').then(
      () => 'answered',
      (error: unknown) => error,
    ),
  ])
  t.match(failures[0], { name: 'DatabaseSilentError' })
  t.match(failures[1], { message: 'Query read timeout' })
  t.match(describeDatabaseError(failures[0], url), /does not answer in time/)
  silent = false
  t.equal(await pool.oneFirst(query), true)
  client.connection.stream.destroy()
  await pool.end()
})
