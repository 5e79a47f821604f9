import { runDeliveries } from '../../src/webhooks/run-deliveries.ts'
import { makeOutboxApp } from './webhooks.ts'

/*
 * A worker process for tests to kill. With HOLD=record it signals its parent before it records an attempt, and
 * never records it: no other process then knows of the sent delivery.
 */
const url = process.env['SVC_DATABASE_URL'] ?? ''
const encryptionKey = process.env['SVC_ENCRYPTION_KEY'] ?? ''
const app = await makeOutboxApp({ url, encryptionKey })

if (process.env['HOLD'] === 'record') {
  const one = app.pool.one.bind(app.pool)
  app.pool = {
    ...app.pool,
    one: (query) => {
      if (!query.sql.includes('insert into webhook_attempts')) return one(query)
      process.send?.('holding')
      return new Promise(() => undefined)
    },
  }
}

const deliveries = runDeliveries(app)
process.send?.('started')
process.once('SIGTERM', () => {
  void deliveries
    .stop()
    .then(() => app.close())
    .then(() => process.disconnect?.())
})
