import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { MigrationState } from '../../src/db/migrate.ts'
import { variableIn } from '../base/environment-variables.ts'
import { CliError, usageError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { runningState } from '../client/find-service.ts'
import { command, argument } from '../kit/command.ts'
import type { CommandResult, Context } from '../kit/context.ts'
import { withProgress } from '../output/progress.ts'
import { explained } from './up/explain.ts'

const NAME = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/
const NAME_MAX = 60
const ENDING = '.sql'

/** `svc migrate create`: an empty migration with the next number, in the checkout that the command runs in. */
const create = command({
  command: 'migrate create',
  summary: 'Create a migration file in a checkout of svc',
  examples: ['svc migrate create add_payment_notes'],
  flags: {
    name: argument('name', 'Its name, in lower-case letters, digits and _'),
    dryRun: { summary: 'Show which file would be written, and write none' },
  },
  async run(context, input) {
    const name = input.name
    if (!NAME.test(name) || name.length > NAME_MAX)
      throw usageError(
        `"${name}" is not a valid name of a migration: use lower-case letters, digits and _`,
        'svc migrate create add_payment_notes',
      )
    const folder = migrationsOf(context.io.cwd)
    const taken = readdirSync(folder).filter((file) => /^\d{4}_\w+\.sql$/.test(file))
    if (taken.some((file) => file.slice(5) === name + ENDING)) throw usageError(`there is a migration ${name} already`)
    const number = Math.max(0, ...taken.map((file) => Number.parseInt(file, 10))) + 1
    const file = join(folder, `${String(number).padStart(4, '0')}_${name}${ENDING}`)
    // Two who begin one at the same moment get no common number unseen: what is there is not replaced.
    if (!input.dryRun)
      writeFileSync(file, `-- ${name.replaceAll('_', ' ')}: why it is there, and what reads it.\n`, { flag: 'wx' })
    const shown = relative(context.io.cwd, file)
    context.print.record({ dry_run: input.dryRun, file }, [[input.dryRun ? 'Would write' : 'Written', shown]], {
      id: file,
    })
    context.note(
      input.dryRun
        ? 'Nothing was written.'
        : 'To apply it: svc migrate up. A migration that others have applied is never edited.',
    )
  },
})

/** The folder of migrations of the checkout above this directory; an installed package is not to be edited. */
function migrationsOf(from: string): string {
  const migrations = join(from, 'migrations')
  if (existsSync(join(from, 'src', 'db', 'migrate.ts')) && existsSync(migrations)) return migrations
  const parent = dirname(from)
  if (parent !== from) return migrationsOf(parent)
  throw new CliError('NO_CHECKOUT', 'no source of svc here: migrations are written in a checkout', {
    hint: 'the same command in a clone of its repository',
  })
}

const up = command({
  command: 'migrate up',
  summary: 'Apply pending migrations',
  examples: ['SVC_MIGRATION_DATABASE_URL=postgres://... svc migrate up', 'svc migrate up --restored'],
  flags: {
    restored: { summary: 'After a restore or a failover: new events follow all that were ever read' },
    dryRun: { summary: 'Show which migrations would be applied, and change nothing' },
  },
  async run(context, input) {
    if (input.dryRun) return showPending(context)
    const [target, { migrateUp: apply }] = await Promise.all([
      migrationTarget(context.io.env, context.stateDir),
      import('../../src/db/migrate.ts'),
    ])
    const { databaseUrl } = target
    const { applied } = await withProgress(context, { title: 'Migrating', unit: 'migrations' }, ({ at, note }) => {
      let begun = 0
      const onBegin = (name: string): void => at((begun += 1), name)
      return explained(() => apply({ databaseUrl, isRestored: input.restored, log: note, onBegin }), target)
    })
    context.print.record({ applied }, [['Applied', listed(applied)]], { id: applied.join('\n') })
  },
})

async function showPending(context: Context): Promise<CommandResult> {
  const pending = (await statesOf(context)).filter(({ state }) => state !== 'applied').map(({ name }) => name)
  context.print.record({ dry_run: true, pending }, [['Would apply', listed(pending)]], { id: pending.join('\n') })
  context.note('Nothing was changed.')
}

const FUNCTIONS_SHOWN_MAX = 5

/** Migrations by name, and functions too where they are few: a new database gets all of them. */
function listed(names: readonly string[]): string {
  if (names.length === 0) return 'nothing: the database is up to date'
  const functions = names.filter((name) => name.startsWith('functions/'))
  if (functions.length <= FUNCTIONS_SHOWN_MAX) return names.join(', ')
  return [...names.filter((name) => !functions.includes(name)), `${functions.length} functions`].join(', ')
}

async function statesOf(context: Context): Promise<MigrationState[]> {
  const [target, { migrationStatus }] = await Promise.all([
    migrationTarget(context.io.env, context.stateDir),
    import('../../src/db/migrate.ts'),
  ])
  return explained(() => migrationStatus({ databaseUrl: target.databaseUrl }), target)
}

const status = command({
  command: 'migrate status',
  summary: 'List migrations and functions with their state',
  details: 'Exit code 3 while migrations are pending.',
  examples: ['svc migrate status'],
  flags: {},
  async run(context) {
    const states = await statesOf(context)
    context.print.list(
      states.map(({ name, state, appliedAt }) => ({ name, applied_at: appliedAt, state })),
      {
        fields: ['name', 'applied_at', 'state'],
        columns: [
          { title: 'migration', value: (row) => row.name },
          {
            title: 'applied',
            value: (row) => (row.state === 'changed' ? 'text changed' : (row.applied_at ?? 'not yet')),
          },
        ],
        empty: 'There are no migrations.',
      },
    )
    return states.every(({ state }) => state === 'applied') ? undefined : EXIT.assertion
  },
})

type MigrationTarget = { databaseUrl: string; describe(error: unknown): string }

/**
 * The database to migrate. Only its address is asked of the environment, so that a migration job needs none of the
 * service's secrets; without one it is the database of the service that runs here.
 */
async function migrationTarget(env: NodeJS.ProcessEnv, stateDir: string): Promise<MigrationTarget> {
  const { describeDatabaseError } = await import('../../src/db/describe-error.ts')
  const own = variableIn(env, 'SVC_MIGRATION_DATABASE_URL')
  const databaseUrl = own ?? variableIn(env, 'SVC_DATABASE_URL') ?? runningState(stateDir)?.database_url
  if (databaseUrl === undefined) {
    throw new CliError('CONFIGURATION', 'no database is named', {
      hint: 'SVC_MIGRATION_DATABASE_URL or SVC_DATABASE_URL in the environment, or svc up, which migrates by itself',
    })
  }
  const variable = own === undefined ? undefined : 'SVC_MIGRATION_DATABASE_URL'
  return { databaseUrl, describe: (error) => describeDatabaseError(error, databaseUrl, variable) }
}

export const MIGRATE = [{ command: 'migrate' }, up, status, create]
