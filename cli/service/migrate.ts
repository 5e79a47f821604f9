import type { Command } from 'commander'
import { z } from 'zod'
import type { MigrationState } from '../../src/db/migrate.ts'
import { ChangeOptions, changing } from '../kit/change.ts'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../kit/context.ts'
import { EXIT } from '../base/exit-codes.ts'
import { migrationTarget } from './up/migration-target.ts'
import { explainStart } from './up/explain.ts'
import { withProgress } from '../output/progress.ts'
import { CreateOptions, migrateCreate } from './migrate-create.ts'

export function addMigrate(migrate: Command, runtime: Runtime): void {
  changing(migrate.command('up'), 'say which migrations would be applied, and change nothing')
    .description('apply the migrations that the database does not have yet')
    .addHelpText('after', '\nExamples:\n  SVC_MIGRATION_DATABASE_URL=postgres://... svc migrate up\n')
    .action(action(runtime, ChangeOptions, migrateUp))
  migrate
    .command('status')
    .description('list migrations and functions; exit code 3 while some are pending')
    .addHelpText('after', '\nExamples:\n  svc migrate status\n')
    .action(action(runtime, z.object({}), migrateStatus))
  changing(migrate.command('create'), 'say which file would be written, and write none')
    .description('create a migration: a file with the next number, in a checkout of svc')
    .argument('<name>', 'what it does, in small letters, digits and _')
    .addHelpText('after', '\nExamples:\n  svc migrate create add_payment_notes\n')
    .action(action(runtime, CreateOptions, migrateCreate))
}

async function migrateUp(
  context: Context,
  { options }: CommandInput<Pick<ChangeOptions, 'dryRun'>>,
): Promise<CommandResult> {
  if (options.dryRun) return showPending(context)
  const [target, { migrateUp: apply }] = await Promise.all([
    migrationTarget(context.io.env, context.stateDir),
    import('../../src/db/migrate.ts'),
  ])
  const { databaseUrl } = target
  const { applied } = await withProgress(context, { title: 'Migrating', unit: 'migrations' }, ({ at, note }) => {
    let begun = 0
    const onBegin = (name: string): void => at((begun += 1), name)
    return apply({ databaseUrl, log: note, onBegin }).catch((error: unknown) =>
      Promise.reject(explainStart(error, target)),
    )
  })
  context.print.record({
    item: { applied },
    id: applied.join('\n'),
    lines: [['Applied', listed(applied)]],
  })
  return undefined
}

async function showPending(context: Context): Promise<CommandResult> {
  const pending = (await statesOf(context)).filter(({ state }) => state !== 'applied').map(({ name }) => name)
  context.print.record({
    item: { dry_run: true, pending },
    id: pending.join('\n'),
    lines: [['Would apply', listed(pending)]],
  })
  context.note('Nothing was changed.')
  return undefined
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
  return migrationStatus({ databaseUrl: target.databaseUrl }).catch((error: unknown) =>
    Promise.reject(explainStart(error, target)),
  )
}

async function migrateStatus(context: Context, _input: CommandInput<object>): Promise<CommandResult> {
  const states = await statesOf(context)
  context.print.list({
    items: states.map(({ name, state, appliedAt }) => ({ name, applied_at: appliedAt, state })),
    fields: ['name', 'applied_at', 'state'],
    columns: [
      { title: 'migration', value: (row) => row.name },
      { title: 'applied', value: (row) => (row.state === 'changed' ? 'text changed' : (row.applied_at ?? 'not yet')) },
    ],
    id: (row) => row.name,
    empty: 'There are no migrations.',
  })
  return states.every(({ state }) => state === 'applied') ? undefined : EXIT.assertion
}
