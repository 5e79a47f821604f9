import '../../support/tsx.ts'
import t from 'tap'
import type { Test } from 'tap'
import { permissionsOf } from '../../../src/lib/permissions.ts'
import { headerCredentials } from '../../../cli/client/auth/credentials.ts'
import { makeClient } from '../../../cli/client/call.ts'
import type { Doing, ScreenKey } from '../../../cli/console/screen.ts'
import { atBank, createPayment, testService } from '../../support/app.ts'
import type { TestMerchant } from '../../support/app.ts'
import { openConsole } from '../../support/terminal.ts'
import type { Opened } from '../../support/terminal.ts'

/* The sandbox screen in a terminal, on a real service: the payer's decisions, the clock, the bank, events and stories. */

const { sandbox } = await import('../../../cli/console/screens/sandbox.ts')

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
  await console.until(/Whose/)
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
  await console.until(/Done: 11h have passed/)
  await console.until(/Acme +11h ahead/)
  console.shot('sandbox-ahead-80x24')
  console.press('ctrl-c')
  t.match(await console.ended(), { code: 0, isPlain: true })
})

t.test('a merchant approves, steers its bank, triggers an event and plays a story', async (t) => {
  const own = await service.merchant()
  const { payment_id: id } = await paid('33.00', own)
  const console = opened(t, { SVC_CLIENT_ID: own.clientId }, { columns: 140, rows: 40 })
  await console.until(/33\.00/)
  await console.until(/Clock +\d{4}-.*the real time/)
  console.shot('sandbox-140x40')
  console.press('b')
  console.press('enter')
  await console.until(/Callbacks that get lost/)
  console.type('20')
  console.press('enter', 'enter', 'enter')
  await console.until(/--drop-callback: must be a share/)
  console.press('esc')
  await console.until(/nothing was changed/)
  console.press('b')
  await console.until(/Before each answer/)
  console.type('10ms')
  console.press('enter', 'enter', 'enter', 'enter')
  await console.until(/Bank +answers after 10ms/)
  console.press('a', 'enter')
  await console.until(/Done: approved/)
  const settled = async (): Promise<boolean> =>
    (await service.call('GET', `/api/v1/payments/${id}`, { merchant: own })).body.status !== 'AwaitingAuthorisation'
  t.ok(await settled())
  await console.until(/No payment waits/)
  console.press('t')
  await console.until(/Which/)
  console.press('enter')
  await console.until(/Event evt_/)
  console.shot('sandbox-trigger-140x40')
  console.press('esc')
  await console.until(/\+ clock/)
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

t.test('Esc stops a story that goes on; reading on does not', async (t) => {
  const console = opened(t, { SVC_PLATFORM_USER: 'ada' }, { columns: 60, rows: 16 })
  await console.until(/Sandbox/)
  console.shot('sandbox-60x16')
  console.press('s')
  await console.until(/> happy-path/)
  console.shot('sandbox-choose-60x16')
  console.type('slow')
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

t.test('a merchant that is no operator is the payer at the page of the bank', async (t) => {
  const client = makeClient({
    apiUrl: service.url,
    credentials: headerCredentials({ clientId: merchant.clientId, platformUser: undefined }),
    timeoutMs: 30_000,
  })
  t.teardown(() => client.close())
  const tools = { client, who: { permissions: permissionsOf('ADMIN') } } as unknown as Doing
  const keyOf = (name: string): ScreenKey<unknown> | undefined =>
    sandbox.keys.find((each) => each.key === name && each.for === 'merchant')
  const first = await paid('55.00')
  t.match(await keyOf('a')?.run(first, {}, tools), /^approved /)
  t.not(await statusOf(first.payment_id), 'AwaitingAuthorisation')
  const second = await paid('66.00')
  await atBank(second.redirect_url, 'cancel')
  await t.rejects(async () => keyOf('a')?.run(second, {}, tools), {
    message: /the first decision at the bank counts/,
  })
})

t.test('with --readonly nobody decides anything', async (t) => {
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
