import type { Command } from 'commander'
import { z } from 'zod'
import { action } from '../context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import { migrationTarget } from '../up/migration-target.ts'
import { explainStart } from '../up/explain.ts'

export function addMigrate(program: Command, runtime: Runtime): void {
  const migrate = program.command('migrate').helpCommand(false).description('bring the database up to date')
  migrate
    .command('up')
    .description('apply the migrations that the database does not have yet')
    .addHelpText('after', '\nExamples:\n  SVC_MIGRATION_DATABASE_URL=postgres://... svc migrate up\n')
    .action(action(runtime, z.object({}), migrateUp))
  migrate
    .command('status')
    .description('list the migrations; exit code 3 while some are missing')
    .addHelpText('after', '\nExamples:\n  svc migrate status\n')
    .action(action(runtime, z.object({}), migrateStatus))
}

async function migrateUp(context: Context, _input: CommandInput<object>): Promise<CommandResult> {
  const [target, { migrateUp: apply }] = await Promise.all([
    migrationTarget(context.io.env, context.stateDir),
    import('../../src/db/migrate.ts'),
  ])
  const { applied } = await apply({ databaseUrl: target.databaseUrl, log: context.note }).catch((error: unknown) =>
    Promise.reject(explainStart(error, target)),
  )
  context.print.record({
    item: { applied },
    id: applied.join('\n'),
    lines: [['Applied', applied.length === 0 ? 'nothing: the database is up to date' : applied.join(', ')]],
  })
  return undefined
}

async function migrateStatus(context: Context, _input: CommandInput<object>): Promise<CommandResult> {
  const [target, { migrationStatus }] = await Promise.all([
    migrationTarget(context.io.env, context.stateDir),
    import('../../src/db/migrate.ts'),
  ])
  const states = await migrationStatus({ databaseUrl: target.databaseUrl }).catch((error: unknown) =>
    Promise.reject(explainStart(error, target)),
  )
  context.print.list({
    items: states.map(({ name, appliedAt }) => ({ name, applied_at: appliedAt })),
    fields: ['name', 'applied_at'],
    columns: [
      { title: 'migration', value: (row) => row.name },
      { title: 'applied', value: (row) => row.applied_at ?? 'not yet' },
    ],
    id: (row) => row.name,
    empty: 'There are no migrations.',
  })
  return states.every(({ appliedAt }) => appliedAt !== null) ? undefined : EXIT.assertion
}
