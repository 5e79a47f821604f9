import '../../support/tsx.ts'
import type { Test } from 'tap'
import { headerCredentials } from '../../../cli/client/auth/credentials.ts'
import { makeClient } from '../../../cli/client/call.ts'
import { makeConsole } from '../../../cli/console/console.ts'
import type { Host } from '../../../cli/console/host.ts'
import { screen } from '../../../cli/console/screen.ts'
import type { Page, Screen } from '../../../cli/console/screen.ts'
import { whoOf } from './who.ts'

const FORM = { what: 'do it', fields: [{ name: 'reason', label: 'Why', kind: 'line' as const }] }

/** Something that is asked for, and not answered until the test does. */
export type Held = { what: string; answer(rows: readonly string[], next?: string): void; fail(): void }

/** Two screens of names, and what is being asked for; what `isHeld` does not hold is answered with `rows`. */
export function heldConsole(t: Test, { rows = ['e', 'd', 'c', 'b', 'a'] } = {}) {
  const held: Held[] = []
  const at = { now: 1_000_000, isHeld: false, rows, asked: 0 }
  const ask = (what: string): Promise<Page<string>> => {
    at.asked += 1
    const { promise, resolve, reject } = Promise.withResolvers<Page<string>>()
    if (!at.isHeld) return Promise.resolve({ rows: at.rows, next: null })
    held.push({
      what,
      answer: (given, next) => resolve({ rows: given, next: next ?? null }),
      fail: () => reject(new Error('too late')),
    })
    return promise
  }
  const list = (name: 'overview' | 'payments', key: string): Screen =>
    screen<string>({
      name,
      key,
      title: name,
      short: name,
      reads: ['read merchants'],
      ...(name === 'payments' ? { follow: true, noun: 'one' } : {}),
      list: { read: () => ask(name), isDirty: () => true },
      id: (row) => row,
      columns: () => [{ title: 'name', value: (row) => row }],
      empty: 'Nothing.',
      detail: {
        title: (row) => row,
        read: async ({ arg }) => (await ask(`${name} ${arg}`)).rows[0] ?? arg,
        isDirty: () => false,
        above: ({ row, whole }) => [[{ text: whole === undefined ? `${row} of the list` : `the whole ${whole}` }]],
        find: async (_, text) => (await ask(`find ${text}`)).rows[0] ?? text,
      },
      keys: [
        {
          key: 't',
          label: 'do it',
          writes: true,
          command: () => 'svc do',
          run: async () => undefined,
          ask: () => FORM,
        },
      ],
    })
  const credentials = headerCredentials({ clientId: undefined, platformUser: 'ada' })
  const client = makeClient({ apiUrl: 'http://127.0.0.1:9', credentials, timeoutMs: 1_000 })
  const console = makeConsole({
    screens: [list('overview', '1'), list('payments', '4')],
    first: 'payments',
    session: { client, profile: '', rights: { who: whoOf('OWNER'), readonly: false, sandbox: true } },
    host: { repaint: () => undefined } as Host,
    now: () => at.now,
  })
  console.update({ link: { state: 'live', since: 0 } })
  t.teardown(async () => {
    console.stop()
    await client.close()
  })
  /** The newest of what is asked for and not answered. */
  const last = (what: string): Held => {
    const found = held.findLast((each) => each.what === what)
    if (found === undefined) throw new Error(`nobody asks for ${what}`)
    return found
  }
  return { console, at, last, countOf: (what: string) => held.filter((each) => each.what === what).length }
}
