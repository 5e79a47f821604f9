import t from 'tap'
import { createPayment } from '../support/app.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import type { Outcome } from './harness.ts'
import { makeDead, realService } from './real-service.ts'
import type { RealService } from './real-service.ts'

/** The status that shows something: a check of the service answers for a second. */
async function statusWith(service: RealService, shown: string): Promise<Outcome> {
  let ran: Outcome | undefined
  await until(`the status shows ${shown}`, async () => {
    ran = await service.operate(['status'])
    return ran.stdout.includes(shown)
  })
  if (ran === undefined) throw new Error('no status was shown')
  return ran
}

t.test('status warns of dead deliveries and says what to type; its exit code stays', async (t) => {
  const service = await realService(t)
  const receiver = await startReceiver(t)
  const merchant = await service.merchant({ webhookUrl: receiver.url })
  const sent = async (): Promise<string> => {
    return (await service.as(merchant, ['webhooks', 'test', '--wait', '-o', 'id'])).stdout.trim()
  }
  const ids = [await sent(), await sent()]
  const well = await service.operate(['status'])
  t.match(well, { code: 0, stdout: /Webhooks +0 waiting, 0 due, 0 dead/ })
  t.match(
    well.stderr,
    /^Try: svc run happy-path\n {5}svc trigger --list\n {5}svc [^\n]+\n$/,
    'what a sandbox is for, one command a line',
  )
  t.equal((await service.operate(['status', '-q', 'ready'])).stderr, '', 'which programs do not get')
  t.same(JSON.parse((await service.operate(['status', '--json'])).stdout).alerts, [])

  await makeDead(service, ids)
  const next = 'svc webhooks list --all-merchants --status DEAD\nas the merchant: svc webhooks list --status DEAD'
  const ill = await statusWith(service, '2 dead')
  t.match(ill, { code: 0, stdout: /2 dead/, stderr: `Warning: 2 webhook deliveries are DEAD` })
  t.equal(ill.stderr.split('Try:').length, 2)
  t.match(ill.stderr, `\nTry: ${next.replace('\n', '\n     ')}\n`)
  const { stdout, stderr } = await service.operate(['status', '--json'])
  t.match(JSON.parse(stdout).alerts, [{ code: 'DELIVERIES_DEAD', dead_deliveries: 2, message: /^2 webhook/, next }])
  t.equal(stderr, '')
})

t.test('status counts what waits for an endpoint', async (t) => {
  const service = await realService(t)
  const merchant = await service.merchant({ webhookUrl: 'http://127.0.0.1:9/hook' })
  await service.as(merchant, ['webhooks', 'endpoint', 'pause'])
  await createPayment(service, merchant)
  await createPayment(service, merchant)
  const { stdout } = await statusWith(service, '2 held')
  t.match(stdout, /Webhooks +0 waiting, 0 due, 0 dead, 2 held: their endpoint is paused or not set\n/)
  t.equal((await service.operate(['status', '-q', 'webhooks.held'])).stdout, '2\n')
})

t.test('a service that is not there has nothing to be warned of', async (t) => {
  const service = await realService(t, { worker: false })
  const { stdout, code } = await service.operate(['status', '--json', '--api-url', 'http://127.0.0.1:9'])
  t.equal(code, 8)
  t.same(JSON.parse(stdout).alerts, [])
})
