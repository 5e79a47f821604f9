import { readFileSync } from 'node:fs'
import t from 'tap'
import { CONSENT_TRANSITIONS } from '../src/consents/states.ts'
import { DISPUTE_TRANSITIONS } from '../src/disputes/states.ts'
import { routesOf } from '../src/http/routes.ts'
import { ORDER_TRANSITIONS } from '../src/instructions/orders/states.ts'
import { RECURRING_TRANSITIONS } from '../src/instructions/recurring/states.ts'
import { PAYMENT_REQUEST_TRANSITIONS } from '../src/instructions/requests/states.ts'
import { toMermaid } from '../src/lib/machine.ts'
import { signBody } from '../src/lib/webhook-signature.ts'
import { KYB_TRANSITIONS } from '../src/merchants/states.ts'
import { PAYMENT_TRANSITIONS } from '../src/payments/states.ts'
import { DELIVERY_TRANSITIONS } from '../src/webhooks/states.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const config = readFileSync(new URL('../src/config.ts', import.meta.url), 'utf8')

t.test('the README names every operation', async (t) => {
  for (const { operation } of routesOf('sandbox'))
    t.match(readme, `\`${operation.method} ${operation.path}\``, operation.name)
})

t.test('the README shows the transition tables as they are', async (t) => {
  const diagrams = [
    toMermaid('KYB', KYB_TRANSITIONS),
    toMermaid('Payment', PAYMENT_TRANSITIONS),
    toMermaid('Consent', CONSENT_TRANSITIONS),
    toMermaid('Dispute', DISPUTE_TRANSITIONS),
    toMermaid('Webhook delivery', DELIVERY_TRANSITIONS),
    toMermaid('Open Banking payment', ORDER_TRANSITIONS),
    toMermaid('Recurring payment', RECURRING_TRANSITIONS),
    toMermaid('Request to pay, offer to pay', PAYMENT_REQUEST_TRANSITIONS),
  ]
  for (const diagram of diagrams) t.ok(readme.includes(diagram), diagram.slice(0, 40))
})

t.test("the README's signature verifies", async (t) => {
  const body = Buffer.from('{"eventId":"evt_1"}')
  t.match(readme, `\`${signBody({ secret: '0123456789abcdef'.repeat(4), body })}\``)
})

t.test('the README names every variable of the configuration', async (t) => {
  const names = new Set(config.match(/\bSVC_[A-Z_]+(?=:)/g))
  t.ok(names.size > 10)
  for (const name of names) t.match(readme, `\`${name}\``, name)
})
