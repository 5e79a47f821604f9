import { z } from 'zod'
import { finding, ok, skipped } from './check.ts'
import type { Check } from './check.ts'
import { clockCheck } from './clock.ts'
import type { Database } from './database-connection.ts'
import { ABOUT } from './database-sql.ts'
import { checkKeys } from './keys.ts'
import { checkMigrations } from './migrations.ts'
import type { DoctorTarget } from './target.ts'
import { checkMigrating, checkRuntime } from './rights.ts'
import { isLoopback } from './service.ts'
import { runCheck, reasonOf, within } from './timed.ts'

const VERSION_LEAST = 15
const VERSION_MOST = 18

export async function checkDatabase(target: DoctorTarget, database: Database | undefined): Promise<Check[]> {
  const keys = runCheck('master keys', () => checkKeys(target))
  if (database === undefined)
    return [skipped('reachable', 'no database is named here, and only its service knows it'), await keys]
  const problem = await within(database.connected()).then(() => undefined, reasonOf)
  if (problem !== undefined) return [finding('reachable', problem, fixCommand(target)), await keys]
  return [
    ok('reachable', `${placeOf(database.url)} lets us in`),
    ...(await checkServer(database)),
    extensionsCheck(),
    ...(await Promise.all([
      runCheck('migrations', () => checkMigrations(database)),
      runCheck('runtime rights', () => checkRuntime(database)),
      runCheck('migrating rights', () => checkMigrating(target, database)),
    ])),
    await keys,
  ]
}

function fixCommand({ by }: DoctorTarget): string {
  if (by === 'state directory') return 'svc down && svc up --detach'
  return 'export SVC_DATABASE_URL=postgres://<user>:<password>@<host>:5432/<database>'
}

/** Where it is, without what opens it. */
function placeOf(url: string): string {
  if (!URL.canParse(url)) return 'it'
  const { host, pathname } = new URL(url)
  return `PostgreSQL at ${host}, database ${pathname.slice(1)},`
}

const About = z.object({
  version: z.int(),
  version_text: z.string(),
  encoding: z.string(),
  now_ms: z.number(),
  encrypted: z.boolean(),
})
type About = z.infer<typeof About>

async function checkServer(database: Database): Promise<Check[]> {
  const names = ['version', 'encoding', 'database clock', 'encryption']
  try {
    const { about, aheadMs } = await within(readAbout(database))
    return [
      versionCheck(about.version, about.version_text),
      encodingCheck(about),
      clockCheck('database clock', aheadMs),
      encryptionCheck(database.url, about.encrypted),
    ]
  } catch (error) {
    return names.map((name) => skipped(name, reasonOf(error)))
  }
}

async function readAbout(database: Database): Promise<{ about: About; aheadMs: number }> {
  await database.connected()
  const before = Date.now()
  const [row] = await database.rows(ABOUT)
  const about = About.parse(row)
  return { about, aheadMs: about.now_ms - (before + Date.now()) / 2 }
}

/** @param version as server_version_num has it: 180004 */
export function versionCheck(version: number, text: string): Check {
  const major = Math.floor(version / 10_000)
  if (major >= VERSION_LEAST && major <= VERSION_MOST) return ok('version', `PostgreSQL ${text}`)
  return finding(
    'version',
    `this is PostgreSQL ${text}, and svc works with ${VERSION_LEAST} to ${VERSION_MOST}`,
    `export SVC_DATABASE_URL=<a PostgreSQL of ${VERSION_LEAST} to ${VERSION_MOST}>`,
  )
}

function encodingCheck({ encoding }: About): Check {
  if (encoding === 'UTF8') return ok('encoding', 'UTF8')
  return finding(
    'encoding',
    `it is ${encoding}, in which not every name can be kept`,
    'createdb --template template0 --encoding UTF8 svc',
  )
}

/** Between machines, what is asked and answered must not be read on the way. */
export function encryptionCheck(url: string, isEncrypted: boolean): Check {
  if (isEncrypted) return ok('encryption', 'the connection is encrypted')
  const isNear = !URL.canParse(url) || new URL(url).hostname === '' || /^(%2F|\/)/i.test(new URL(url).hostname)
  if (isNear || isLoopback(url)) return ok('encryption', 'none, and none is needed: it is on this machine')
  return finding(
    'encryption',
    'the connection leaves this machine in clear',
    'SVC_DATABASE_URL with ?sslmode=require at its end',
  )
}

function extensionsCheck(): Check {
  return ok('extensions', 'none is needed')
}
