import t from 'tap'
import type { Test } from 'tap'
import { fakeAdmin, pageOf } from './admin-harness.ts'
import { PAYMENT_ID, fakeService, paymentOf, runCli, serviceInfo } from './harness.ts'
import type { Answer, Outcome } from './harness.ts'

type World = {
  status: string
  more?: object
  refunds?: readonly object[]
  endpoint?: object
  mode?: string
  /** Until when the secret before signs. */
  overlap?: string
}

const REFUND = { payment_id: PAYMENT_ID, refund_id: PAYMENT_ID, currency: 'GBP', reason: null, failure: null }
const SECRET = { masked_secret: '****9f2c', verification_snippet: 'x', language: 'node', rotated_at: null }
const AT = { bank_reference: null, created_at: '2026-11-21T09:30:00.000Z', updated_at: '2026-11-21T09:30:00.000Z' }

/** Dry runs at a service in this state; nothing but questions may reach it. */
async function service(t: Test, { status, more, refunds = [], endpoint, mode = 'sandbox', overlap }: World) {
  const { url, requests } = await fakeService(t, ({ path }): Answer => {
    if (path.includes('/refunds')) {
      const data = refunds.map((each) => ({ ...REFUND, ...AT, ...each }))
      return { json: { data, has_more: false, next_cursor: null } }
    }
    if (path.endsWith('/webhook-endpoint'))
      return { json: { webhook_url: null, paused: false, gone: false, alert: null, ...endpoint } }
    if (path.includes('/webhook-secret')) return { json: { ...SECRET, previous_expires_at: overlap ?? null } }
    if (path.endsWith('/service')) return { json: serviceInfo({ mode }) }
    return { json: paymentOf(status, more) }
  })
  return async (...words: string[]): Promise<Outcome> => {
    const outcome = await runCli([...words, '--dry-run', '--api-url', url, '--client-id', 'demo'])
    t.ok(requests.every(({ method }) => method === 'GET'))
    return { ...outcome, stderr: outcome.stderr.replaceAll(` --api-url ${url}`, '') }
  }
}

t.test('a refund is refused as the service would refuse it, and its effect is told', async (t) => {
  const waits = await service(t, { status: 'AwaitingAuthorisation' })
  t.match(await waits('payments', 'refund', PAYMENT_ID), {
    code: 7,
    stdout: '',
    stderr: `Error: the payment is AwaitingAuthorisation; only a Settled one can be refunded\nTry: svc payments show ${PAYMENT_ID}\n`,
  })
  const refunds = [
    { amount: '10.00', refund_status: 'EXECUTED' },
    { amount: '15.00', refund_status: 'PENDING' },
    { amount: '20.00', refund_status: 'FAILED' },
  ]
  const run = await service(t, { status: 'Settled', more: { refunded_amount: '10.00' }, refunds })
  t.match(await run('payments', 'refund', PAYMENT_ID), {
    code: 0,
    stdout: /Effect +this would refund 25.00 GBP, and leave 0.00/,
  })
  t.match(await run('payments', 'refund', PAYMENT_ID, '--amount', '25.01'), {
    code: 2,
    stdout: '',
    stderr: `Error: only 25.00 is left to refund\nTry: svc payments refund ${PAYMENT_ID} --amount 25.00\n`,
  })
  t.match(await run('payments', 'refund', PAYMENT_ID, '--refund-amount-available', '40.00'), {
    code: 7,
    stderr: /25.00 is left to refund, not 40.00/,
  })
  t.match(await run('payments', 'refund', PAYMENT_ID, '--amount', '0.00'), {
    code: 2,
    stderr: /--amount: must be at least 0.01/,
  })
  t.match(await run('payments', 'refund', PAYMENT_ID, '--amount', '1.001'), { code: 2, stderr: /--amount: / })
  t.match(await run('payments', 'refund', PAYMENT_ID, '--amount', '40.00', '--idempotency-key', 'k'), {
    code: 0,
    stdout: /would be refused: only 25.00 is left to refund; or, where this key made one/,
  })
  const done = await service(t, { status: 'Refunded', more: { refunded_amount: '50.00' } })
  t.match(await done('payments', 'refund', PAYMENT_ID), { code: 7, stderr: `Try: svc payments refunds ${PAYMENT_ID}` })
})

t.test('so is a cancellation', async (t) => {
  const cancel = async (world: World) => (await service(t, world))('payments', 'cancel', PAYMENT_ID)
  t.match(await cancel({ status: 'AwaitingAuthorisation' }), { code: 0, stdout: /Effect +this would cancel/ })
  t.match(await cancel({ status: 'Settled' }), {
    code: 7,
    stdout: '',
    stderr: `Error: the payment is Settled and can't be cancelled\nTry: svc payments refund ${PAYMENT_ID}\n`,
  })
  t.match(await cancel({ status: 'Authorised' }), { code: 7, stderr: `Try: svc payments show ${PAYMENT_ID}\n` })
  const failure = { code: 'CANCELLED_BY_MERCHANT', reason: 'cancelled', source: 'MERCHANT', iso_code: 'X' }
  t.match(await cancel({ status: 'Failed', more: { failure } }), { code: 0, stdout: /change nothing/ })
  t.match(await cancel({ status: 'Failed', more: { failure: { ...failure, source: 'BANK' } } }), { code: 7 })
})

t.test('what can not be refused by a look at it says what it would do', async (t) => {
  const run = await service(t, { status: 'Settled' })
  t.match((await run('credentials', 'revoke', 'acme-key-1')).stdout, /Effect +this would revoke the client acme-key-1/)
  t.match((await run('bank-accounts', 'disable', PAYMENT_ID)).stdout, /Effect +this would end payouts/)
})

t.test('an invitation of somebody who is there says what would come of it', async (t) => {
  const person = { id: PAYMENT_ID, is_active: true, created_at: AT.created_at }
  const member = { ...person, email: 'grace@acme.example', role: 'DEVELOPER', invited_by: 'ada' }
  const staff = { ...person, keycloak_user_id: 's', display_name: 'Ada', role: 'OPS', last_seen_at: AT.created_at }
  const people = [
    { ...staff, email: 'seen@pay.example' },
    { ...staff, email: 'invited@pay.example', last_seen_at: null },
    { ...staff, email: 'gone@pay.example', is_active: false },
  ]
  const admin = await fakeAdmin(t, ({ path }) => pageOf(path.includes('/staff') ? people : [member]))
  const invite = (email: string) =>
    admin.run(['team', 'invite', '--email', email, '--role', 'FINANCE', '--client-id', 'acme', '--dry-run'])
  t.match(await invite('new@acme.example'), {
    code: 0,
    stdout: /Effect +this would invite new@acme.example as FINANCE/,
  })
  t.match(await invite('Grace@acme.example'), {
    code: 0,
    stdout: /in the team already, DEVELOPER: this would be refused if/,
  })
  const add = async (email: string, identity: string): Promise<Outcome> => {
    const { url } = await fakeService(t, ({ path }) =>
      path.endsWith('/service') ? { json: serviceInfo({ identity }) } : pageOf(people),
    )
    const words = ['staff', 'invite', '--email', email, '--role', 'OPS', '--reason', 'r', '--dry-run']
    return runCli([...words, '--api-url', url])
  }
  t.match(await add('seen@pay.example', 'embedded'), {
    code: 7,
    stdout: '',
    stderr: /a staff member with this e-mail address already exists\nTry: svc .*staff role seen@pay.example OPS/,
  })
  t.match(await add('seen@pay.example', 'none'), { code: 0, stdout: /another invitation/ })
  t.match(await add('invited@pay.example', 'embedded'), { code: 0, stdout: /another invitation/ })
  t.match(await add('gone@pay.example', 'embedded'), { code: 0, stdout: /once more, as OPS/ })
  t.match(await add('new@pay.example', 'embedded'), { code: 0, stdout: /this would invite new@pay.example as OPS/ })
  t.same(admin.writes(), [])
})
