import t from 'tap'
import { makeApp } from '../src/app.ts'
import { createPayment, testService } from './support/app.ts'
import { capturedLog } from './support/captured-log.ts'
import { makeOutbox } from './support/webhooks.ts'

t.test('allowing private webhook addresses on a reachable service logs a warning at the start', async (t) => {
  const { app } = await makeOutbox(t)
  const warned = async (config: Partial<typeof app.config>): Promise<boolean> => {
    const { log, lines } = capturedLog('warn')
    const other = await makeApp({ ...app.config, ...config }, { log })
    await other.close()
    return lines().some((line) => /"level":(40|"warn")/.test(line) && line.includes('SVC_WEBHOOK_ALLOW_PRIVATE'))
  }
  t.equal(await warned({ webhookAllowPrivate: true }), false, 'on loopback')
  t.equal(await warned({ webhookAllowPrivate: true, host: '0.0.0.0' }), true)
  t.equal(await warned({ webhookAllowPrivate: true, publicUrl: 'https://sandbox.example' }), true)
  t.equal(await warned({ webhookAllowPrivate: false, host: '0.0.0.0' }), false)
})

t.test('SVC_DEBUG=sql logs the batches too, by name and without values', async (t) => {
  const { log, lines } = capturedLog('info')
  const service = await testService(t, { env: { SVC_DEBUG: 'sql' }, overrides: { log } })
  const merchant = await service.merchant()
  const { status } = await createPayment(service, merchant, { amount: '4321.09', payer_name: 'Zebedee Quill' })
  t.equal(status, 201)
  const told = lines().filter((line) => line.includes('"sql"'))
  const created = told.filter((line) => line.includes('create_payments')).map((line) => JSON.parse(line))
  t.match(created, [{ sql: 'create_payments', duration_ms: Number, msg: 'sql' }])
  t.equal(created.length, 1)
  t.notMatch(lines().join('\n'), /4321\.09|Zebedee/)
})
