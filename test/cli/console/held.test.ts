import t from 'tap'
import type { Console } from '../../../cli/console/console.ts'
import { plainOf } from '../../../cli/console/lines.ts'
import { hinted, ticked } from '../../../cli/console/model/cache.ts'
import { signedInAs } from '../../../cli/console/model/changes.ts'
import { MERCHANT_ID, pageOf } from '../admin-harness.ts'
import { fakeService, refusal, serviceInfo, summaryOf } from '../harness.ts'
import { openConsole } from '../../support/terminal.ts'
import { heldConsole } from './held-console.ts'
import { whoOf } from './who.ts'

/* A service whose answers are held back until the test lets them go, or never come: no key waits for any of them. */

const { linkText } = await import('../../../cli/console/parts/header.tsx')
const { emptyText } = await import('../../../cli/console/parts/body.tsx')

async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate)
}

const selectedOf = (console: Console): string | undefined => console.seen().ids[console.seen().view.index]
const fresh = (console: Console): string => linkText(console.state(), console.seen().age).text
function signedInAgain(console: Console): void {
  console.update(signedInAs(console.state().session, { isOther: false }))
}
const openText = (console: Console): string => (console.seen().opened?.lines ?? []).map(plainOf).join('\n')

t.test('going back while the service hangs shows the earlier rows, marked as old, and every key works', async (t) => {
  const { console, at, last } = heldConsole(t)
  await settled()
  console.press(['1'])
  await settled()
  at.isHeld = true
  console.update(hinted({ of: [] }, at.now))
  at.now += 180_000
  console.update(ticked(at.now))
  console.press(['4'])
  t.same(console.seen().ids, ['e', 'd', 'c', 'b', 'a'], 'before anything was answered')
  t.equal(fresh(console), 'stale 3 min')
  console.press(['j', 'j'])
  t.equal(selectedOf(console), 'c')
  console.press(['space', 'k'])
  t.same([...console.seen().view.marks], ['c'])
  console.press(['enter'])
  t.match(openText(console), /^c of the list\n/, 'the row stands in for the whole')
  console.press(['esc', '?'])
  t.match(console.state().modal, { kind: 'text', title: 'Keys of payments' })
  console.press(['esc', '/', 'c'])
  t.same(console.seen().ids, ['c'])
  console.press(['esc', ':'])
  t.equal(console.state().bar?.kind, 'command')
  console.press(['esc', ']'])
  t.equal(console.seen().screen.name, 'overview')
  console.press(['['])
  t.equal(console.seen().screen.name, 'payments')
  console.press(['esc', 'g', 'j', 'j'])
  t.equal(selectedOf(console), 'c')
  last('payments').answer(['g', 'f', 'e', 'd', 'c', 'b', 'a'])
  await settled()
  t.equal(selectedOf(console), 'c', 'the selection is on its id')
  t.equal(console.seen().view.index, 4)
  t.equal(fresh(console), 'fresh')
  last('payments c').answer(['c'])
  await settled()
  console.press(['enter'])
  t.equal(openText(console), 'the whole c')
})

t.test('however much is opened, the lists of the other screens stay; what was opened is bounded', async (t) => {
  const { console, at } = heldConsole(t, { rows: Array.from({ length: 40 }, (_, n) => `row ${n}`) })
  await settled()
  console.press(['1'])
  await settled()
  for (let n = 0; n < 39; n += 1) {
    console.press(['enter'])
    await settled()
    console.press(['esc', 'j'])
  }
  const { asked } = at
  console.press(['k', 'enter'])
  t.match(openText(console), /^the whole/, 'what was opened last is still here')
  at.isHeld = true
  console.press(['esc', 'g', 'enter'])
  t.equal(at.asked, asked + 1, 'and what was opened first is asked for again')
  t.match(openText(console), /of the list\n/)
  console.press(['4'])
  t.equal(console.seen().rows.length, 40)
})

t.test('keys before the rows have come change nothing of what is selected and followed', async (t) => {
  const { console, at, last } = heldConsole(t)
  await settled()
  at.isHeld = true
  console.press(['j', 'j'])
  for (const [key, selected] of [
    ['j', 'c'],
    ['g', 'e'],
  ] as const) {
    // As after signing in anew: nothing is known any more.
    signedInAgain(console)
    console.press([key, 'enter', 'space'])
    t.equal(emptyText(console.seen()), 'Loading ...')
    last('payments').answer(at.rows)
    await settled()
    t.equal(selectedOf(console), selected)
    t.equal(console.seen().opened, undefined)
  }
  signedInAgain(console)
  console.press(['j', 'G'])
  last('payments').answer(at.rows)
  await settled()
  t.ok(console.seen().view.follows, 'there was nowhere to go')
})

t.test('ctrl-r does not wait for a reading that hangs, and its late answer or failure is none', async (t) => {
  for (const isFailure of [false, true]) {
    const { console, at, last, countOf } = heldConsole(t)
    await settled()
    at.isHeld = true
    console.press(['ctrl-r'])
    const first = last('payments')
    console.press(['ctrl-r'])
    t.equal(countOf('payments'), 1, 'not twice in a second')
    at.now += 1_000
    console.press(['ctrl-r'])
    t.equal(countOf('payments'), 2)
    last('payments').answer(['new'])
    await settled()
    if (isFailure) first.fail()
    else first.answer(['old'])
    await settled()
    t.same(console.seen().ids, ['new'])
    t.equal(console.seen().feed.failure, undefined)
  }
})

t.test('what was asked for before p does not move the rows behind it', async (t) => {
  const { console, at, last } = heldConsole(t)
  await settled()
  at.isHeld = true
  at.now += 2_000
  console.update(hinted({ of: [] }, at.now))
  console.press(['p'])
  last('payments').answer(['f', 'e'])
  await settled()
  t.same(console.seen().ids, ['e', 'd', 'c', 'b', 'a'])
  at.now += 2_000
  console.press(['p'])
  last('payments').answer(['g', 'f'])
  await settled()
  t.same(console.seen().ids, ['g', 'f'])
})

t.test('what is looked for by name opens when it is found, unless the user has moved on', async (t) => {
  const { console, at, last } = heldConsole(t)
  await settled()
  at.isHeld = true
  console.press([...':one d', 'enter'])
  t.equal(console.state().toast?.text, 'looking for d ...')
  last('find d').answer(['d'])
  await settled()
  t.equal(console.seen().opened?.title, 'd')
  console.press(['esc', ...':one c', 'enter'])
  console.press(['t', 'w', 'h', 'y'])
  last('find c').answer(['c'])
  await settled()
  const { modal } = console.state()
  t.match(modal, { kind: 'form', edit: { text: 'why' } }, 'what is being typed stays')
  t.equal(console.state().toast?.text, 'found: one c')
})

t.test('with a service that stops answering the user can still move, open and leave', async (t) => {
  const owner = { merchant_id: MERCHANT_ID, realm_slug: 'acme', trading_name: 'Acme' }
  const ids = ['a', 'b', 'c'].map((end) => `019aa000-0000-7000-8000-00000000000${end}`)
  const rows = ids.map((id) => ({ ...summaryOf('Settled', owner), payment_id: id }))
  let isSilent = false
  const { url } = await fakeService(t, ({ path }) => {
    if (path === '/api/v1/service') return { json: serviceInfo() }
    if (path === '/api/v1/whoami') return { json: whoOf('OPS') }
    if (isSilent) return 'silence'
    return path.startsWith('/api/v1/admin/payments?') ? pageOf(rows) : refusal(404, 'NOT_FOUND')
  })
  const env = { SVC_PLATFORM_USER: 'ada', SVC_TIMEOUT: '10m' }
  const console = openConsole(t, { url, env, words: ['--screen', 'payments', '--interval', '1s'] })
  await console.until(/Payments 1\/3/)
  isSilent = true
  console.press('1')
  await console.until(/Loading/)
  await console.until(/ stale \d+ s/)
  console.press('4')
  await console.until(/Payments 1\/3/)
  console.press('j', 'j', 'k', 'enter')
  await console.until(new RegExp(`Payments > .*\\n.*${ids[1]}`))
  console.press('esc', '?')
  await console.until(/Keys of Payments/)
  console.press('esc', '/', '0', '0', 'c')
  await console.until(/1 of 3/)
  console.press('esc')
  await console.until(/Payments 1\/3/)
  console.press('q')
  t.match(await console.ended(), { code: 0, isPlain: true, isCursorShown: true, isCooked: true })
})
