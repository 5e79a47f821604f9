import t from 'tap'
import type { Test } from 'tap'
import '../support/tsx.ts'
import { headerCredentials } from '../../cli/auth/credentials.ts'
import { makeClient } from '../../cli/client.ts'
import { CliError } from '../../cli/errors.ts'
import { EXIT } from '../../cli/exit-codes.ts'
import { makeConsole } from '../../cli/tui/console.ts'
import type { Console } from '../../cli/tui/console.ts'
import type { Host } from '../../cli/tui/host.ts'
import { plainOf } from '../../cli/tui/lines.ts'
import { screen } from '../../cli/tui/screen.ts'
import type { Page, Reading, Screen, Tools } from '../../cli/tui/screen.ts'
import { permissionsOf } from '../../src/lib/permissions.ts'
import type { Role } from '../../src/lib/permissions.ts'

const { SCREENS } = await import('../../cli/tui/screens.ts')
const { footerLine, footerLines } = await import('../../cli/tui/parts/footer.tsx')
const { newsLine } = await import('../../cli/tui/parts/body.tsx')
const { emptyText } = await import('../../cli/tui/parts/table.tsx')

/* Lists of the console on a reading that does as it is told: filters, failures and the footer, without a terminal. */

type Setting = { screens?: readonly Screen[]; first?: Screen['name']; role?: Role; now?: () => number }

function consoleOf(t: Test, { screens = SCREENS, first, role = 'OWNER', now = Date.now }: Setting): Console {
  const credentials = headerCredentials({ clientId: undefined, platformUser: 'ada' })
  const client = makeClient({ apiUrl: 'http://127.0.0.1:9', credentials, timeoutMs: 1_000 })
  const who = { kind: 'platform', role, name: 'ada', permissions: permissionsOf(role) } as unknown as Tools['who']
  const console = makeConsole({
    screens,
    first,
    session: () => ({ client, profile: '', rights: { who, readonly: false, sandbox: true } }),
    host: {} as Host,
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

t.test('Enter keeps what a filter has found, and adds what the service finds', async (t) => {
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

t.test('while the service is down the error and what to try stand there once, since when it is', async (t) => {
  let now = 10_000
  const names = namesOf(async () => {
    throw new CliError('DOWN', 'nothing listens there', { exit: EXIT.network, hint: 'svc up' })
  })
  const console = consoleOf(t, { screens: [names], now: () => now })
  await settled()
  now += 5_000
  console.poll()
  await settled()
  console.tick()
  t.equal(plainOf(newsLine(console, 80)), ' Error since 5 s: nothing listens there  Try: svc up')
})

t.test('the footer keeps what every screen can, whatever the screen itself has', async (t) => {
  const console = consoleOf(t, { screens: [namesOf(async () => ({ rows: ['acme'], next: null }))] })
  await settled()
  for (const width of [60, 80]) {
    const one = plainOf(footerLine(console, width))
    t.ok(one.length <= width, one)
    for (const key of [' :', ' /', ' space', ' ?', ' q']) t.ok(one.includes(key), `${width}: ${one}`)
    const [own, frame] = footerLines(console, width).map(plainOf)
    t.match(own, /r a long label that says much/)
    t.match(frame, /\/ filter .*: command .*space mark .*\? help .*q quit/)
  }
})

t.test('a screen that was asked for and is not for this role is told of', async (t) => {
  const console = consoleOf(t, { first: 'audit', role: 'SUPPORT' })
  t.equal(console.state().screen, 'overview')
  t.equal(console.state().toast?.text, "Audit is an OWNER's, and you are SUPPORT")
  console.press(['j'])
  console.press(['7'])
  t.equal(console.state().toast?.text, "Audit is an OWNER's, and you are SUPPORT")
})
