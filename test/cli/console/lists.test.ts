import t from 'tap'
import type { Test } from 'tap'
import '../../support/tsx.ts'
import { headerCredentials } from '../../../cli/client/auth/credentials.ts'
import { makeClient } from '../../../cli/client/call.ts'
import { CliError } from '../../../cli/base/errors.ts'
import { EXIT } from '../../../cli/base/exit-codes.ts'
import { makeConsole } from '../../../cli/console/console.ts'
import type { Console } from '../../../cli/console/console.ts'
import type { Host } from '../../../cli/console/host.ts'
import { CUT, plainOf } from '../../../cli/console/lines.ts'
import { polled, ticked } from '../../../cli/console/model/cache.ts'
import { screen } from '../../../cli/console/screen.ts'
import type { Page, Reading, Screen } from '../../../cli/console/screen.ts'
import type { Role } from '../../../src/lib/permissions.ts'
import { whoOf } from './who.ts'

const { SCREENS } = await import('../../../cli/console/screens.ts')
const { footerLines } = await import('../../../cli/console/parts/footer.tsx')
const { lowerLines, titleLine } = await import('../../../cli/console/parts/body.tsx')
const { emptyText } = await import('../../../cli/console/parts/body.tsx')

/* Lists of the console on a reading that does as it is told: filters, failures and the footer, without a terminal. */

type Setting = {
  screens?: readonly Screen[]
  first?: Screen['name']
  role?: Role
  now?: () => number
  host?: Partial<Host>
}

function consoleOf(t: Test, { screens = SCREENS, first, role = 'OWNER', now = Date.now, host = {} }: Setting): Console {
  const credentials = headerCredentials({ clientId: undefined, platformUser: 'ada' })
  const client = makeClient({ apiUrl: 'http://127.0.0.1:9', credentials, timeoutMs: 1_000 })
  const who = whoOf(role)
  const console = makeConsole({
    screens,
    first,
    session: { client, profile: '', rights: { who, readonly: false, sandbox: true } },
    host: host as Host,
    typed: (text) => text.replaceAll('svc ', 'npx svc '),
    now,
  })
  t.teardown(async () => {
    console.stop()
    await client.close()
  })
  return console
}

/** A list of names of which the service finds those that begin so, and nothing else. */
function namesOf(read: (reading: Pick<Reading, 'filter' | 'cursor'>) => Promise<Page<string>>): Screen {
  return screen<string>({
    name: 'merchants',
    key: '1',
    title: 'Names',
    short: 'Names',
    reads: ['read merchants'],
    list: { read, isDirty: () => false },
    id: (row) => row,
    columns: () => [{ title: 'name', value: (row) => row }],
    empty: 'Nothing.',
    serviceFilter: (filter) => filter,
    keys: [
      {
        key: 'r',
        label: 'a long label that says much',
        needs: 'nothing',
        command: () => '',
        run: async () => undefined,
      },
      { key: 't', label: 'do it to many', writes: true, command: () => '', run: async () => undefined },
      { key: 'u', label: 'and yet another thing', needs: 'nothing', command: () => '', run: async () => undefined },
    ],
  })
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate)
}

t.test('what the service finds for a filter comes to what was found here, and takes nothing away', async (t) => {
  const asked: string[] = []
  const names = namesOf(async ({ filter }) => {
    asked.push(filter)
    return filter === '' ? { rows: ['acme', 'big acorn', 'zoo'], next: '2' } : { rows: ['acorn far away'], next: null }
  })
  const console = consoleOf(t, { screens: [names] })
  await settled()
  console.press(['/', 'a', 'c'])
  t.same(console.seen().ids, ['acme', 'big acorn'])
  console.press(['enter'])
  t.same(console.seen().ids, ['acme', 'big acorn'], 'while it is asked')
  await settled()
  t.same(console.seen().ids, ['acme', 'big acorn', 'acorn far away'])
  t.same(asked, ['', 'ac'])
  console.press(['esc'])
  t.same(console.seen().ids, ['acme', 'big acorn', 'zoo'])
  t.equal(console.seen().view.fresh.size, 0)
})

t.test('what the service looks for in fewer columns than the filter is still shown', async (t) => {
  const names = namesOf(async ({ filter }) => ({ rows: filter === '' ? ['acme', 'acorn', 'zoo'] : [], next: null }))
  const console = consoleOf(t, { screens: [names] })
  await settled()
  console.press(['/', 'a', 'c', 'enter'])
  await settled()
  t.same(console.seen().ids, ['acme', 'acorn'])
  t.match(plainOf(titleLine(console.seen(), 80)), /^ Names 1\/2 of 3 {2}filter: ac/)
})

t.test('a filter that finds nothing says what it was looked for in', async (t) => {
  const names = namesOf(async ({ cursor }) =>
    cursor === undefined ? { rows: ['acme', 'zoo'], next: '2' } : { rows: ['quince'], next: null },
  )
  const console = consoleOf(t, { screens: [{ ...names, serviceFilter: () => '' }] })
  await settled()
  console.press(['/', 'q'])
  t.equal(emptyText(console.seen()), 'Nothing in the 2 loaded fits "q". PgDn loads more; Esc clears the filter.')
  console.press(['enter', 'pagedown'])
  await settled()
  t.same(console.seen().ids, ['quince'])
  t.equal(console.seen().view.fresh.size, 0, 'what was read on is not new')
  const asking = consoleOf(t, { screens: [names] })
  await settled()
  asking.press(['/', 'x'])
  t.match(emptyText(asking.seen()), /Enter asks the service/)
})

t.test('beyond what is kept, or what the service gives at all, no key is named that loads nothing', async (t) => {
  const page = (from: number): Page<string> => ({
    rows: Array.from({ length: 250 }, (_, at) => `row ${from + at}`),
    next: String(from + 250),
  })
  const long = namesOf(async ({ cursor }) => page(Number(cursor ?? 0)))
  const console = consoleOf(t, { screens: [{ ...long, serviceFilter: () => '', serviceLooksFor: 'a colour' }] })
  await settled()
  console.press(['G'])
  await settled()
  t.equal(console.seen().rows.length, 500)
  t.match(plainOf(titleLine(console.seen(), 80)), / Names 250\/500\+/)
  console.press(['/', 'z'])
  t.equal(
    emptyText(console.seen()),
    'Nothing in the 500 loaded fits "z". The service looks in all for a colour. Esc clears the filter.',
  )

  const newest: Page<string> = { rows: ['acme', 'zoo'], next: null, isNewestOnly: true }
  const short = { ...namesOf(async () => newest), serviceFilter: () => '' }
  const capped = consoleOf(t, { screens: [short] })
  await settled()
  t.match(plainOf(titleLine(capped.seen(), 80)), / Names 1\/2 newest/)
  capped.press(['/', 'q'])
  t.equal(emptyText(capped.seen()), 'Nothing in the 2 newest fits "q". There may be older ones. Esc clears the filter.')
  t.equal(capped.seen().whole, undefined, 'nobody has counted them all')
})

t.test('the service is asked for a currency that there is, a whole event and a whole end-to-end id', async (t) => {
  const endToEndId = `SVC${'0'.repeat(32)}`
  const asks = (name: Screen['name'], filter: string): string | undefined =>
    SCREENS.find((each) => each.name === name)?.serviceFilter?.(filter)
  t.equal(asks('payments', 'TOM'), '')
  t.equal(asks('payments', 'all'), '')
  t.equal(asks('payments', 'gbp settled'), 'Settled GBP')
  t.equal(asks('payments', `TOM ${endToEndId}`), endToEndId)
  t.equal(asks('webhooks', 'dead payment.settled'), 'DEAD payment.settled')
  t.equal(asks('webhooks', 'dead settled'), 'DEAD')
})

t.test('while the service is down the error and what to try stand there once, since when it is', async (t) => {
  let now = 10_000
  const names = namesOf(async () => {
    throw new CliError('DOWN', 'nothing listens there', { exit: EXIT.network, hint: 'svc up' })
  })
  const console = consoleOf(t, { screens: [names], now: () => now })
  await settled()
  now += 5_000
  console.update(polled(now))
  await settled()
  console.update(ticked(now))
  t.same(lowerLines(console, 80).map(plainOf), [' Error since 5 s: nothing listens there  Try: npx svc up'])
})

t.test(
  'an error has the lines that it needs, its hint is never lost, and the selected row stays in sight',
  async (t) => {
    const rows = Array.from({ length: 40 }, (_, at) => `row ${at}`)
    const console = consoleOf(t, { screens: [namesOf(async () => ({ rows, next: null }))] })
    await settled()
    console.update({ size: { columns: 60, rows: 16 } })
    console.press(['G'])
    const seenHeight = (): number => console.seen().listHeight + lowerLines(console, 60).length
    const height = seenHeight()
    const text = `${'The service can not be reached, and that is a pity. '.repeat(5)}\nTry: svc profile use other-one --and-so-on`
    console.update({ toast: { text, tone: 'bad' } })
    const lines = lowerLines(console, 60).map(plainOf)
    t.equal(lines.length, 3)
    t.ok(lines.every((each) => each.length <= 60))
    t.match(lines[0], /^ Error: The service can not/)
    t.ok(lines[1]?.endsWith(CUT))
    t.equal(lines[2], ' Try: svc profile use other-one --and-so-on')
    t.equal(seenHeight(), height, 'the list gives the lines')
    const { view, listHeight } = console.seen()
    t.ok(view.index >= view.top && view.index < view.top + listHeight)
    console.update({ toast: { text: 'x '.repeat(45).trim(), tone: 'info' } })
    t.equal(lowerLines(console, 60).length, 2)
    console.update({ toast: undefined })
    t.equal(lowerLines(console, 60).length, 1)
    t.equal(console.seen().view.index, 39)
  },
)

t.test('the title counts what is there, and says which lines of a detail are seen', async (t) => {
  const title = (console: Console): string => plainOf(titleLine(console.seen(), 80)).trimEnd()
  const names = namesOf(async () => ({ rows: ['acme', 'acorn', 'zoo'], next: '2' }))
  const detail: Screen['detail'] = {
    title: (row: string) => row,
    read: async () => 'whole',
    isDirty: () => false,
    row: () => 'acme',
    above: () => Array.from({ length: 28 }, (_, at) => [{ text: `line ${at}` }]),
  }
  const console = consoleOf(t, { screens: [{ ...names, detail, serviceFilter: () => '' }] })
  await settled()
  t.equal(title(console), ' Names 1/3+')
  console.press(['/', 'a', 'c', 'enter'])
  await settled()
  t.match(title(console), /^ Names 1\/2 of \d loaded {2}filter: ac/, 'nobody has counted the others')
  console.press(['enter'])
  await settled()
  t.equal(title(console), ' Names > acme  1-18 of 28')
  console.press(['j', 'j'])
  t.equal(title(console), ' Names > acme  3-20 of 28')
  console.press(['G'])
  t.equal(title(console), ' Names > acme  11-28 of 28')
  console.update({ size: { columns: 80, rows: 40 } })
  t.equal(title(console), ' Names > acme')
})

t.test('the footer keeps what every screen can, whatever the screen itself has', async (t) => {
  const console = consoleOf(t, { screens: [namesOf(async () => ({ rows: ['acme'], next: null }))] })
  await settled()
  for (const width of [60, 80]) {
    const [own, frame] = footerLines(console, width).map(plainOf)
    t.match(own, /r a long label that says much/)
    t.ok((own ?? '').length <= width && (frame ?? '').length <= width)
    t.match(frame, /\/ filter .*: command .*space mark .*\? help .*q quit/)
  }
})

t.test('a screen that was asked for and is not for this role is reported', async (t) => {
  const console = consoleOf(t, { first: 'audit', role: 'SUPPORT' })
  t.equal(console.state().screen, 'overview')
  t.equal(console.state().toast?.text, "Audit is an OWNER's, and you are SUPPORT")
  console.press(['j'])
  console.press(['7'])
  t.equal(console.state().toast?.text, "Audit is an OWNER's, and you are SUPPORT")
})

t.test('the command bar', async (t) => {
  const done: string[] = []
  const console = consoleOf(t, {
    host: {
      quit: () => void done.push('quit'),
      profile: async (name) => void done.push(name),
      half: async (half) => void done.push(half),
    },
  })
  const obeyed = (text: string): unknown => {
    console.press([
      'esc',
      'esc',
      'esc',
      ':',
      ...text
        .replaceAll(' ', '\u0000')
        .split('')
        .map((each) => (each === '\u0000' ? 'space' : each)),
      'enter',
    ])
    const { screen, toast } = console.state()
    return toast?.text ?? [screen, console.seen().view.filter]
  }
  t.same(obeyed('payments'), ['payments', ''])
  t.same(obeyed('payments Failed'), ['payments', 'Failed'])
  t.same(obeyed('ky'), ['kyb', ''])
  t.equal(obeyed('profile'), 'which profile? :profile <name>')
  t.equal(obeyed('frobnicate'), 'unknown command :frobnicate; :help lists them')
  t.match(obeyed('merchant'), /^which merchant\? :merchant <name>.* :as merchant$/)
  t.match(obeyed('as ada'), /^as whom\?/)
  for (const text of ['q', 'profile live', 'as merchant']) obeyed(text)
  t.same(done, ['quit', 'live', 'merchant'])
  await settled()
  t.equal(console.state().toast?.text, 'now as the merchant')
  obeyed('operator')
  await settled()
  t.equal(console.state().toast?.text, 'you are the operator')
  t.equal(obeyed('payment 01a1'), 'looking for 01a1 ...')
  obeyed('')
  t.match(console.state().modal, { title: 'Commands' })
})
