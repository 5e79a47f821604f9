import t from 'tap'
import { startAll } from '../../../cli/service/up/start.ts'
import { emptyDatabase } from '../../support/database.ts'
import { stateDirOf } from '../service.ts'

t.test('svc up says that the login of an outside database is a superuser', async (t) => {
  const notes: string[] = []
  const { url } = await emptyDatabase(t)
  const plan = {
    stateDir: stateDirOf(t),
    port: 0,
    database: { kind: 'outside', url },
    identity: 'none',
    authUrl: undefined,
    env: { SVC_LOG_LEVEL: 'silent' },
    logLevel: 'warn',
    note: (line: string) => void notes.push(line),
  } as const
  const running = await startAll(plan, new AbortController().signal)
  await running.stop()
  t.match(notes.join('\n'), /The database login is a superuser/)
})
