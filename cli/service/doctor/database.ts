import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { ListedKey } from '../../../src/keys/list-keys.ts'
import { CliError } from '../../base/errors.ts'
import { keysOf, withDatabase } from '../keys/open.ts'
import type { Keys } from '../keys/open.ts'
import { keyFile } from '../up/key-file.ts'
import { clockVerdict, finding, ok, reasonOf, restartOr, runCheck, skipped, within } from './check.ts'
import type { Check, Verdict } from './check.ts'
import { ABOUT } from './database-sql.ts'
import type { Database } from './database-sql.ts'
import { checkMigrating, checkMigrations, checkRuntime } from './rights.ts'
import { isLoopback } from './service.ts'
import type { DoctorTarget } from './target.ts'

const VERSION_LEAST = 15
const VERSION_MOST = 18

export async function checkDatabase(target: DoctorTarget, database: Database | undefined): Promise<Check[]> {
  const keys = runCheck('master keys', () => checkKeys(target))
  if (database === undefined)
    return [{ check: 'reachable', ...skipped('no database is named here, and only its service knows it') }, await keys]
  const problem = await within(database.connected()).then(() => undefined, reasonOf)
  const fix = restartOr(target, 'export SVC_DATABASE_URL=postgres://<user>:<password>@<host>:5432/<database>')
  if (problem !== undefined) return [{ check: 'reachable', ...finding(problem, fix) }, await keys]
  const server = readServer(database)
  return [
    { check: 'reachable', ...ok(`${placeOf(database.url)} lets us in`) },
    ...(await Promise.all([
      runCheck('version', async () => versionCheck((await server).about)),
      runCheck('encoding', async () => encodingCheck((await server).about)),
      runCheck('database clock', async () => clockVerdict((await server).aheadMs)),
      runCheck('encryption', async () => encryptionCheck(database.url, (await server).about.encrypted)),
      runCheck('extensions', () => ok('none is needed')),
      runCheck('migrations', () => checkMigrations(database)),
      runCheck('runtime rights', () => checkRuntime(database)),
      runCheck('migrating rights', () => checkMigrating(target, database)),
    ])),
    await keys,
  ]
}

/** Where it is, without what opens it. */
function placeOf(url: string): string {
  if (!URL.canParse(url)) return 'it'
  const { host, pathname } = new URL(url)
  return `PostgreSQL at ${host}, database ${pathname.slice(1)},`
}

const About = z.object({
  /** As server_version_num has it: 180004. */
  version: z.int(),
  version_text: z.string(),
  encoding: z.string(),
  now_ms: z.number(),
  encrypted: z.boolean(),
})
type About = z.infer<typeof About>

async function readServer(database: Database): Promise<{ about: About; aheadMs: number }> {
  const before = Date.now()
  const [row] = await database.rows(ABOUT)
  const about = About.parse(row)
  return { about, aheadMs: about.now_ms - (before + Date.now()) / 2 }
}

export function versionCheck({ version, version_text: text }: Pick<About, 'version' | 'version_text'>): Verdict {
  const major = Math.floor(version / 10_000)
  if (major >= VERSION_LEAST && major <= VERSION_MOST) return ok(`PostgreSQL ${text}`)
  return finding(
    `this is PostgreSQL ${text}, and svc works with ${VERSION_LEAST} to ${VERSION_MOST}`,
    `export SVC_DATABASE_URL=<a PostgreSQL of ${VERSION_LEAST} to ${VERSION_MOST}>`,
  )
}

function encodingCheck({ encoding }: About): Verdict {
  if (encoding === 'UTF8') return ok('UTF8')
  return finding(
    `it is ${encoding}, in which not every name can be kept`,
    'createdb --template template0 --encoding UTF8 svc',
  )
}

/** Between machines, what is asked and answered must not be read on the way. */
export function encryptionCheck(url: string, isEncrypted: boolean): Verdict {
  if (isEncrypted) return ok('the connection is encrypted')
  const isNear = !URL.canParse(url) || new URL(url).hostname === '' || /^(%2F|\/)/i.test(new URL(url).hostname)
  if (isNear || isLoopback(url)) return ok('none, and none is needed: it is on this machine')
  return finding('the connection leaves this machine in clear', 'SVC_DATABASE_URL with ?sslmode=require at its end')
}

/** Whether every secret of the database opens under a master key that is here. */
async function checkKeys({ context, databaseUrl }: DoctorTarget): Promise<Verdict> {
  const keys = await keysHere(context)
  if (keys === undefined) return whereNone(context.stateDir)
  if (databaseUrl === undefined) return skipped('there is no database here to try them on')
  const { listKeys } = await import('../../../src/keys/list-keys.ts')
  const listed = await withDatabase(keys, databaseUrl, (app) => listKeys(app))
  const missing = listed.filter(({ state, values }) => state === 'unknown' && values > 0)
  const [first] = missing
  if (first === undefined) return ok(textOf(listed))
  const lost = missing.map(({ kid, values }) => `${values} values are sealed under the key ${kid}`).join(', ')
  return finding(`${lost}, which is not here: they can't be read`, keyCommand(keys, context.stateDir, first.kid))
}

async function keysHere(context: DoctorTarget['context']): Promise<Keys | undefined> {
  try {
    return await keysOf(context)
  } catch (error) {
    if (error instanceof CliError && error.code === 'NO_KEY') return undefined
    throw error
  }
}

/** A state directory that has data and no key has lost it. */
function whereNone(stateDir: string): Verdict {
  if (!existsSync(join(stateDir, 'postgres.json'))) return skipped('there are none here')
  const file = keyFile(stateDir)
  return finding(
    `${file} is missing: the secrets of this directory's database open under no other key`,
    `cp <backup>/master.key ${file}`,
  )
}

function keyCommand({ source }: Keys, stateDir: string, kid: string): string {
  return source === 'environment'
    ? `export SVC_ENCRYPTION_KEY_PREVIOUS=<the key with the id ${kid}>`
    : `echo '<the key with the id ${kid}>' >> ${keyFile(stateDir)}`
}

function textOf(listed: readonly ListedKey[]): string {
  const left = listed.filter(({ state, values }) => state === 'previous' && values > 0)
  const sum = listed.reduce((total, { values }) => total + values, 0)
  const some = left.length === 0 ? '' : `; the worker seals anew what is under ${left.map(({ kid }) => kid).join(', ')}`
  return `${sum} values, and every one opens${some}`
}
