import { resolve } from 'node:path'
import type { ExportPage } from '../../src/audit/export-audit.ts'
import type { DumpFormat } from '../../src/db/restore-dump.ts'
import { AUDIT_CHAINS } from '../../src/lib/audit-chain.ts'
import type { Violation } from '../../src/verify/verify-database.ts'
import { EXPORT_LIMIT_MAX } from '../../src/wire/audit.ts'
import { reportLine, verifyAll } from '../audit/verify.ts'
import type { SealedReport } from '../audit/verify.ts'
import { quoted } from '../base/command-hints.ts'
import { isSetIn, variableIn } from '../base/environment-variables.ts'
import { CliError, usageError } from '../base/errors.ts'
import { EXIT, exitOfSignal } from '../base/exit-codes.ts'
import { onStopSignals } from '../base/signals.ts'
import { command, argument } from '../kit/command.ts'
import type { Context } from '../kit/context.ts'
import { withProgress } from '../output/progress.ts'
import { tableBelow } from '../output/table.ts'
import { hasKeyIn } from './up/key-file.ts'
import { explained } from './up/explain.ts'
import { VIOLATION_COLUMNS, noteViolations } from './verify.ts'

/** `svc backup verify`: only a dump that was restored once is known to be one. */
const verify = command({
  command: 'backup verify',
  summary: 'Verify a dump by restoring it into a scratch database',
  details: `Restores a dump of pg_dump (custom, directory, tar or plain) into an empty database, verifies its audit trail as svc audit verify
does and its invariants and books as svc verify does, and drops it, whatever the result. A plain dump is run as a script: verify
only dumps that you made, and without -C. The database is made on the PostgreSQL of
--server, whose login may create databases, else on one that is started for it and removed with it. A dump of an earlier
version is migrated there first. With SVC_ENCRYPTION_KEY set, it also checks that the key opens what the dump has sealed.

It needs the client tools of PostgreSQL (pg_restore, psql), and as much room as the database; it reads nothing of the
service that runs; with --record it writes there that, and when, a dump was verified, or could not be restored. Exit code 0: restored and whole. Exit code 1: it can't be restored. Exit code 3: restored, and not whole.`,
  examples: [
    'svc backup verify svc.dump',
    'svc backup verify svc.dump --record',
    'svc backup verify /backups/newest.sql --server postgres://ops@127.0.0.1/postgres',
    "svc backup verify svc.dump --json -q 'is_whole'",
  ],
  flags: {
    record: { summary: 'Record the result in the database of SVC_DATABASE_URL, for svc doctor --live' },
    dump: argument('dump', 'The file or folder that pg_dump wrote'),
    server: { value: 'url', summary: 'PostgreSQL to restore it on; a database is created there and dropped' },
  },
  async run(context, { dump, server, record }) {
    if (server !== undefined) checkServer(server)
    if (record && !isSetIn(context.io.env, 'SVC_DATABASE_URL'))
      throw usageError('--record: SVC_DATABASE_URL is not set; it names the database that records the result')
    const path = resolve(context.io.cwd, dump)
    const [{ formatOfDump }, { withScratchDatabase }, { describeDatabaseError }] = await Promise.all([
      import('../../src/db/restore-dump.ts'),
      import('../../src/db/scratch-database.ts'),
      import('../../src/db/describe-error.ts'),
    ])
    // A wrong address is reported now, not after the restoring.
    if (record) await inRecord(context, readRecord)
    const controller = new AbortController()
    const release = onStopSignals((signal) => controller.abort(signal))
    try {
      const found = await explained(
        async () => {
          const format = await formatOfDump(path)
          return withScratchDatabase(server, (databaseUrl) =>
            examine(context, { path, format, databaseUrl, signal: controller.signal }),
          )
        },
        server === undefined ? {} : { describe: (error) => describeDatabaseError(error, server, '--server') },
      )
      const isWhole = print(context, dump, found)
      if (record) await recordResult(context, { isWhole, newestEventAt: found.newestAt })
      return isWhole ? undefined : EXIT.assertion
    } catch (error) {
      if (!controller.signal.aborted) {
        if (record && isOfDump(error)) await recordResult(context, { isWhole: false, newestEventAt: null })
        throw server === undefined ? namingServer(error, dump) : error
      }
      throw new CliError('INTERRUPTED', 'the scratch database was dropped; nothing was verified', {
        exit: exitOfSignal(controller.signal.reason),
        cause: error,
      })
    } finally {
      release()
    }
  },
})

/** What a service without PostgreSQL is advised to do is of no use here. */
function namingServer(error: unknown, dump: string): unknown {
  if (!(error instanceof Error) || error.name !== 'EmbeddedUnavailableError' || !('problem' in error)) return error
  return new CliError('NO_SCRATCH_SERVER', String(error.problem), {
    hint: `on a PostgreSQL of your own, with a login that may create databases: svc backup verify ${quoted(dump)} --server postgres://<user>@<host>:5432/postgres`,
    cause: error,
  })
}

/** Parameters by which the tools of PostgreSQL would work in another database than the scratch one, or show a password. */
const NOT_IN_ADDRESS = ['dbname', 'service', 'servicefile', 'host', 'hostaddr', 'port', 'user', 'password']

/** @throws {CliError} of usage */
function checkServer(server: string): void {
  if (!/^postgres(ql)?:\/\//.test(server) || !URL.canParse(server))
    throw usageError('--server: not an address of PostgreSQL: postgres://<user>:<password>@<host>:5432/postgres')
  const { searchParams } = new URL(server)
  const [found] = NOT_IN_ADDRESS.filter((name) => searchParams.has(name))
  if (found !== undefined)
    throw usageError(`--server: ${found} is before the question mark: postgres://<user>@<host>:5432/postgres`)
}

/** In a dump that has lain for a while everything due is late. */
const OLD_AGE_MS = 100 * 365 * 86_400_000

type Restored = { path: string; format: DumpFormat; databaseUrl: string; signal: AbortSignal }

type Found = {
  format: DumpFormat
  seconds: number
  migrated: readonly string[]
  newestAt: string | null
  chains: readonly SealedReport[]
  violations: readonly Violation[]
  /** Values that are sealed, and those among them that no known key opens; null without a key to try. */
  sealed: { values: number; unknown: number } | null
}

async function examine(context: Context, { path, format, databaseUrl, signal }: Restored): Promise<Found> {
  const [{ restoreDump }, { makePool }, restored] = await Promise.all([
    import('../../src/db/restore-dump.ts'),
    import('../../src/db/pool.ts'),
    import('../../src/db/restored-dump.ts'),
  ])
  const startedAt = performance.now()
  await withProgress(context, { title: 'Restoring', unit: '' }, () =>
    restoreDump({ path, databaseUrl, format, env: context.io.env }, signal),
  )
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10
  const { migrated, newestAt } = await restored.prepareRestored(databaseUrl)
  // As the owner, because the rights of a dump are those of another server.
  const pool = await makePool({ databaseUrl, applicationName: 'svc backup verify', size: 1 })
  try {
    const chains = await verifyChains(context, pool)
    const { verifyDatabase } = await import('../../src/verify/verify-database.ts')
    const violations = await verifyDatabase({ pool }, { signal, graceMs: OLD_AGE_MS })
    return {
      format,
      seconds,
      migrated,
      newestAt,
      chains,
      violations,
      sealed: await countSealed(context, pool),
    }
  } finally {
    await pool.end()
  }
}

type Pool = Awaited<ReturnType<(typeof import('../../src/db/pool.ts'))['makePool']>>

async function verifyChains(context: Context, pool: Pool): Promise<SealedReport[]> {
  const { exportSettled } = await import('../../src/audit/export-audit.ts')
  return withProgress(context, { title: 'Verifying', unit: 'rows' }, ({ at }) =>
    verifyAll(
      async function* rows(chain) {
        let cursor: string | null = null
        do {
          const query = { chain, limit: EXPORT_LIMIT_MAX, ...(cursor === null ? {} : { cursor }) }
          // Nothing is written to it any more, so that its last rows count too.
          const page: ExportPage = await exportSettled(pool, query, 0)
          yield page.rows
          cursor = page.nextCursor
        } while (cursor !== null)
      },
      { chains: AUDIT_CHAINS, expected: new Map(), onPage: () => undefined, at },
    ),
  )
}

async function countSealed({ io }: Context, pool: Pool): Promise<Found['sealed']> {
  if (!hasKeyIn(io.env)) return null
  const [{ readKeys }, { makeSealer }, { listKeys }] = await Promise.all([
    import('../../src/config/read.ts'),
    import('../../src/lib/seal.ts'),
    import('../../src/keys/list-keys.ts'),
  ])
  const { encryptionKey, encryptionKeysPrevious } = await explained(() => readKeys(io.env))
  const listed = await listKeys({ pool, sealer: makeSealer(encryptionKey, encryptionKeysPrevious) })
  const sum = (keys: typeof listed): number => keys.reduce((total, { values }) => total + values, 0)
  return { values: sum(listed), unknown: sum(listed.filter(({ state }) => state === 'unknown')) }
}

/** @returns whether it is whole */
function print(context: Context, dump: string, found: Found): boolean {
  const { chains, violations, sealed, migrated, newestAt, format, seconds } = found
  const broken = chains.filter((chain) => chain.broken !== null)
  const isWhole = broken.length === 0 && violations.length === 0 && (sealed?.unknown ?? 0) === 0
  context.print.record(
    {
      dump,
      format,
      is_whole: isWhole,
      restored_seconds: seconds,
      migrated,
      newest_event_at: newestAt,
      chains: chains.map(({ chain, rows, broken: problem }) => ({ chain, rows, broken: problem })),
      violations,
      sealed_values: sealed?.values ?? null,
      sealed_under_unknown_keys: sealed?.unknown ?? null,
    },
    [
      ['Restored', `${dump} (${format}) in ${seconds} s`],
      ['Newest event', newestAt ?? 'none'],
      ['Migrated', migrated.length === 0 ? '' : `${migrated.length} migrations and functions of this version`],
      ...chains.map((chain) => reportLine(chain)),
      ['Invariants and books', violations.length === 0 ? 'all hold' : `${violations.length} BROKEN`],
      ['Secrets', sealedText(sealed)],
    ],
    { id: String(isWhole), after: tableBelow(context.print, violations, VIOLATION_COLUMNS) },
  )
  noteViolations(context, violations)
  context.note('The scratch database was dropped.')
  return isWhole
}

/** Work in the service's own database, which nothing else of this command reads. */
async function inRecord({ io }: Context, work: (pool: Pool) => Promise<unknown>): Promise<void> {
  const databaseUrl = variableIn(io.env, 'SVC_DATABASE_URL') ?? ''
  const [{ makePool }, { RUNTIME_ROLE }, { describeDatabaseError }] = await Promise.all([
    import('../../src/db/pool.ts'),
    import('../../src/app.ts'),
    import('../../src/db/describe-error.ts'),
  ])
  const open = async (): Promise<void> => {
    const pool = await makePool({ databaseUrl, role: RUNTIME_ROLE, applicationName: 'svc backup verify', size: 1 })
    await work(pool).finally(() => pool.end())
  }
  await explained(open, { describe: (error) => describeDatabaseError(error, databaseUrl) })
}

async function readRecord(pool: Pool): Promise<void> {
  const { findBackupVerification } = await import('../../src/verify/backup-verification-sql.ts')
  await findBackupVerification(pool)
}

async function recordResult(
  context: Context,
  result: { isWhole: boolean; newestEventAt: string | null },
): Promise<void> {
  const { putBackupVerification } = await import('../../src/verify/backup-verification-sql.ts')
  await inRecord(context, (pool) => putBackupVerification(pool, result))
}

/** Whether it is the dump that is wrong, and not its name or a missing tool. */
function isOfDump(error: unknown): boolean {
  const { cause } = error instanceof CliError && error.code === 'DUMP_NOT_RESTORED' ? error : {}
  return cause instanceof Error && 'isOfDump' in cause && cause.isOfDump === true
}

function sealedText(sealed: Found['sealed']): string {
  if (sealed === null) return 'not tried: SVC_ENCRYPTION_KEY is not set'
  if (sealed.unknown === 0) return `${sealed.values} values, and the key opens every one`
  return `${sealed.unknown} of ${sealed.values} values are sealed under ANOTHER KEY`
}

export const BACKUP = [{ command: 'backup' }, verify]
