import t from 'tap'
import type { Test } from 'tap'
import { authorisedPayment, testService, untilStatus } from '../../support/app.ts'
import type { TestMerchant, TestService } from '../../support/app.ts'
import { OPERATOR, raiseAsPayer, submitEvidence } from '../../support/disputes.ts'
import { startReceiver } from '../../support/receiver.ts'
import { openConsole } from '../../support/terminal.ts'
import type { Opened } from '../../support/terminal.ts'
import { until } from '../../support/until.ts'
import { passDelays, plantDead, plantDeliveries } from '../../support/webhooks.ts'

/* Disputes and webhooks in the console: of the merchant, and of operators. */
let service: TestService
let merchant: TestMerchant
t.before(async () => {
  service = await testService(t, { worker: true })
})

async function disputed(payerStatement: string): Promise<string> {
  merchant = await service.merchant()
  const { id } = await authorisedPayment(service, merchant)
  await untilStatus(service, merchant, id, 'Settled')
  const raised = await raiseAsPayer(service, id, { reason: 'ITEM_NOT_RECEIVED', payer_statement: payerStatement })
  return raised.body.id
}

function operator(test: Test, words: readonly string[], size: { columns?: number; rows?: number } = {}): Opened {
  const env = { SVC_PLATFORM_USER: 'ada' }
  return openConsole(test, { url: service.url, env, words: ['--platform', ...words], ...size })
}

function seller(test: Test, words: readonly string[], size: { columns?: number; rows?: number } = {}): Opened {
  const env = { SVC_CLIENT_ID: merchant.clientId }
  return openConsole(test, { url: service.url, env, words, ...size })
}

async function statusOf(id: string): Promise<unknown> {
  return (await service.call('GET', `/api/v1/admin/disputes/${id}`, { headers: OPERATOR })).body.status
}

t.test('both sides stand beside each other, and an operator resolves for the payer with a refund', async (t) => {
  const id = await disputed('The parcel never came. Really.')
  await submitEvidence(service, merchant, id, 'It was signed for by a neighbour.')
  const console = operator(t, ['--screen', 'disputes'], { columns: 100, rows: 30 })
  await console.until(/NOT_RECEIVED/)
  console.shot('disputes-100x30')
  console.press('enter')
  const text = await console.until(/TIME +EVENT/)
  t.match(text, /The payer says + The merchant says/)
  t.match(text, /The parcel never came\. Really\. + It was signed for by a neighbour\./)
  console.shot('dispute-100x30')
  console.press('r')
  await console.until(/Who is right/)
  console.press('enter')
  await console.until(/Who is right: choose one/)
  // Enter alone decides about no money.
  await console.until(/Select an option/)
  console.press('p', 'enter', 'y', 'enter')
  console.type('nobody knows the neighbour')
  await console.until(/--favour payer --refund --note 'nobody\b/)
  console.press('enter')
  await console.until(
    /Enter will resolve the dispute of 50\.00 GBP at \S+ in the payer's favour, and refund 50\.00 GBP/,
  )
  console.shot('dispute-resolve-100x30')
  console.press('enter')
  await console.until(/Done: resolved .* for the payer/)
  t.equal(await statusOf(id), 'RESOLVED_PAYER_FAVOUR')
  await console.until(/Refund +50\.00 GBP/)
  t.notMatch(console.screen().at(-1), /resolve/, 'what is resolved is not resolved again')
  console.press('o')
  await console.until(/Payments/)
  await console.until(/TIME +FROM +TO/)
  console.press('ctrl-c')
  t.match(await console.ended(), { code: 0, isPlain: true })
})

t.test('one is escalated; the merchant answers its own and sees no key of operators', async (t) => {
  const id = await disputed('wrong colour')
  const console = operator(t, ['--screen', 'disputes'])
  await console.until(/OPEN/)
  console.press('x')
  await console.until(/Reason, kept/)
  console.press('enter')
  await console.until(/is required/)
  console.type('beyond my limit')
  console.press('enter', 'enter')
  await console.until(/Done: escalated/)
  t.equal(await statusOf(id), 'ESCALATED')
  await console.until(/ESCALATED/)
  console.press('ctrl-c')
  await console.ended()

  const own = seller(t, ['--screen', 'disputes'], { columns: 60, rows: 16 })
  await own.until(/ESCALATED/)
  own.shot('disputes-merchant-60x16')
  t.notMatch(own.text(), /resolve|escalate|accept/, 'what is escalated is no longer accepted')
  own.press('e')
  await own.until(/Evidence; it is added/)
  own.type('the colour was agreed')
  own.press('enter')
  await own.until(/Done: answered/)
  const { body } = await service.call('GET', `/api/v1/admin/disputes/${id}`, { headers: OPERATOR })
  t.equal(body.merchant_evidence, 'the colour was agreed')
  own.press('ctrl-c')
  t.match(await own.ended(), { code: 0 })
})

t.test('what the service refuses stays in the form, with the way on', async (t) => {
  const id = await disputed('late')
  const console = operator(t, ['--screen', 'disputes'])
  await console.until(/OPEN/)
  // What is escalated is due before it.
  console.press('j')
  await console.until(/> *[0-9a-f]+ +OPEN/)
  console.press('x')
  await console.until(/Reason, kept/)
  // Somebody else is quicker.
  await service.call('PUT', `/api/v1/admin/disputes/${id}/escalate`, { headers: OPERATOR, body: { reason: 'mine' } })
  console.type('mine too')
  console.press('enter', 'enter')
  await console.until(/escalated already|already escalated|is ESCALATED/)
  console.shot('dispute-refused-80x24')
  console.press('esc')
  console.press('ctrl-c')
  t.match(await console.ended(), { code: 0 })
})

t.test('a delivery counts down to its next attempt, and is seen delivered; its attempts are shown', async (t) => {
  let answer = 500
  const receiver = await startReceiver(t, ({ response }) => response.writeHead(answer).end('oops'))
  merchant = await service.merchant({ webhookUrl: receiver.url })
  await authorisedPayment(service, merchant)
  const console = seller(t, ['--screen', 'webhooks'], { columns: 140, rows: 30 })
  await console.until(/HTTP 500|answered 500/)
  await console.until(/1\/6 +in \d+ s/)
  console.shot('webhooks-140x30')
  console.press('enter')
  await console.until(/ATTEMPT +BEGAN/)
  console.shot('webhook-140x30')
  console.press('d')
  await console.until(/Sent, as evt_/)
  console.press('G')
  await console.until(/Answer to try 1 [^]*oops/)
  console.shot('webhook-bodies-140x30')
  console.press('q')
  await console.until(/ATTEMPT +BEGAN/)
  console.press('o')
  await console.until(/Payments > /)
  console.press('esc')
  await console.until(/Webhooks > /)
  console.press('esc')
  answer = 200
  await passDelays(service.owner)
  await console.until(/DELIVERED/)
  console.press('t')
  await console.until(/svc webhooks test payment\.settled[^]*Event:/)
  console.press('esc')
  console.press('S')
  await console.until(/How long the previous secret signs/)
  console.type('soon')
  console.press('enter')
  await console.until(/0s to 7d \(24h\): .*soon/)
  console.press('ctrl-u')
  console.type('1h')
  await console.until(/svc secret rotate --overlap 1h/)
  console.press('enter', 'enter')
  await console.until(/Enter will make a new secret that webhooks are signed with; the one before signs as/)
  console.press('enter')
  const shown = await console.until(/shown this once/)
  const stored = await service.call('GET', '/api/v1/portal/webhook-secret', {
    headers: { 'x-merchant-client-id': merchant.clientId },
  })
  const last = String(stored.body.masked_secret).slice(-4)
  t.match(shown, new RegExp(`${last} `), 'the new one')
  t.ok(stored.body.previous_expires_at)
  console.shot('secret-140x30')
  console.press('enter', 'space', 'q')
  await console.until(/shown this once/)
  console.press('esc')
  await console.until(/Done: made a new signing secret/)
  console.press('ctrl-c')
  t.match(await console.ended(), { code: 0 })
})

t.test('dead ones are marked and replayed by an operator, and all at once by their merchant', async (t) => {
  const receiver = await startReceiver(t)
  merchant = await service.merchant({ webhookUrl: receiver.url })
  const ids = await plantDead(service.owner, merchant.id, { count: 4 })
  const console = operator(t, ['--screen', 'webhooks'])
  await console.until(/DELIVERED|DEAD/)
  console.press('D')
  await console.until(/Webhooks 1\/4/)
  console.press('space', 'space')
  await console.until(/2 marked/)
  console.shot('webhooks-marked-80x24')
  console.press('r')
  await console.until(/send 2 deliveries again/)
  await console.until(/svc webhooks replay [0-9a-f-]{36} --all-merchants/)
  await console.until(/and 1 more like it, one for each row/)
  console.press('enter')
  await console.until(/Done: replayed/)
  await console.until((text) => !text.includes('marked'))
  console.press('enter')
  await console.until(/What has happened/)
  console.press('ctrl-c')
  await console.ended()

  const own = seller(t, ['--screen', 'webhooks'])
  await own.until(/DEAD|DELIVERED/)
  own.press('R')
  await own.until(/svc webhooks replay --status DEAD/)
  await own.until(/Enter sends everything again that is DEAD\./)
  own.press('enter')
  await own.until(/Done: replayed 2 of 2/)
  await until('all are delivered', async () => {
    await passDelays(service.owner)
    const { rows } = await service.owner.query(`select from webhook_log where id = any($1) and status <> 'DELIVERED'`, [
      ids,
    ])
    return rows.length === 0
  })
  own.press('ctrl-c')
  t.match(await own.ended(), { code: 0 })
})

t.test('what becomes DEAD, or no longer is, is seen at once, although no event announces it', async (t) => {
  merchant = await service.merchant()
  const [id = ''] = await plantDeliveries(service.owner, merchant.id, { nextRetryAt: 'infinity' })
  // Nothing is asked for at intervals, and nothing is on its way.
  const console = seller(t, ['--interval', '5m'])
  await console.until(/ fresh/)
  await console.until(/Webhooks dead +0 /)
  const become = (status: string, attempts: number) =>
    service.owner.query(
      `update webhook_deliveries set status = $2::webhook_delivery_status, attempt_count = $3, last_error = 'http_500'
       where id = $1`,
      [id, status, attempts],
    )
  await become('DEAD', 6)
  await console.until(/Webhooks dead +1 +act/)
  console.press('6')
  await console.until(/payment\.settled \(test\) +DEAD/)
  await become('PENDING', 0)
  await console.until(/payment\.settled \(te\S* +PENDING +0\/6 +waits/)
  console.press('9')
  await console.until(/No tasks need action/)
  await become('DEAD', 6)
  await console.until(/1 delivery to you is DEAD/)
  console.press('ctrl-c')
  t.match(await console.ended(), { code: 0 })
})
