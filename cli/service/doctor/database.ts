import { CliError } from '../../base/errors.ts'
import { keysOf, withDatabase } from '../keys/rotate.ts'
import type { Keys } from '../keys/rotate.ts'
import { keyFile } from '../up/key-file.ts'
import { clockVerdict, finding, ok, reasonOf, restartOr, runChecks, skipped, within } from './check.ts'
import type { Check, Verdict } from './check.ts'
import { readFacts, readMode } from './database-sql.ts'
import type { Facts } from './database-sql.ts'
import type { DoctorTarget } from './target.ts'

const VERSION_LEAST = 15
const VERSION_MOST = 18

export const DATABASE_URL = 'postgres://<user>:<password>@<host>:5432/<database>'

export async function checkDatabase(target: DoctorTarget): Promise<Check[]> {
  const { databaseUrl: url, migrationUrl } = target
  const keys = { 'master keys': () => keysCheck(target) }
  if (url === undefined) return runChecks({ reachable: () => skipped('only its service knows it'), ...keys })
  const facts = await within(readFacts(url)).catch(reasonOf)
  if (typeof facts === 'string')
    return runChecks({
      reachable: () => finding(facts, restartOr(target, `export SVC_DATABASE_URL=${DATABASE_URL}`)),
      ...keys,
    })
  return runChecks({
    reachable: () => ok(`${placeOf(url)} answers`),
    version: () => versionCheck(facts),
    'database clock': () => clockVerdict(facts.aheadMs),
    migrations: () => migrationsCheck(url),
    mode: () => modeCheck(url, target.config),
    'runtime rights': () => runtimeCheck(facts),
    'migrating rights': () => migratingCheck(facts, migrationUrl === url ? undefined : migrationUrl),
    'merchant policies': () => policiesCheck(facts),
    ...keys,
  })
}

function placeOf(url: string): string {
  if (!URL.canParse(url)) return 'it'
  const { host, pathname } = new URL(url)
  return `PostgreSQL at ${host}, database ${pathname.slice(1)},`
}

export function versionCheck({ version, version_text: text }: Pick<Facts, 'version' | 'version_text'>): Verdict {
  const major = Math.floor(version / 10_000)
  if (major >= VERSION_LEAST && major <= VERSION_MOST) return ok(`PostgreSQL ${text}`)
  return finding(
    `this is PostgreSQL ${text}, and svc works with ${VERSION_LEAST} to ${VERSION_MOST}`,
    `export SVC_DATABASE_URL=<a PostgreSQL of ${VERSION_LEAST} to ${VERSION_MOST}>`,
  )
}

export async function migrationsCheck(databaseUrl: string): Promise<Verdict> {
  const [{ requireMigrated }, { NewerDatabaseError, UnmigratedDatabaseError }] = await Promise.all([
    import('../../../src/db/migrate.ts'),
    import('../../../src/db/migration-errors.ts'),
  ])
  try {
    await requireMigrated({ databaseUrl })
    return ok('all are applied')
  } catch (error) {
    if (error instanceof NewerDatabaseError) return finding(error.message, 'svc migrate status')
    if (error instanceof UnmigratedDatabaseError) return finding(error.message, 'svc migrate up')
    throw error
  }
}

/** Whether the database is of the mode that is configured (src/db/database-mode-sql.ts). */
async function modeCheck(databaseUrl: string, config: DoctorTarget['config']): Promise<Verdict> {
  const [mode, { modeProblem }] = await Promise.all([
    readMode(databaseUrl),
    import('../../../src/db/database-mode-sql.ts'),
  ])
  if (mode === undefined) return skipped('the first start gives it one')
  const problem = config === undefined ? undefined : modeProblem(mode, config.mode)
  return problem === undefined
    ? ok(`this is a database of ${mode} mode`)
    : finding(problem, `export SVC_DATABASE_URL=${DATABASE_URL}`)
}

/** Whether the service may act as its role, which the migrations give its rights to. */
function runtimeCheck({ role, login, is_member: isMember }: Facts): Verdict {
  if (isMember === null) return finding(`there is no role ${role}: the migrations make it`, 'svc migrate up')
  if (isMember) return ok(`${login} is a member of ${role}`)
  return finding(`${login} is not a member of the role ${role}`, grantCommand(`grant ${role} to "${login}"`))
}

/** Whether the login that migrates may change the tables. A service's own login need not. */
async function migratingCheck(own: Facts, migrationUrl: string | undefined): Promise<Verdict> {
  const variable = 'SVC_MIGRATION_DATABASE_URL'
  const facts =
    migrationUrl === undefined ? own : await within(readFacts(migrationUrl, variable), 2_500).catch(reasonOf)
  if (typeof facts === 'string') return finding(facts, `export ${variable}=${DATABASE_URL}`)
  const { login, can_create: canCreate, foreign_owner: owner } = facts
  if (owner === null && canCreate) return ok(`${login} owns the tables`)
  if (migrationUrl === undefined) return skipped(`${login} only runs the service, and ${variable} names no other login`)
  return owner === null
    ? finding(`${login} may not create tables`, grantCommand(`grant create on schema public to "${login}"`))
    : finding(
        `the tables belong to ${owner}, and ${login} is not a member of it`,
        grantCommand(`grant "${owner}" to "${login}"`),
      )
}

/** Tables whose policy does not compare their merchant_id alone, as migrations/0037_merchant_scope.sql has them. */
const OTHER_POLICIES: Readonly<Record<string, string>> = {
  merchants: "'id = {merchant}'",
  mails: "written => 'merchant_id is null or merchant_id = {merchant}'",
}

/** Whether the database keeps a merchant's request to the merchant's rows, whatever its statement asks for (decision 360). */
function policiesCheck({
  open_tables: open,
  citus_tables: taken,
}: Pick<Awaited<ReturnType<typeof readFacts>>, 'open_tables' | 'citus_tables'>): Verdict {
  if (open === null) return skipped('the migrations make them')
  const [first] = open
  if (first !== undefined) {
    const input = [`'${first}'`, OTHER_POLICIES[first]].filter((each) => each !== undefined).join(', ')
    const removed = ['every_merchant', 'one_merchant'].map((name) => `drop policy if exists ${name} on ${first}; `)
    return finding(
      `no policy keeps a merchant to its own rows of ${open.join(', ')}: a dump may have been restored without them`,
      `psql "$SVC_MIGRATION_DATABASE_URL" -c "${removed.join('')}select keep_to_merchant(${input})"`,
    )
  }
  const [spread] = taken
  return spread === undefined
    ? ok("a merchant's request reads the merchant's rows only")
    : finding(
        `Citus has taken ${taken.join(', ')}, and lets a merchant read the rows of all merchants there`,
        `psql "$SVC_MIGRATION_DATABASE_URL" -c "select undistribute_table('${spread}')"`,
      )
}

export function grantCommand(statement: string): string {
  return `psql "$SVC_MIGRATION_DATABASE_URL" -c '${statement}'`
}

export async function keysCheck({ context, databaseUrl }: DoctorTarget): Promise<Verdict> {
  const keys = await keysOf(context).catch((error: unknown) => {
    if (error instanceof CliError && error.code === 'NO_KEY') return undefined
    throw error
  })
  if (keys === undefined) return skipped('there are none here')
  if (databaseUrl === undefined) return skipped('no database to try them on')
  const { listKeys } = await import('../../../src/keys/list-keys.ts')
  const listed = await withDatabase(keys, databaseUrl, (app) => listKeys(app))
  const missing = listed.filter(({ state, values }) => state === 'unknown' && values > 0)
  const [first] = missing
  if (first === undefined)
    return ok(`${listed.reduce((total, { values }) => total + values, 0)} values, and every one opens`)
  const lost = missing.map(({ kid, values }) => `${values} values are sealed under the key ${kid}`).join(', ')
  return finding(`${lost}, which is not here: they can't be read`, addKeyCommand(keys, context.stateDir, first.kid))
}

function addKeyCommand({ source }: Keys, stateDir: string, kid: string): string {
  return source === 'environment'
    ? `export SVC_ENCRYPTION_KEY_PREVIOUS=<the key with the id ${kid}>`
    : `echo '<the key with the id ${kid}>' >> ${keyFile(stateDir)}`
}
