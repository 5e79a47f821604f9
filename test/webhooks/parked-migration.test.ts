import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { makeAdminConnection } from '../../src/db/connection.ts'
import { migrateUp } from '../../src/db/migrate.ts'
import { packageRoot } from '../../src/lib/package-root.ts'
import { emptyDatabase } from '../support/database.ts'
import { brokenInvariants } from '../support/invariants.ts'

const all = join(packageRoot(), 'migrations')

/** The migrations before this one, in a folder of their own. */
function folderBefore(t: { teardown(handler: () => void): unknown }, first: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-migrations-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  for (const name of readdirSync(all)) if (name < first) cpSync(join(all, name), join(folder, name))
  return folder
}

t.test('what waits in a database of before is parked by the migration, and its sequences go on', async (t) => {
  const { url: databaseUrl } = await emptyDatabase(t)
  const note = () => undefined
  await migrateUp({ databaseUrl, folder: folderBefore(t, '0018'), log: note })
  const owner = await makeAdminConnection({ databaseUrl })
  t.teardown(async () => owner.end())
  await owner.query(
    `insert into merchants (id, client_id, legal_name, trading_name, name, kyb_status, fee_percentage, fee_flat, webhook_signing_secret)
     values (gen_random_uuid(), 'shop', 'Shop', 'Shop', 'Shop', 'APPROVED', 0.01, 0, 'sealed')`,
  )
  const rows: [string, string, number, string, string | null][] = [
    ['waits', 'PENDING', 0, 'infinity', null],
    ['failed', 'FAILED', 3, 'infinity', null],
    ['queued', 'PENDING', 0, 'now', null],
    ['dead', 'DEAD', 6, 'infinity', null],
    ['delivered', 'DELIVERED', 1, 'infinity', 'now'],
  ]
  for (const [name, ...values] of rows)
    await owner.query(
      `insert into webhook_deliveries (id, merchant_id, event_id, event_type, payload, status, attempt_count, next_retry_at, delivered_at, sequence)
       select gen_random_uuid(), id, $1, 'payment.settled', '{}', $2::webhook_delivery_status, $3, $4, $5, 32767 from merchants`,
      [name, ...values],
    )
  await migrateUp({ databaseUrl, log: note })
  const parked = await owner.query<{ event_id: string }>(
    'select event_id from webhook_parked p join webhook_deliveries d on d.id = p.delivery_id order by 1',
  )
  t.strictSame(
    parked.rows.map(({ event_id }) => event_id),
    ['failed', 'waits'],
  )
  t.strictSame(
    (await brokenInvariants(owner)).filter((name) => name.startsWith('I7')),
    [],
  )
  await owner.query('update webhook_deliveries set sequence = sequence + 1')
  const { rows: sequences } = await owner.query('select distinct sequence from webhook_deliveries')
  t.strictSame(sequences, [{ sequence: 32_768 }])
})
