import '../../support/tsx.ts'
import t from 'tap'
import type { Test } from 'tap'
import { atBank, createPayment, testService } from '../../support/app.ts'
import type { TestMerchant } from '../../support/app.ts'
import { runCli } from '../harness.ts'
import { openConsole } from '../../support/terminal.ts'
import type { Opened } from '../../support/terminal.ts'

/* The sandbox screen in a terminal, on a real service: the payer's decisions, the clock, the bank, events and stories. */

const service = await testService(t, { worker: true })
const merchant = await service.merchant()
const paid = async (
  amount: string,
  whose: TestMerchant = merchant,
): Promise<{ payment_id: string; redirect_url: string }> => (await createPayment(service, whose, { amount })).body
const statusOf = async (id: string): Promise<string> =>
  (await service.call('GET', `/api/v1/payments/${id}`, { merchant })).body.status
const opened = (test: Test, env: NodeJS.ProcessEnv, size: { columns?: number; rows?: number } = {}): Opened =>
  openConsole(test, { url: service.url, env, words: ['--screen', 'sandbox'], ...size })

t.test('an operator is the payer; what was decided before is refused', async (t) => {
  const first = await paid('11.00')
  const second = await paid('22.00')
  const console = opened(t, { SVC_PLATFORM_USER: 'ada' })
  await console.until(/Sandbox 1\/2/)
  await console.until(/22\.00/)
  console.shot('sandbox-80x24')
  console.press('c')
  await console.until(new RegExp(`svc sandbox bank cancel ${second.payment_id}`))
  console.press('enter')
  await console.until(/Done: cancelled/)
  t.equal(await statusOf(second.payment_id), 'Failed')
  await console.until(/Sandbox 1\/1/)
  // Somebody presses the other button on the page of the bank, and does not come back.
  await atBank(first.redirect_url, 'cancel')
  console.press('a')
  await console.until(/approve payment .* of 11\.00/)
  console.press('enter')
  await console.until(/nothing was decided: it was cancelled at the bank before/)
  console.shot('sandbox-refused-80x24')
  console.press('esc')
  await console.until(/No payment waits/)
  console.press('+')
  await console.until(/Merchant: its realm/)
  console.type(merchant.realm)
  console.press('enter')
  console.type('11 hours')
  await console.until(/11 hours/)
  console.press('enter')
  await console.until(/<duration>/)
  console.press('ctrl-u')
  console.type('11h')
  await console.until(new RegExp(`svc sandbox clock advance 11h --merchant ${merchant.realm}`))
  console.shot('sandbox-clock-80x24')
  console.press('enter')
  await console.until(/Done: advanced the clock of/)
  await console.until(/Clock of Acme .*11 hours ahead/)
  console.shot('sandbox-ahead-80x24')
  console.press('ctrl-c')
  t.match(await console.ended(), { code: 0, isPlain: true })
})

t.test('an identity that is merchant and operator approves as the merchant, and runs a scenario', async (t) => {
  const own = await service.merchant()
  const { payment_id: id } = await paid('33.00', own)
  const env = { SVC_CLIENT_ID: own.clientId, SVC_PLATFORM_USER: 'ada' }
  const console = openConsole(t, {
    url: service.url,
    env,
    words: ['--merchant', '--screen', 'sandbox'],
    columns: 140,
    rows: 40,
  })
  await console.until(/33\.00/)
  await console.until(/Clock of \S+ +\d{4}-.*the real time/)
  console.shot('sandbox-140x40')
  console.press('a', 'enter')
  await console.until(/Done: approved/)
  const { body } = await service.call('GET', `/api/v1/payments/${id}`, { merchant: own })
  t.not(body.status, 'AwaitingAuthorisation')
  await console.until(/No payment waits/)
  console.press('s')
  await console.until(/> happy-path/)
  console.shot('sandbox-choose-140x40')
  console.press('enter')
  await console.until(/ok +1 /)
  const text = await console.until(/Done: played happy-path: \d+ passed/)
  t.notMatch(text, /FAILED/)
  console.shot('sandbox-played-140x40')
  console.press('esc')
  console.press('ctrl-c')
  t.match(await console.ended(), { code: 0, isPlain: true })
})

t.test('a merchant without any right to steer the sandbox decides on the page of the bank', async (t) => {
  const real = await testService(t, { worker: true, env: { SVC_IDENTITY: 'embedded' } })
  const own = await real.merchant()
  const env = { SVC_CLIENT_ID: own.clientId, SVC_CLIENT_SECRET: own.clientSecret }
  const ids: string[] = []
  for (const amount of ['5.00', '6.00', '7.00'])
    ids.push(String((await createPayment(real, own, { amount })).body.payment_id))
  const statusIn = async (id = ''): Promise<string> =>
    (await real.call('GET', `/api/v1/payments/${id}`, { merchant: own })).body.status
  const console = openConsole(t, { url: real.url, env, words: ['--screen', 'sandbox'] })
  await console.until(/Sandbox 1\/3/)
  t.notMatch(console.screen().at(-2), /clock|scenario/)
  console.press('a')
  await console.until(new RegExp(`svc sandbox bank approve ${ids[2]}`))
  console.press('enter')
  await console.until(/Done: approved/)
  t.not(await statusIn(ids[2]), 'AwaitingAuthorisation')
  await console.until(/Sandbox 1\/2/)
  console.press('c', 'enter')
  await console.until(/Done: cancelled/)
  t.equal(await statusIn(ids[1]), 'Failed')
  console.press('ctrl-c')
  t.match(await console.ended(), { code: 0, isPlain: true })
  const approved = await runCli(['sandbox', 'bank', 'approve', ids[0] ?? ''], {
    env: { ...env, SVC_API_URL: real.url },
  })
  t.match(approved, { code: 0, stdout: /Was +AwaitingAuthorisation\nIs +(Authorised|Settled)\n/ }, approved.stderr)
})

t.test('Esc stops a story that goes on; reading on does not', async (t) => {
  const console = opened(t, { SVC_PLATFORM_USER: 'ada' }, { columns: 60, rows: 16 })
  await console.until(/Sandbox/)
  console.shot('sandbox-60x16')
  console.press('s')
  await console.until(/> happy-path/)
  console.shot('sandbox-choose-60x16')
  // A letter leads to the next word with it: same-key-at-once, secret-rotation, settled-and-paid-out, slow-bank.
  console.press('s', 's', 's', 's')
  await console.until(/> slow-/)
  // With what it is about.
  await console.until(/slow-\S+ +\w+ \w+/)
  console.press('enter')
  await console.until(/esc stop/)
  console.press('enter', 'j')
  await console.until(/Esc stops it|esc stop/)
  console.shot('sandbox-playing-60x16')
  console.press('esc')
  await console.until(/stopped slow-/)
  console.press('ctrl-c')
  t.match(await console.ended(), { code: 0, isPlain: true })
})

t.test('with --readonly no decision is possible', async (t) => {
  const { payment_id: id } = await paid('44.00')
  const console = openConsole(t, {
    url: service.url,
    env: { SVC_CLIENT_ID: merchant.clientId },
    words: ['--screen', 'sandbox', '--readonly'],
  })
  await console.until(/44\.00/)
  t.notMatch(console.screen().at(-1), /approve|clock|scenario/)
  console.press('a', 'enter')
  await console.until(/Expires/)
  t.equal(await statusOf(id), 'AwaitingAuthorisation')
  console.press('ctrl-c')
  await console.ended()
})
