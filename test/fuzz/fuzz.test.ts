import t from 'tap'
import { testService } from '../support/app.ts'
import { capturedLog } from '../support/captured-log.ts'
import { fuzz } from './fuzz.ts'

/** Operations that begin with a request that succeeds; a long run does so for all of them. */
const BEGUN = new Set(['createPayment', 'completeSca', 'addBankAccount', 'createOrder', 'importStatements', 'setFees'])

t.test('fifteen hundred hostile requests break no promise', async (t) => {
  const { log, take } = capturedLog('info')
  const service = await testService(t, {
    env: { SVC_IDENTITY: 'embedded', SVC_WEBHOOK_ALLOW_PRIVATE: 'true', SVC_SECURITY_LOG_LEVEL: 'info' },
    overrides: { log },
  })
  const report = await fuzz({
    service,
    takeLog: take,
    seed: '1',
    requests: 1_500,
    samples: (name) => BEGUN.has(name),
    findingsMax: 1,
  })
  t.same(report.findings, [])
  t.ok(report.requests >= 1_500)
  t.ok(Number(report.statuses['2xx']) > 100 && Number(report.statuses['4xx']) > 700, 'of both kinds')
})
