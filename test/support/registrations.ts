import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import type { RegisterInput } from '../../src/registrations/register-merchant.ts'
import type { TestService } from './app.ts'

/** The body of a merchant's registration. */
export function registrationBody(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return { company_name: 'Acme Ltd', trading_name: 'Acme', admin_email: 'ada@acme.example', ...changes }
}

/** The same, as the use case takes it. */
export function registrationInput(changes: Partial<RegisterInput> = {}): RegisterInput {
  return {
    company_name: 'Acme Ltd',
    trading_name: 'Acme',
    admin_email: 'ada@acme.example',
    clientAddress: '192.0.2.1',
    ...changes,
  }
}

export function register(service: Pick<TestService, 'call'>, changes: Record<string, unknown> = {}) {
  return service.call('POST', '/api/v1/portal/register', { body: registrationBody(changes) })
}

const TABLES = [
  'idp.realms',
  'idp.clients',
  'idp.users',
  'merchants',
  'merchant_client',
  'team_members',
  'operator_actions',
  'mails',
] as const

/** How many rows a registration has left in each table, its own row aside. */
export async function countLeftovers(owner: pg.Client): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const table of TABLES) {
    const { rows } = await owner.query<{ count: number }>(`select count(*)::int as count from ${table}`)
    counts[table] = rows[0]?.count ?? 0
  }
  return counts
}

export const NOTHING = Object.fromEntries(TABLES.map((table) => [table, 0]))

/** The registration's own row. */
export async function registrationRow(owner: pg.Client, slug = 'acme-ltd') {
  const { rows } = await owner.query('select * from registration where slug = $1', [slug])
  return rows[0]
}

/** Lets every write of this kind to a table fail, where `when` holds. Returns what takes the fault away again. */
export async function breakTable(
  owner: pg.Client,
  { table, on, when = 'true' }: { table: string; on: 'insert' | 'update' | 'insert or update'; when?: string },
): Promise<() => Promise<void>> {
  await owner.query(`
    create or replace function test_boom() returns trigger language plpgsql
    as $$ begin raise exception 'boom: secret of %', tg_table_name; end $$
  `)
  await owner.query(
    `create trigger test_boom before ${on} on ${table} for each row when (${when}) execute function test_boom()`,
  )
  return async () => {
    await owner.query(`drop trigger test_boom on ${table}`)
  }
}

/** The rows of a registration whose process was killed halfway. */
export async function plantHalfMade(
  owner: pg.Client,
  { slug = 'acme-ltd', leaseEndedAgo = '5 minutes' }: { slug?: string; leaseEndedAgo?: string } = {},
): Promise<string> {
  const id = randomUUID()
  await owner.query(
    `insert into registration (id, slug, status, company_name, trading_name, admin_email, locked_until)
     values ($1, $2, 'PROVISIONING', 'Acme Ltd', 'Acme', 'ada@acme.example', now() - $3::interval)`,
    [id, slug, leaseEndedAgo],
  )
  return id
}
