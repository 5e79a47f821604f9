import t from 'tap'
import { countUnderPreviousKeys, listKeys } from '../../src/keys/list-keys.ts'
import { verifySignature } from '../../src/lib/webhook-signature.ts'
import { authorisedPayment, testService, until } from '../support/app.ts'
import type { TestService } from '../support/app.ts'
import { appWithKeys, newKey, serviceWithKeys } from '../support/keys.ts'
import { startReceiver } from '../support/receiver.ts'

t.test('a key is replaced while payments and webhooks go on: no request fails, nothing is left under it', async (t) => {
  const [oldKey, newOne] = [newKey(), newKey()]
  const first = await testService(t, { env: { SVC_ENCRYPTION_KEY: oldKey } })
  const receiver = await startReceiver(t)
  const merchants = await Promise.all(Array.from({ length: 8 }, () => first.merchant({ webhookUrl: receiver.url })))
  // The processes change one after the other, as a deployment does it: each step has both kinds for a while.
  const announced = await serviceWithKeys(t, first, [oldKey, newOne])
  let services: TestService[] = [announced]
  let payments = 0
  let stop = false
  const asked = new Map<number, TestService>()
  const load = merchants.slice(0, 4).map(async (merchant, index) => {
    for (let turn = index; !stop; turn += 1) {
      const service = services[turn % services.length] ?? announced
      asked.set(index, service)
      const { id } = await authorisedPayment(service, merchant)
      const { body } = await service.call('GET', `/api/v1/payments/${id}`, { merchant })
      if (!['Authorised', 'Settled'].includes(body.status)) t.fail(`${id} is ${body.status}`)
      payments += 1
      const account = {
        account_holder_name: 'Acme',
        sort_code: '204531',
        account_number: String(10_000_000 + payments),
      }
      if (turn % 5 === 0) {
        const added = await service.call('POST', '/api/v1/portal/bank-accounts', { merchant, body: account })
        if (![201, 409].includes(added.status)) t.fail(`an account: ${added.status} ${added.text}`)
      }
      const accounts = await service.call('GET', '/api/v1/portal/bank-accounts', { merchant })
      if (accounts.status !== 200) t.fail(`the accounts: ${accounts.status} ${accounts.text}`)
    }
  })
  const more = (count: number) => {
    const goal = payments + count
    return until(async () => payments >= goal)
  }
  await more(10)
  const rotated = await serviceWithKeys(t, first, [newOne, oldKey])
  services = [announced, rotated]
  await more(20)
  services = [rotated]
  // As a load balancer does: a process is stopped once nobody is sent to it any more.
  await until(async () => [...asked.values()].every((service) => service === rotated))
  await announced.stop()
  const { resealSecrets } = await import('../../src/keys/reseal.ts')
  await until(async () => {
    await resealSecrets(rotated.app, new AbortController().signal)
    return countUnderPreviousKeys(await listKeys(rotated.app)) === 0
  })
  await more(10)
  stop = true
  await Promise.all(load)

  const { rows } = await first.owner.query('select count(*)::int as count from payment_intents')
  const expected = rows[0].count
  await until(async () => {
    const settled = await first.owner.query(
      `select count(*)::int as count from webhook_log where event_type = 'payment.settled' and status = 'DELIVERED'`,
    )
    return settled.rows[0].count === expected
  })
  const failed = await first.owner.query(
    `select status, last_error from webhook_log where attempt_count > 1 or status <> 'DELIVERED'`,
  )
  t.same(failed.rows, [], 'every webhook was delivered at its first attempt')
  const secrets = new Map(merchants.map(({ id, secret }) => [id, secret]))
  for (const { body, headers } of receiver.receipts) {
    const secret = secrets.get(JSON.parse(body.toString()).merchantId ?? JSON.parse(body.toString()).data?.merchantId)
    if (!verifySignature({ body, secret: secret ?? '', signature: String(headers['x-service-signature']) }))
      t.fail('a wrong signature')
  }
  const alone = await appWithKeys(t, first, [newOne])
  t.match(await listKeys(alone), [{ state: 'current' }], 'and no value is under another key')
})
