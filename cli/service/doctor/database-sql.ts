import type { Client } from 'pg'
import { z } from 'zod'

const Facts = z.object({
  /** As server_version_num has it: 180004. */
  version: z.int(),
  version_text: z.string(),
  now_ms: z.number(),
  role: z.string(),
  login: z.string(),
  /** Null where there is no such role. */
  is_member: z.boolean().nullable(),
  can_create: z.boolean(),
  /** Who owns the first table that the login may not change. */
  foreign_owner: z.string().nullable(),
  /** A superuser, or a role that no policy binds. */
  is_unbound: z.boolean(),
  /** The superuser that the server was made with. */
  is_first: z.boolean(),
  owns_tables: z.boolean(),
  /** Connections of svc worker. */
  worker_count: z.int(),
})
export type Facts = z.infer<typeof Facts>

const FACTS = `
  select current_setting('server_version_num')::int4 as version, current_setting('server_version') as version_text,
    (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms, $1::text as role, session_user::text as login,
    (select pg_has_role(session_user, oid, 'member') from pg_roles where rolname = $1) as is_member,
    has_schema_privilege(session_user, 'public', 'create') as can_create,
    (
      select pg_get_userbyid(c.relowner)::text
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
      where n.nspname in ('public', 'idp', 'mock_bank') and c.relkind in ('r', 'S')
        and not pg_has_role(session_user, c.relowner, 'member')
      order by c.relname
      limit 1
    ) as foreign_owner,
    (select rolsuper or rolbypassrls from pg_roles where rolname = session_user) as is_unbound,
    (select oid = 10 from pg_roles where rolname = session_user) as is_first,
    exists (
      select from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and pg_has_role(session_user, c.relowner, 'member')
    ) as owns_tables,
    (
      select count(*)::int4 from pg_stat_activity
      where application_name = 'svc worker' and datname = current_database()
    ) as worker_count`

/** @throws an error in words where the database can't be reached */
export async function readFacts(databaseUrl: string, variable?: string): Promise<Facts & { aheadMs: number }> {
  const [{ MERCHANT_ROLE }, { makePgConnection }, { describeDatabaseError }] = await Promise.all([
    import('../../../src/db/scoped-query.ts'),
    import('../../../src/db/connection.ts'),
    import('../../../src/db/describe-error.ts'),
  ])
  let client: Client | undefined
  try {
    client = await makePgConnection({ databaseUrl, applicationName: 'svc doctor', onError: () => undefined })
    const before = Date.now()
    // Its members are members of svc_runtime as well.
    const { rows } = await client.query(FACTS, [MERCHANT_ROLE])
    const facts = Facts.parse(rows[0])
    return { ...facts, aheadMs: facts.now_ms - (before + Date.now()) / 2 }
  } catch (cause) {
    throw new Error(describeDatabaseError(cause, databaseUrl, variable), { cause })
  } finally {
    await client?.end()
  }
}

/** The mode of the database's first start; undefined before that. @throws where its login may not read it, or it is not migrated */
export async function readMode(databaseUrl: string): Promise<string | undefined> {
  const [{ RUNTIME_ROLE }, { makePgConnection }] = await Promise.all([
    import('../../../src/app.ts'),
    import('../../../src/db/connection.ts'),
  ])
  const client = await makePgConnection({ databaseUrl, applicationName: 'svc doctor', onError: () => undefined })
  try {
    await client.query(`set role ${RUNTIME_ROLE}`)
    const { rows } = await client.query<{ mode: string }>('select mode from database_mode')
    return rows[0]?.mode
  } finally {
    await client.end()
  }
}
