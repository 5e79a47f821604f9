import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import t from 'tap'
import { standardSecret } from '../../src/lib/webhook-signature.ts'
import { createPayment, testService, until } from '../support/app.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Receipt } from '../support/receiver.ts'
import { rotate } from '../support/secrets.ts'

/* What merchants receive is verified by the libraries that they have: the standard's own, and svix's. */
const service = await testService(t, { worker: true })
const receiver = await startReceiver(t)
const merchant = await service.merchant({ webhookUrl: receiver.url })

const LIBRARIES = { standardwebhooks: StandardWebhook, svix: SvixWebhook }

/** The webhook of a new payment, as it arrives. */
async function nextReceipt(): Promise<Receipt> {
  const { body } = await createPayment(service, merchant)
  const isOf = (receipt: Receipt) => receipt.body.includes(body.payment_id)
  await until(async () => receiver.receipts.some(isOf))
  return receiver.receipts.find(isOf) as Receipt
}

/** @throws what the library throws for a webhook that is not signed with the secret */
function verify(name: keyof typeof LIBRARIES, secret: string, { body, headers }: Receipt): void {
  new LIBRARIES[name](standardSecret(secret)).verify(body, headers as Record<string, string>)
}

for (const name of ['standardwebhooks', 'svix'] as const)
  t.test(`${name} verifies what arrives, and nothing else`, async (t) => {
    const receipt = await nextReceipt()
    t.doesNotThrow(() => verify(name, merchant.secret, receipt))
    const body = Buffer.from(receipt.body.toString().replace('"50.00"', '"5.00"'))
    t.throws(() => verify(name, merchant.secret, { ...receipt, body }), /signature/)
    t.throws(() => verify(name, 'f'.repeat(64), receipt), /signature/)
    const id = { ...receipt.headers, 'webhook-id': 'evt_other' }
    t.throws(() => verify(name, merchant.secret, { ...receipt, headers: id }), /signature/, 'nor under another id')
    const old = { ...receipt.headers, 'webhook-timestamp': String(Math.floor(Date.now() / 1000) - 600) }
    t.throws(() => verify(name, merchant.secret, { ...receipt, headers: old }), /old/, 'nor later again')
  })

t.test('while a rotation overlaps, both secrets verify with both libraries', async (t) => {
  const { body } = await rotate(service, merchant)
  const receipt = await nextReceipt()
  for (const name of ['standardwebhooks', 'svix'] as const)
    for (const secret of [merchant.secret, String(body.webhook_signing_secret)])
      t.doesNotThrow(() => verify(name, secret, receipt), name)
})
