import type { Client } from 'pg'

/** The database of the service, which nothing is written to: one connection for all checks. */
export type Database = {
  url: string
  /** @throws an error in words where it can't be reached */
  connected(): Promise<void>
  /** One statement at a time, as the service's role where the login may. */
  rows(statement: string, values?: readonly string[]): Promise<readonly unknown[]>
  close(): Promise<void>
}

const CLOSING_MS = 500

export function openDatabase(url: string): Database {
  const opening = connect(url)
  let last: Promise<unknown> = opening
  const rows: Database['rows'] = (statement, values = []) => {
    const asked = last
      .catch(() => undefined)
      .then(() => opening)
      .then((client) => client.query(statement, [...values]))
    // Whoever asks is told of a failure; the next statement is asked in any case.
    last = asked
    asked.catch(() => undefined)
    return asked.then((result): unknown[] => result.rows)
  }
  opening.catch(() => undefined)
  return {
    url,
    connected: async () => void (await opening),
    rows,
    close: async () => {
      const late = new Promise<void>((resolve) => setTimeout(resolve, CLOSING_MS).unref())
      const ended = opening.then((client) => client.end()).catch(() => undefined)
      await Promise.race([ended, late])
    },
  }
}

async function connect(databaseUrl: string): Promise<Client> {
  const [{ RUNTIME_ROLE }, { makePgConnection }, { describeDatabaseError }] = await Promise.all([
    import('../../../src/app.ts'),
    import('../../../src/db/connection.ts'),
    import('../../../src/db/describe-error.ts'),
  ])
  try {
    const client = await makePgConnection({ databaseUrl, applicationName: 'svc doctor', onError: () => undefined })
    await client.query(READ_ONLY)
    await client.query(ACT_AS_ROLE, [RUNTIME_ROLE])
    return client
  } catch (cause) {
    throw new Error(describeDatabaseError(cause, databaseUrl), { cause })
  }
}

/** Whatever a check does, it changes nothing. */
const READ_ONLY = 'set default_transaction_read_only = on'

/** The right to read may be the role's alone, so it is acted as where the login may. */
const ACT_AS_ROLE = `
  select set_config('role', rolname, false) from pg_roles where rolname = $1 and pg_has_role(session_user, oid, 'member')`

export const ABOUT = `
  select current_setting('server_version_num')::int4 as version, current_setting('server_version') as version_text,
    (select pg_encoding_to_char(encoding) from pg_database where datname = current_database()) as encoding,
    (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms,
    coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false) as encrypted`

/** Of the role $1, and of the login: null where there is no such role. */
export const MEMBERSHIP = `
  select session_user::text as login,
    (select pg_has_role(session_user, oid, 'member') from pg_roles where rolname = $1) as member`

/** Which of the rights $1 the role $2 lacks; what does not exist asks for none. */
export const MISSING_RIGHTS = `
  select g.kind, g.object, g.privilege, g.columns
  from json_to_recordset($1::json) as g (kind text, object text, privilege text, columns text)
  where not coalesce(
    case g.kind
      when 'table' then case when g.columns is null
        then has_table_privilege($2::name, to_regclass(g.object)::oid, g.privilege)
        else (
          select has_column_privilege($2::name, a.attrelid, a.attnum, g.privilege)
          from pg_attribute a
          where a.attrelid = to_regclass(g.object)::oid and a.attname = g.columns and not a.attisdropped
        )
      end
      when 'sequence' then has_sequence_privilege($2::name, to_regclass(g.object)::oid, g.privilege)
      when 'function' then has_function_privilege($2::name, to_regprocedure(g.object)::oid, g.privilege)
      when 'schema' then has_schema_privilege($2::name, to_regnamespace(g.object)::oid, g.privilege)
    end,
    true
  )`

/** Whether the login may change what the migrations made: the owner of the first table that it may not. */
export const MIGRATING = `
  select session_user::text as login, has_schema_privilege(session_user, 'public', 'create') as creates,
    (
      select pg_get_userbyid(c.relowner)::text
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
      where n.nspname in ('public', 'idp', 'mock_bank') and c.relkind in ('r', 'S')
        and not pg_has_role(session_user, c.relowner, 'member')
      order by c.relname
      limit 1
    ) as foreign_owner`

/**
 * What has been due for the longest time, and no worker has taken. Deliveries of a merchant that one is busy with may
 * wait their turn; a later one of a payment waits for the first attempt of an earlier.
 */
export const OLDEST_DUE = `
  select what, (extract(epoch from now() - since) * 1000)::float8 as lag_ms
  from (
    (
      select 'a payment to settle' as what, min(settle_at) as since
      from payment_intents
      where status = 'Authorised' and settle_at <= now() and (locked_until is null or locked_until < now())
    )
    union all
    (
      select 'a webhook delivery', min(q.due_at)
      from webhook_queue q
      where q.due_at <= now() and (q.locked_until is null or q.locked_until <= now())
        and not exists (select from webhook_queue l where l.merchant_id = q.merchant_id and l.locked_until > now())
    )
    union all
    (
      select 'a payment that was not authorised in time', min(c.expires_at)
      from payment_consents c
      join payment_intents p on p.merchant_id = c.merchant_id and p.consent_id = c.id
      where c.status = 'AWAITING_AUTHORISATION' and c.expires_at <= now()
        and p.status in ('Initiated', 'AwaitingAuthorisation')
    )
    union all
    (select 'a link for a payer', min(created_at) from payer_link_requests where handled_at is null)
  ) due
  where since is not null
  order by since
  limit 1`

/** The outbox of mail: what was given up in the last week, and what has waited for minutes. */
export const MAILS = `
  select (count(*) filter (where status = 'DEAD' and created_at > now() - interval '7 days'))::int4 as dead,
    (count(*) filter (where status = 'PENDING' and due_at < now() - interval '5 minutes'))::int4 as overdue,
    (count(*) filter (where status = 'PENDING' and attempt_count > 0))::int4 as failing,
    (array_agg(last_error order by created_at desc) filter (where status in ('DEAD', 'PENDING') and last_error is not null))[1] as last_error
  from mails`

/** Merchants by how many of their deliveries are DEAD, and whether the last answer of their endpoint was 410. */
export const DEAD_BY_MERCHANT = `
  select coalesce(m.realm_slug, m.id::text) as merchant, d.dead::int4 as dead, m.webhook_url is not null as sends,
    coalesce(f.outcome = 'http_410' and f.started_at >= m.webhook_url_set_at and not exists (
      select from webhook_deliveries later where later.merchant_id = m.id and later.delivered_at > f.started_at
    ), false) as gone
  from (
    select merchant_id, count(*) as dead
    from webhook_deliveries
    where last_error is not null and status = 'DEAD'
    group by merchant_id
  ) d
  join merchants m on m.id = d.merchant_id
  left join lateral (
    select a.outcome, a.started_at from webhook_attempts a
    where a.merchant_id = m.id and a.outcome <> 'delivered'
    order by a.id desc
    limit 1
  ) f on true
  order by d.dead desc, m.id
  limit 100`
