import '../../support/tsx.ts'
import t from 'tap'
import { headerCredentials } from '../../../cli/client/auth/credentials.ts'
import { makeClient } from '../../../cli/client/call.ts'
import { makeConsole } from '../../../cli/console/console.ts'
import type { Console } from '../../../cli/console/console.ts'
import type { Host } from '../../../cli/console/host.ts'
import { plainOf } from '../../../cli/console/lines.ts'
import { fakeService, refusal } from '../harness.ts'
import { until } from '../../support/until.ts'
import { whoOf } from './who.ts'

/* What is done to marked rows, at the keys but without a terminal: who is left out, the twin, the marks afterwards. */

const { SCREENS } = await import('../../../cli/console/screens.ts')
const { formLines } = await import('../../../cli/console/parts/modal.tsx')
const { footerLines } = await import('../../../cli/console/parts/footer.tsx')

const MERCHANT = '019aa000-0000-7000-8000-000000000001'

function delivery(end: string, status: 'DEAD' | 'DELIVERED'): object {
  return {
    id: `019aa000-0000-7000-8000-0000000000${end}`,
    event_id: 'evt_1',
    event_type: 'payment.settled',
    payment_id: MERCHANT,
    status,
    last_http_status: 500,
    last_error: 'http_500',
    attempt_count: 6,
    next_retry_at: null,
    delivered_at: null,
    created_at: '2026-11-22T12:00:00.000Z',
    merchant_id: MERCHANT,
    realm_slug: 'acme',
    trading_name: 'Acme Ltd',
  }
}

function formText(console: Console): string {
  const { modal } = console.state()
  return modal?.kind === 'form' ? formLines(console, modal, { width: 100, room: 20 }).map(plainOf).join('\n') : ''
}

const marksOf = (console: Console): string[] =>
  [...(console.state().views.webhooks?.marks ?? [])].map((id) => id.slice(-2))

t.test('only what it can be done to is counted, done and unmarked', async (t) => {
  const rows = [delivery('a1', 'DEAD'), delivery('a2', 'DELIVERED'), delivery('a3', 'DEAD')]
  const { url } = await fakeService(t, ({ method, path }) => {
    if (method !== 'POST') return { json: { data: rows, has_more: false, next_cursor: null } }
    return path.includes('0000a3') ? refusal(409, 'DELIVERY_NOT_DEAD') : { json: delivery('a1', 'DEAD') }
  })
  const credentials = headerCredentials({ clientId: undefined, platformUser: 'ada' })
  const client = makeClient({ apiUrl: url, credentials, timeoutMs: 30_000 })
  t.teardown(() => client.close())
  const who = whoOf('OPS')
  const console = makeConsole({
    screens: SCREENS,
    first: 'webhooks',
    session: { client, profile: '', isBoth: false, rights: { who, readonly: false, sandbox: true } },
    host: {} as Host,
    now: Date.now,
  })
  t.teardown(() => console.stop())
  await until('the rows are here', () => console.seen().rows.length === 3)
  console.update({ size: { columns: 120, rows: 40 } })
  console.press(['*'])
  t.match(plainOf(footerLines(console, 120)[0] ?? []), /r replay 2 /, 'the footer counts as the form does')
  t.match(console.seen().row, { status: 'DEAD' })
  console.press(['esc', 'space', 'j', 'space', 'k'])
  t.same(marksOf(console), ['a1', 'a3'])
  t.match(console.seen().row, { status: 'DELIVERED' })
  t.match(plainOf(footerLines(console, 120)[0] ?? []), /r replay 2 /, 'whichever row is selected')
  console.press(['esc', 'r'])
  t.match(console.state(), { modal: undefined, toast: { text: /^replay: not as this one stands/ } })
  console.press(['space', 'r'])
  t.match(console.state(), { modal: undefined, toast: { text: /^replay: none of the 1 marked rows can be/ } })
  console.update({ toast: { text: 'it failed', tone: 'bad' } })
  console.press(['esc'])
  t.same(marksOf(console), ['a2'], 'Esc closes what is open, first')
  t.equal(console.state().toast, undefined)
  console.press(['esc'])
  t.same(marksOf(console), [])
  console.press(['*', 'r'])
  t.match(formText(console), /2 of the 3 that are marked; 1 can't be, and is left out\./)
  t.match(
    formText(console),
    /svc webhooks replay 019aa000-0000-7000-8000-0000000000a1 --all-merchants\n\.\.\. and 1 more like it, one for each row/,
  )
  t.match(formText(console), /payment\.settled \(000000a1\) of Acme Ltd/, 'by its name')
  console.press(['enter'])
  await until('both were tried', () => console.state().modal?.kind === 'text')
  t.match(console.state().modal, { title: '1 done, 1 failed' })
  t.same(marksOf(console), ['a2', 'a3'], 'what is done is marked no more')
  console.press(['esc', 'esc'])
  t.same(marksOf(console), [])
})
