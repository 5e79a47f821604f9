import t from 'tap'
import type { Test } from 'tap'
import '../../support/tsx.ts'
import { headerCredentials } from '../../../cli/client/auth/credentials.ts'
import { makeClient } from '../../../cli/client/call.ts'
import type { Client } from '../../../cli/client/call.ts'
import { commandText, confirmAction, leftText, scriptText, startAction } from '../../../cli/console/actions.ts'
import { makeConsole } from '../../../cli/console/console.ts'
import type { Console } from '../../../cli/console/console.ts'
import type { Host } from '../../../cli/console/host.ts'
import { inView, signedInAs } from '../../../cli/console/model/changes.ts'
import { toggled } from '../../../cli/console/model/view.ts'
import type { Session } from '../../../cli/console/model/state.ts'
import type { Role } from '../../../src/lib/permissions.ts'
import { until } from '../../support/until.ts'
import { MERCHANT_ID } from '../admin-harness.ts'
import { fakeService, refusal, summaryOf } from '../harness.ts'
import type { Answer, Request } from '../harness.ts'
import { whoOf } from './who.ts'

const { SCREENS } = await import('../../../cli/console/screens.ts')

type Setting = {
  console: Console
  /** Asks about this. */
  start(wish?: Partial<StartInput>): void
  /** Answers the form, and waits for how it went. */
  confirm(given: Record<string, string>): Promise<void>
  keys(): (string | undefined)[]
}

type StartInput = Parameters<typeof startAction>[1]

/** What a form does, of a service that answers as it is told. */
async function setUp(t: Test, answer: (request: Request, count: number) => Answer): Promise<Setting> {
  const { url, requests } = await fakeService(t, (request, count) =>
    request.method === 'GET' ? refusal(404, 'NOT_FOUND') : answer(request, count),
  )
  const client = clientOf(t, url)
  const console = makeConsole({
    screens: SCREENS,
    first: 'payments',
    session: { client, profile: '', rights: { who: whoOf('ADMIN', 'merchant'), readonly: false, sandbox: false } },
    host: {} as Host,
    typed: (text) => text.replaceAll('svc ', 'npx svc '),
    now: Date.now,
  })
  t.teardown(() => void console.stop())
  return {
    console,
    start: (wish = {}) => startAction(console, { ...refunding(), ...wish }),
    async confirm(given) {
      confirmAction(console, given)
      // A second Enter, while the first is under way, does nothing.
      confirmAction(console, given)
      await until('it is done', () => console.state().underWay === undefined)
    },
    keys: () =>
      requests.flatMap(({ method, headers }) => (method === 'GET' ? [] : [String(headers['x-idempotency-key'])])),
  }
}

function clientOf(t: Test, url: string): Client {
  const credentials = headerCredentials({ clientId: 'demo', platformUser: undefined })
  const client = makeClient({ apiUrl: url, credentials, timeoutMs: 30_000 })
  t.teardown(() => client.close())
  return client
}

function refunding(): StartInput {
  const screen = SCREENS.find(({ name }) => name === 'payments')
  const key = screen?.keys.find(({ label }) => label === 'refund')
  if (screen === undefined || key === undefined) throw new Error('payments have a refund')
  return { screen, key, rows: [summaryOf('Settled')] }
}

t.test('a refund whose answer was lost is the same refund when it is tried again', async (t) => {
  const { console, start, confirm, keys } = await setUp(t, () => 'cut')
  start()
  await confirm({ amount: '1.00' })
  t.match(console.state().modal, { kind: 'form', problem: /can't be reached|ended/ })
  await confirm({ amount: '1.00' })
  t.equal(keys().length, 4, 'each was sent, and by itself once more')
  t.equal(new Set(keys()).size, 1, 'under one key')
  start()
  await confirm({ amount: '1.00' })
  t.equal(new Set(keys()).size, 2, 'another form is another refund')
})

t.test('what the bank has refused for good is tried as another refund', async (t) => {
  const { start, confirm, keys } = await setUp(t, () => refusal(409, 'REFUND_REFUSED'))
  start()
  await confirm({})
  await confirm({})
  t.equal(new Set(keys()).size, 2)
})

t.test("a command is shown as it has to be typed, and a user's text as it was written", async (t) => {
  const { console, start } = await setUp(t, () => 'cut')
  start()
  const given = { reason: 'told by svc docs' }
  const line = `npx svc payments refund ${summaryOf('Settled').payment_id} --reason 'told by svc docs'`
  t.equal(commandText(console, given), line)
  start({ rows: [summaryOf('Settled'), summaryOf('Settled')] })
  t.equal(scriptText(console, given), `${line}\n${line}`)
})

t.test('leaving while an action is being sent names it, and a read does not', async (t) => {
  for (const [writes, told] of [
    [{ writes: true }, /^Not known: "wait" was being sent when the console ended$/],
    [{}, undefined],
  ] as const) {
    const { console, start } = await setUp(t, () => 'cut')
    const run = (): Promise<undefined> => new Promise(() => undefined)
    const key = { key: 'z', label: 'wait', needs: 'nothing' as const, ...writes, command: () => 'svc wait', run }
    start({ key, rows: [undefined] })
    t.match(console.stop() ?? 'nothing', told ?? /^nothing$/)
  }
  const left = { what: 'repair', done: 0, failed: 0, total: 1 }
  t.match(leftText({ ...left, row: MERCHANT_ID }, 'platform'), `Try: svc explain ${MERCHANT_ID} --platform`)
  t.notMatch(leftText({ ...left, row: 'registration/half-made' }, 'platform'), 'Try: ', 'which has no story')
})

t.test('what was marked, asked and opened as one is gone for another, and stays for who signs in again', async (t) => {
  const { url } = await fakeService(t, () => refusal(404, 'NOT_FOUND'))
  const client = clientOf(t, url)
  const sessionOf = (role: Role, kind?: 'merchant'): Session => ({
    client,
    profile: '',
    rights: { who: whoOf(role, kind), readonly: false, sandbox: false },
  })
  const console = makeConsole({
    screens: SCREENS,
    first: 'kyb',
    session: sessionOf('OPS'),
    host: {} as Host,
    now: Date.now,
  })
  t.teardown(() => console.stop())
  const busy = (): void => {
    console.update(inView((view) => toggled(view, 'm-1')))
    console.update({ modal: { kind: 'text', title: 'help', lines: [], top: 0 } })
  }
  busy()
  console.update(signedInAs(sessionOf('OPS'), { isOther: false }))
  t.equal(console.state().views.kyb?.marks.size, 1)
  t.ok(console.state().modal)
  console.update(signedInAs(sessionOf('FINANCE', 'merchant'), { isOther: true }))
  t.notOk(console.state().modal)
  t.same(
    Object.values(console.state().views).filter(({ marks }) => marks.size > 0),
    [],
  )
  t.not(console.state().screen, 'kyb', 'which is of operators')
})
