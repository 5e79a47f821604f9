import t from 'tap'
import '../../support/tsx.ts'
import type { Who } from '../../../cli/client/auth/acting-side.ts'
import { NO_FEED, nextCursor, withFirstPage, withNextPage } from '../../../cli/console/model/cache.ts'
import { plainOf } from '../../../cli/console/lines.ts'
import { shownScreens, usableKeys, whyHidden } from '../../../cli/console/model/allowed.ts'
import { ageOf, untilText } from '../../../cli/base/ages.ts'
import { candidates } from '../../../cli/console/bar.ts'
import { edited, editOf, inserted } from '../../../cli/console/model/edit.ts'
import { FRAME_KEYS } from '../../../cli/console/frame-keys.ts'
import { keyNames } from '../../../cli/console/press.ts'
import { formOf, stepped } from '../../../cli/console/model/modal.ts'
import type { Form } from '../../../cli/console/model/modal.ts'
import { canGoBack, faded, gone, inView, wentBack } from '../../../cli/console/model/changes.ts'
import { firstState, viewOf } from '../../../cli/console/model/state.ts'
import type { Change, State } from '../../../cli/console/model/state.ts'
import { allToggled, arrived, filtered, moved, toggled, unmarked } from '../../../cli/console/model/view.ts'
import { laidTable } from '../../../cli/console/table-lines.ts'
import type { Role } from '../../../src/lib/permissions.ts'
import { summaryOf } from '../harness.ts'
import { whoOf } from './who.ts'

const { SCREENS } = await import('../../../cli/console/screens.ts')
const { sparkline } = await import('../../../cli/console/screens/overview.ts')

const SESSION = { rights: { who: whoOf('OWNER'), readonly: false, sandbox: true } } as State['session']
const FIRST = firstState({ screens: SCREENS, session: SESSION, screen: 'payments', now: 0 })

const ABCDE = ['a', 'b', 'c', 'd', 'e']

function after(changes: readonly Change[], from: State = FIRST): State {
  return changes.reduce((state, change) => change(state), from)
}

type Came = { ids: readonly string[]; at: number }

function rows(
  ids: readonly string[],
  { height = 3, follow = false, came }: { height?: number; follow?: boolean; came?: Came } = {},
): Change {
  return inView((view) => arrived(view, { ids, all: ids, height, follow, came }), 'payments')
}

function move(to: 'up' | 'down' | 'first' | 'last' | 'pageDown', ids: readonly string[]): Change {
  return inView((view) => moved(view, to, { ids, height: 3 }))
}

const filter = (text: string, isTaken = true): Change => inView((view) => filtered(view, text, { isTaken }))
const mark = (id: string): Change => inView((view) => toggled(view, id))
const MARK_ALL: Change = inView((view) => allToggled(view, ABCDE))

t.test('the selection stays on its row, and on its line, when rows come above it', async (t) => {
  const came = { ids: ['y', 'z'], at: 1 }
  const state = after([rows(ABCDE), move('down', ABCDE), rows(['y', 'z', ...ABCDE], { came })])
  t.match(viewOf(state), { selected: 'b', index: 3, follows: false })
  t.same([...viewOf(state).fresh], ['y', 'z'], 'new rows flash')
  t.same([...viewOf(after([faded(2_000)], state)).fresh], [])
  const gone = after([rows(['y', 'z', 'a', 'c', 'd'])], state)
  t.match(viewOf(gone), { selected: 'c', index: 3 }, 'where its row is gone it stays at its place')
  t.match(viewOf(after([rows([])], state)), { selected: undefined, index: 0, top: 0 })
})

t.test('the newest row is followed until the user moves, and again from the first row on', async (t) => {
  const live = { follow: true }
  const state = after([rows(ABCDE, live), rows(['z', ...ABCDE], live)])
  t.match(viewOf(state), { selected: 'z', index: 0, top: 0 })
  const stopped = after([move('down', ['z', ...ABCDE]), rows(['x', 'y', 'z', ...ABCDE], live)], state)
  t.match(viewOf(stopped), { selected: 'a', index: 3, follows: false })
  const again = after([move('first', ABCDE), rows(['w', ...ABCDE], live)], stopped)
  t.match(viewOf(again), { selected: 'w', index: 0, follows: true })
})

t.test('moving scrolls by as much as is needed, and never beyond the ends', async (t) => {
  const down = after([rows(ABCDE), ...Array.from({ length: 9 }, () => move('down', ABCDE))])
  t.match(viewOf(down), { index: 4, top: 2 })
  t.match(viewOf(after([move('up', ABCDE)], down)), { index: 3, top: 2 })
  t.match(viewOf(after([rows(ABCDE), move('pageDown', ABCDE)])), { index: 2, top: 0 })
  t.match(viewOf(after([rows([]), move('last', [])])), { index: 0, top: 0 })
})

t.test('what a filter lets in, or scrolling reads on, is not new', async (t) => {
  const id = String
  const first = withFirstPage(NO_FEED, { rows: ['d', 'c'], next: '2' }, { id, at: 1 })
  t.equal(first.came, undefined, 'at first all is')
  const more = withNextPage(first, { rows: ['b'], next: null }, { id, at: 2 })
  t.equal(more.came, undefined)
  t.same(withFirstPage(more, { rows: ['e', 'd'], next: '2' }, { id, at: 3 }).came, { ids: ['e'], at: 3 })
  const up = withFirstPage(first, { rows: ['c', 'b'], next: '3' }, { id, at: 4 })
  t.same(up.came, { ids: [], at: 4 }, 'what has moved up from the next page was there')
  const came = { ids: ['e'], at: 3 }
  const flashed = after([rows(ABCDE, { came }), faded(2_000), filter('e')])
  t.same([...viewOf(after([rows(['e', 'f'], { came })], flashed)).fresh], [], 'once')
})

t.test('the service is asked for a filter as long as its words stand there', async (t) => {
  const asked = after([filter('Failed')])
  const typed = (text: string): string => viewOf(after([filter(text, false)], asked)).asked
  t.equal(typed('Failed acme'), 'Failed')
  t.equal(typed('Fail'), '')
})

t.test('what is done is unmarked, and the rest stays so', async (t) => {
  const marked = after([rows(ABCDE), MARK_ALL])
  const left = after([inView((view) => unmarked(view, ['a', 'c', 'd', 'e']))], marked)
  t.same([...viewOf(left).marks], ['b'])
})

t.test('marks stay with their rows, and go with what a filter hides', async (t) => {
  const marked = after([rows(ABCDE), mark('b'), mark('d'), rows(['a', 'b', 'c'])])
  t.same([...viewOf(marked).marks], ['b'])
  t.same([...viewOf(after([MARK_ALL], marked)).marks], ABCDE)
  const hidden = after([filter('x', false)], marked)
  t.equal(viewOf(hidden).marks.size, 0)
  t.match(viewOf(hidden), { filter: 'x', asked: '' })
})

t.test('a step back leaves the detail, then the filter, then the marks, then for where one came from', async (t) => {
  let state = after([
    gone('kyb'),
    gone('payments', { isStep: true }),
    filter('x'),
    mark('a'),
    inView((view) => ({ ...view, open: { id: 'a', top: 0 } })),
  ])
  const seen: unknown[] = []
  while (canGoBack(state)) {
    state = wentBack(state)
    seen.push([state.screen, viewOf(state).open?.id, viewOf(state).filter, viewOf(state).marks.size])
  }
  t.same(seen, [
    ['payments', undefined, 'x', 1],
    ['payments', undefined, '', 1],
    ['payments', undefined, '', 0],
    ['kyb', undefined, '', 0],
  ])
})

t.test('a screen that is chosen is whole, whatever filter led to it before', async (t) => {
  const led = after([gone('webhooks', { filter: 'DEAD', isStep: true }), gone('kyb')])
  t.equal(viewOf(after([gone('webhooks')], led)).filter, '')
  const typed = filter('acme')
  t.equal(viewOf(after([typed, gone('kyb'), gone('payments')])).filter, 'acme')
})

t.test('keys have names, also where several come at once', async (t) => {
  t.same(keyNames('jj\r', {}), ['j', 'j', 'enter'])
  t.same(keyNames('', { upArrow: true }), ['up'])
  t.same(keyNames('r', { ctrl: true }), ['ctrl-r'])
  t.same(keyNames('', { tab: true, shift: true }), ['shift-tab'])
  t.same(keyNames(' é', {}), ['space', 'é'])
  t.same(keyNames('\u0003\u0000', {}), ['ctrl-c'])
  t.same(keyNames('x', { meta: true }), ['esc', 'x'], 'Esc and x in one read')
  t.same(keyNames('', { meta: true, return: true }), ['esc', 'enter'])
  t.same(keyNames('', { meta: true, escape: true }), ['esc', 'esc'])
  t.same(keyNames('', { meta: true, leftArrow: true }), ['left'], 'an arrow with Alt is that arrow')
  const all = FRAME_KEYS.flatMap(({ keys }) => keys)
  t.equal(new Set(all).size, all.length, 'no key means two things')
})

t.test('a screen has no key that every screen has, and each key names its command', async (t) => {
  const frame = new Set(FRAME_KEYS.flatMap(({ keys }) => keys))
  for (const screen of SCREENS)
    for (const { key, label } of screen.keys) {
      t.notOk(frame.has(key) && !['r', 'R'].includes(key), `${screen.name} ${key}`)
      t.ok(label)
    }
})

t.test('screens and keys are shown only to those who may use them', async (t) => {
  const shown = (role: Role, kind: Who['kind'], sandbox = true): string[] =>
    shownScreens(SCREENS, { who: whoOf(role, kind), readonly: false, sandbox }).map(({ name }) => name)
  t.ok(shown('SUPPORT', 'platform').includes('kyb'))
  t.notOk(shown('ADMIN', 'merchant').includes('kyb'))
  t.notOk(shown('OPS', 'platform').includes('audit'))
  t.notOk(shown('OWNER', 'platform', false).includes('sandbox'))
  const kyb = SCREENS.find(({ name }) => name === 'kyb')
  const keys = (role: Role, readonly: boolean): string[] =>
    kyb === undefined
      ? []
      : usableKeys(
          kyb,
          { who: whoOf(role, 'platform'), readonly, sandbox: true },
          { on: 'list', row: { merchant: { kyb_status: 'PENDING' } } },
        ).map(({ label }) => label)
  t.match(keys('OPS', false), ['approve', 'refuse'])
  t.notOk(keys('SUPPORT', false).includes('approve'))
  t.notOk(keys('OWNER', true).includes('approve'), '--readonly')
})

t.test('a screen that a role does not have is reported with the role that has it', async (t) => {
  const why = (name: string, role: Role, kind: Who['kind'], sandbox = true): string => {
    const found = SCREENS.find((each) => each.name === name)
    return found === undefined ? '' : whyHidden(found, { who: whoOf(role, kind), readonly: false, sandbox })
  }
  t.equal(why('audit', 'SUPPORT', 'platform'), "Audit is an OWNER's, and you are SUPPORT")
  t.equal(why('kyb', 'ADMIN', 'merchant'), 'KYB queue is for operators: :as operator')
  t.match(why('sandbox', 'OWNER', 'platform', false), /in a sandbox only/)
})

t.test('Tab goes on in the command bar', async (t) => {
  const names = (word: string): string[] => (word === 'merchant' ? ['harbour', 'Harbour Coffee', 'old-harbour'] : [])
  t.same(candidates('p', SCREENS, names), ['payments', 'payouts', 'payment', 'payout', 'profile'])
  t.same(candidates('merchant HAR', SCREENS, names), [
    'merchant harbour',
    'merchant Harbour Coffee',
    'merchant old-harbour',
  ])
  t.same(candidates('frob', SCREENS, names), [])
  const ofMerchants = SCREENS.filter(({ name }) => name !== 'merchants')
  t.same(candidates('merch', ofMerchants, names), [], 'what nobody here has is not offered')
})

t.test('a line is edited where the cursor stands', async (t) => {
  const typed = ['a', 'b', 'left', 'é', 'home', 'delete', 'end', 'space', 'x'].reduce(
    (edit, key) => edited(edit, key) ?? edit,
    editOf(''),
  )
  t.same(typed, { text: 'éb x', at: 4 })
  t.same(edited(editOf('one two '), 'ctrl-w'), { text: 'one ', at: 4 })
  t.same(inserted(editOf('a'), 'b\nc'), { text: 'ab c', at: 4 })
  t.equal(edited(editOf('a'), 'up'), undefined)
})

t.test('a form in live mode continues only with the words', async (t) => {
  const fields = [
    { name: 'favour', label: 'Favour', kind: 'choice', words: ['payer', 'merchant'] },
    { name: 'reason', label: 'Why', kind: 'line' },
    { name: 'confirmed', label: 'Type acme', kind: 'typed', words: ['acme'] },
  ] as const
  let form = formOf({ key: 'r', title: 'resolve', about: [], ids: ['1'], fields, live: true })
  const press = (...keys: string[]): unknown => {
    for (const key of keys) {
      const step = stepped(form, key)
      if (!('form' in step)) return step
      form = step.form
    }
    return form.problem
  }
  t.equal(press('down', 'enter', 'enter'), 'Why: is required')
  t.equal(press('o', 'k', 'enter', 'b', 'enter'), 'that is not acme; nothing was changed')
  t.same(press('backspace', ...'acme', 'enter'), { done: { favour: 'merchant', reason: 'ok' } })
  t.same(press('esc'), { cancelled: true })
  const busy: Form = { ...form, isWorking: true }
  t.same(stepped(busy, 'enter'), { form: busy }, 'what is being done is not done twice')
})

t.test('pages join, and stand alone where too much has come between', async (t) => {
  const id = String
  const at = 1
  const first = withFirstPage(NO_FEED, { rows: ['d', 'c'], next: '2' }, { id, at })
  const both = withNextPage(first, { rows: ['c', 'b', 'a'], next: null }, { id, at })
  t.same(both.rows, ['d', 'c', 'b', 'a'])
  t.match(withFirstPage(both, { rows: ['e', 'd'], next: '3' }, { id, at }), {
    rows: ['e', 'd', 'c', 'b', 'a'],
    next: null,
  })
  t.match(withFirstPage(both, { rows: ['z', 'y'], next: '4' }, { id, at }), { rows: ['z', 'y'], next: '4' })
  t.same(withFirstPage(both, { rows: [], next: null }, { id, at }).rows, [])
})

t.test('after a page of which a filter has left nothing, the next one is not read at once', (t) => {
  const entry = {
    screen: {},
    arg: '',
    filter: 'EUR',
    key: 'x',
    isDirty: false,
    dueSince: undefined,
    isUrgent: false,
  } as never
  const read = (feed: typeof NO_FEED) =>
    nextCursor({ ...Object(entry), feed, request: undefined, askedAt: 5_000 }, 5_500)
  const by = { id: String, at: 5_000 }
  t.equal(read(withFirstPage(NO_FEED, { rows: ['a'], next: '2' }, by)), '2')
  const empty = withFirstPage(NO_FEED, { rows: [], next: '2' }, by)
  t.equal(read(empty), undefined)
  t.equal(nextCursor({ ...Object(entry), feed: empty, request: undefined, askedAt: 5_000 }, 6_000), '2')
  t.equal(read(withNextPage(empty, { rows: [], next: '3' }, by)), undefined)
  t.equal(read(withNextPage(empty, { rows: ['b'], next: '3' }, by)), '3')
  t.end()
})

t.test('ages, times to come, and bars', async (t) => {
  const now = Date.parse('2026-11-21T12:00:00Z')
  t.equal(ageOf('2026-11-21T11:58:30Z', now), '1 min')
  t.equal(ageOf(null, now), '')
  t.equal(untilText('2026-11-21T15:00:00Z', now), 'in 3 h')
  t.equal(untilText('2026-11-19T12:00:00Z', now), '2 d over')
  t.equal(sparkline([0, 1, 2, 8], { width: 4, utf8: true }), '▁▂▃█')
  t.equal(sparkline([0, 1, 2, 8], { width: 4, utf8: false }), '_.-@')
  t.equal(sparkline([1, 1, 0, 0], { width: 2, utf8: false }).length, 2)
})

t.test('tables fit at 60, 80 and 140 columns; names from elsewhere drive no terminal', async (t) => {
  const payments = SCREENS.find(({ name }) => name === 'payments')
  const row = {
    ...summaryOf('Failed', { payer_name: 'Eve\u001b[2J', remittance_reference: 'Invoice 4711' }),
    realm_slug: 'acme',
  }
  for (const width of [60, 80, 140]) {
    const layout = { width, who: whoOf('OWNER', 'platform'), kept: {}, now: 0, wide: false }
    const laid = laidTable([row], payments?.columns(layout) ?? [], { width })
    const [header, line] = [plainOf(laid.header), plainOf(laid.row(0))]
    t.ok(header.length <= width && line.length <= width, `${width}`)
    t.match(header, /STATUS +AMOUNT +CUR/)
    // oxlint-disable-next-line no-control-regex
    t.notMatch(line, /\u001b/)
    t.equal(header.includes('REFERENCE'), width >= 80, 'what matters least goes first')
  }
})
