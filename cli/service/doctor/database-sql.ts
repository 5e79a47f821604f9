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
  /** Tables of merchants without the policy that keeps a request to its merchant (decision 360); null before its migration. */
  open_tables: z.array(z.string()).nullable(),
  has_citus: z.boolean(),
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
    case when to_regproc('keep_to_merchant') is not null then array(
      select c.relname::text
      from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
        -- A customer of the bank may be a merchant.
        and c.relname <> 'customers' and (c.relname = 'merchants' or exists (
          select from pg_attribute a where a.attrelid = c.oid and a.attname = 'merchant_id' and not a.attisdropped
        ))
        and not (c.relrowsecurity and exists (
          select from pg_policy p where p.polrelid = c.oid and p.polname = 'one_merchant' and not p.polpermissive
        ))
      order by c.relname
    ) end as open_tables,
    to_regclass('pg_dist_partition') is not null as has_citus,
    (
      select count(*)::int4 from pg_stat_activity
      where application_name = 'svc worker' and datname = current_database()
    ) as worker_count`

/** Citus repeats a table's policies on its nodes as permissive ones. The schema of banks' records has none. */
const SPREAD_BY_CITUS = `
  select c.relname::text as name
  from pg_dist_partition p
  join pg_class c on c.oid = p.logicalrelid
  where c.relnamespace = 'public'::regnamespace
  order by c.relname`

/** Its `citus_tables` are those that Citus has taken. @throws an error in words where the database can't be reached */
export async function readFacts(
  databaseUrl: string,
  variable?: string,
): Promise<Facts & { aheadMs: number; citus_tables: string[] }> {
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
    const aheadMs = facts.now_ms - (before + Date.now()) / 2
    const taken = facts.has_citus ? (await client.query<{ name: string }>(SPREAD_BY_CITUS)).rows : []
    return { ...facts, aheadMs, citus_tables: taken.map(({ name }) => name) }
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
