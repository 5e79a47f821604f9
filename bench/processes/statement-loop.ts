import { makeAdminConnection } from '../../src/db/connection.ts'
import { ready, settings } from '../support/measured-process.ts'

/** The limit without pgbench: one statement again and again over a few connections, prepared, and nothing else. */
type Settings = { url: string; statement: string; max?: number; clients: number }

const { url, statement, max, clients } = settings<Settings>()
const text = statement.replaceAll(/(?<!:):n\b/g, '$1::int')
const connections = await Promise.all(Array.from({ length: clients }, () => makeAdminConnection({ databaseUrl: url })))

async function runFor(seconds: number): Promise<number> {
  const end = performance.now() + seconds * 1000
  let count = 0
  await Promise.all(
    connections.map(async (connection) => {
      while (performance.now() < end) {
        const values = max === undefined ? [] : [1 + Math.floor(Math.random() * max)]
        await connection.query({ name: 'limit', text, values })
        count += 1
      }
    }),
  )
  return count / seconds
}

process.on('message', (message: { name: string; seconds?: number }) => {
  if (message.name !== 'run') return
  void runFor(message.seconds ?? 1).then((rate) => process.send?.({ name: 'ran', rate }))
})

ready({}, () => Promise.all(connections.map((connection) => connection.end())))
