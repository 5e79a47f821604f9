import t from 'tap'
import { makeApp } from '../src/app.ts'
import { capturedLog } from './support/captured-log.ts'
import { makeOutbox } from './support/webhooks.ts'

t.test('who lets webhooks reach private addresses from where others are is warned at the start', async (t) => {
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
