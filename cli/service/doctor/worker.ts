import { z } from 'zod'
import { getOverview } from '../../../src/wire/console.ts'
import { call } from '../../client/call.ts'
import { finding, ok } from './check.ts'
import type { Check } from './check.ts'
import type { Database } from './database-connection.ts'
import { OLDEST_DUE } from './database-sql.ts'
import type { DoctorTarget } from './target.ts'

/** What is due is taken within seconds; a busy worker may be behind by more than that, and not by this. */
const LAG_MAX_MS = 120_000

const Due = z.object({ what: z.string(), lag_ms: z.number() })

/** Whether somebody takes what is due: by the database where it can be seen, else as the service says. */
export async function checkWorker(
  target: DoctorTarget,
  database: Database | undefined,
  answers: boolean,
): Promise<Check> {
  const due = await oldestDue(target, database, answers)
  if (due === null) return ok('worker', 'nothing is due that nobody has taken')
  if (due.lag_ms <= LAG_MAX_MS) return ok('worker', `the oldest thing that is due waits for ${text(due.lag_ms)}`)
  return finding(
    'worker',
    `${due.what} has been due for ${text(due.lag_ms)}: no worker seems to run`,
    fixCommand(target),
  )
}

async function oldestDue(
  { client }: DoctorTarget,
  database: Database | undefined,
  answers: boolean,
): Promise<z.infer<typeof Due> | null> {
  if (database !== undefined) {
    const [row] = await database.rows(OLDEST_DUE)
    return row === undefined ? null : Due.parse(row)
  }
  if (!answers) throw new Error('nothing answers')
  const { body } = await call(client(), getOverview, {})
  return body.worker.lag_ms === 0 ? null : { what: 'something', lag_ms: body.worker.lag_ms }
}

/** The one of svc up runs in its process. */
function fixCommand({ by }: DoctorTarget): string {
  return by === 'state directory' ? 'svc down && svc up --detach' : 'svc worker'
}

function text(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`
}
