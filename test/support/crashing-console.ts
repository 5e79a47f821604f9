import './tsx.ts'
import { headerCredentials } from '../../cli/client/auth/credentials.ts'
import { whoIs } from '../../cli/client/auth/acting-side.ts'
import { makeClient } from '../../cli/client/call.ts'
import { reportError } from '../../cli/base/errors.ts'
import { systemIo } from '../../cli/base/io.ts'
import { screen } from '../../cli/console/screen.ts'

/*
 * A console with one screen that fails: with `t` while it is drawn, with `k` in the key itself, with `u` where nobody
 * waits for it.
 */
const [url = ''] = process.argv.slice(2)
const credentials = headerCredentials({ clientId: undefined, platformUser: 'ada' })
const client = makeClient({ apiUrl: url, credentials, timeoutMs: 5_000 })
const who = await whoIs(client, ['platform'])
const { startConsole } = await import('../../cli/console/start.tsx')
let isBroken = false

const key = { needs: 'nothing', command: () => 'svc status' } as const

const failing = screen<{ id: string }>({
  name: 'overview',
  key: '1',
  title: 'Failing',
  short: 'Fail',
  reads: ['read merchants'],
  list: { read: async () => ({ rows: [{ id: 'the only row' }], next: null }), isDirty: () => true },
  id: ({ id }) => id,
  columns: () => [
    {
      title: 'id',
      value({ id }) {
        if (isBroken) throw new Error('this row can not be drawn')
        return id
      },
    },
  ],
  empty: 'Nothing.',
  keys: [
    { ...key, key: 't', label: 'throw', run: async () => String((isBroken = true)) },
    {
      ...key,
      key: 'k',
      label: 'throw in the key',
      ask() {
        throw new Error('this key can not be pressed')
      },
      run: async () => undefined,
    },
    {
      ...key,
      key: 'u',
      label: 'reject',
      async run() {
        void Promise.reject(new Error('nobody waits for this'))
        return undefined
      },
    },
  ],
})

try {
  const session = { client, profile: '', rights: { who, readonly: false, sandbox: true } }
  process.exitCode = await startConsole({
    io: systemIo(),
    session,
    stateDir: '/nowhere',
    screen: undefined,
    intervalMs: 1_000,
    screens: [failing],
    open: async () => session,
  })
} catch (error) {
  process.exitCode = reportError(systemIo(), error, { json: false, color: 'never' })
}
