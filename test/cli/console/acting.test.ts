import t from 'tap'
import type { Test } from 'tap'
import '../../support/tsx.ts'
import { headerCredentials } from '../../../cli/client/auth/credentials.ts'
import { makeClient } from '../../../cli/client/call.ts'
import { makeActing } from '../../../cli/console/action-runner.ts'
import { makeConsole } from '../../../cli/console/console.ts'
import type { Host } from '../../../cli/console/host.ts'
import type { Acting, Pending } from '../../../cli/console/action-runner.ts'
import type { Modal } from '../../../cli/console/model/modal.ts'
import type { Tools } from '../../../cli/console/screen.ts'
import { leftText } from '../../../cli/console/under-way.ts'
import { permissionsOf } from '../../../src/lib/permissions.ts'
import type { Role } from '../../../src/lib/permissions.ts'
import { MERCHANT_ID } from '../admin-harness.ts'
import { fakeService, refusal, summaryOf } from '../harness.ts'
import type { Answer, Request } from '../harness.ts'

const { SCREENS } = await import('../../../cli/console/screens.ts')

type Setting = {
  acting: Acting
  modal(): Modal | undefined
  /** Answers the form, and waits for how it went. */
  confirm(given: Record<string, string>): Promise<void>
  keys(): (string | undefined)[]
}

/** What a form does, of a service that answers as it is told. */
async function setUp(t: Test, answer: (request: Request, count: number) => Answer): Promise<Setting> {
  const { url, requests } = await fakeService(t, answer)
  const credentials = headerCredentials({ clientId: 'demo', platformUser: undefined })
  const client = makeClient({ apiUrl: url, credentials, timeoutMs: 30_000 })
  t.teardown(() => client.close())
  let modal: Modal | undefined
  let over = (): void => undefined
  const acting = makeActing({
    live: true,
    tools: { client, who: {} } as unknown as Tools,
    typed: (text) => text.replaceAll('svc ', 'npx svc '),
    showModal: (shown) => void (modal = shown),
    modal: () => modal,
    toast: () => undefined,
    patch: () => () => undefined,
    refresh: () => over(),
    unmark: () => undefined,
    onSignedOut: () => undefined,
  })
  return {
    acting,
    modal: () => modal,
    confirm(given) {
      const done = new Promise<void>((resolve) => void (over = resolve))
      acting.confirm(given)
      // A second Enter, while the first is under way, is none.
      acting.confirm(given)
      return done
    },
    keys: () => requests.map(({ headers }) => String(headers['x-idempotency-key'])),
  }
}

function refunding(): Pending {
  const screen = SCREENS.find(({ name }) => name === 'payments')
  const key = screen?.keys.find(({ label }) => label === 'refund')
  if (screen === undefined || key === undefined) throw new Error('payments have a refund')
  return { screen, key, rows: [summaryOf('Settled')] }
}

t.test('a refund whose answer was lost is the same refund when it is tried again', async (t) => {
  const { acting, modal, confirm, keys } = await setUp(t, () => 'cut')
  acting.start(refunding())
  await confirm({ amount: '1.00' })
  t.match(modal(), { kind: 'form', problem: /can't be reached|ended/ })
  await confirm({ amount: '1.00' })
  t.equal(keys().length, 4, 'each was sent, and by itself once more')
  t.equal(new Set(keys()).size, 1, 'under one key')
  acting.start(refunding())
  await confirm({ amount: '1.00' })
  t.equal(new Set(keys()).size, 2, 'another form is another refund')
})

t.test('what the bank has refused for good is tried as another refund', async (t) => {
  const { acting, confirm, keys } = await setUp(t, () => refusal(409, 'REFUND_REFUSED'))
  acting.start(refunding())
  await confirm({})
  await confirm({})
  t.equal(new Set(keys()).size, 2)
})

t.test('a command is told as it has to be typed, and what somebody has written as it was written', async (t) => {
  const { acting } = await setUp(t, () => 'cut')
  const pending = refunding()
  acting.start(pending)
  const given = { reason: 'told by svc docs' }
  const line = `npx svc payments refund ${summaryOf('Settled').payment_id} --reason 'told by svc docs'`
  t.equal(acting.command(given), line)
  acting.start({ ...pending, rows: [...pending.rows, ...pending.rows] })
  t.equal(acting.script(given), `${line}\n${line}`)
})

t.test('who leaves is told of what was being sent, and of nothing that was only being read', async (t) => {
  const { screen } = refunding()
  for (const [writes, told] of [
    [{ writes: true }, /^Not known: "wait" was being sent when the console ended$/],
    [{}, undefined],
  ] as const) {
    const { acting } = await setUp(t, () => 'cut')
    const run = (): Promise<undefined> => new Promise(() => undefined)
    const key = { key: 'z', label: 'wait', needs: 'nothing' as const, ...writes, command: () => 'svc wait', run }
    acting.start({ screen, key, rows: [undefined] })
    t.match(acting.stop() ?? 'nothing', told ?? /^nothing$/)
  }
  const left = { what: 'repair', done: 0, total: 1 }
  t.match(leftText({ ...left, row: MERCHANT_ID }, 'platform'), `Try: svc explain ${MERCHANT_ID} --platform`)
  t.notMatch(leftText({ ...left, row: 'registration/half-made' }, 'platform'), 'Try: ', 'which has no story')
})

t.test('what was marked, asked and opened as one is gone for another, and stays for who signs in again', async (t) => {
  const { url } = await fakeService(t, () => refusal(404, 'NOT_FOUND'))
  const credentials = headerCredentials({ clientId: 'demo', platformUser: undefined })
  const client = makeClient({ apiUrl: url, credentials, timeoutMs: 30_000 })
  t.teardown(() => client.close())
  let [kind, role]: [string, Role] = ['platform', 'OPS']
  const console = makeConsole({
    screens: SCREENS,
    first: 'kyb',
    session: () => ({
      client,
      profile: '',
      isBoth: false,
      rights: {
        who: { kind, role, name: 'ada', permissions: permissionsOf(role) } as unknown as Tools['who'],
        readonly: false,
        sandbox: false,
      },
    }),
    host: {} as Host,
    now: Date.now,
  })
  t.teardown(() => console.stop())
  const busy = (): void => {
    console.change({ type: 'mark', id: 'm-1' })
    console.change({ type: 'modal', modal: { kind: 'help', top: 0 } })
  }
  busy()
  console.restart(false)
  t.equal(console.state().views.kyb?.marks.size, 1)
  t.ok(console.state().modal)
  ;[kind, role] = ['merchant', 'FINANCE']
  console.restart(true)
  t.notOk(console.state().modal)
  t.same(
    Object.values(console.state().views).filter(({ marks }) => marks.size > 0),
    [],
  )
  t.not(console.state().screen, 'kyb', 'which is of operators')
})
