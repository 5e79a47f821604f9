import { z } from 'zod'

/*
 * Which migrations and functions a database has. The statements are run on a plain connection: before the first migration
 * there is no role and no pool.
 */

/** The role that the service acts as (migrations/0001_roles.sql). It must be able to see what is applied. */
export const READER_ROLE = 'svc_runtime'

export const AppliedMigration = z.object({
  kind: z.enum(['migration', 'function']),
  name: z.string(),
  sha256: z.string().nullable(),
  version: z.string().nullable(),
  applied_at: z.string(),
})
export type AppliedMigration = z.infer<typeof AppliedMigration>

export const CREATE_RECORDS = `
  create table if not exists public.schema_migrations (
    name text primary key,
    applied_at timestamptz not null default now()
  );
  alter table public.schema_migrations add column if not exists version text;
  create table if not exists public.schema_functions (
    name text primary key,
    sha256 char(64) not null,
    -- The version of svc that applied it.
    version text not null,
    applied_at timestamptz not null default now()
  )`

const RECORDS_EXIST = `
  to_regclass('public.schema_migrations') is not null as migrations,
  to_regclass('public.schema_functions') is not null as functions`

export const FIND_RECORDS = `select ${RECORDS_EXIST}`

/** First acts as the service's role where this login may: the right to read may be the role's alone. */
export const FIND_RECORDS_AS_READER = `
  select
  (select set_config('role', rolname, false) from pg_roles where rolname = '${READER_ROLE}' and pg_has_role(oid, 'member')),
  ${RECORDS_EXIST}`

/** Databases of before have no version of migrations. */
export const READ_RECORDS = `
  select 'migration' as kind, name, null as sha256, to_jsonb(m) ->> 'version' as version, applied_at
  from public.schema_migrations m
  union all
  select 'function', 'functions/' || name, sha256, version, applied_at from public.schema_functions
  order by applied_at, name`

/** Lets the service see what is applied. Nothing to do where its role does not exist, as with other migrations' folders. */
export const GRANT_READING = `
  do $$
  begin
    if exists (select from pg_roles where rolname = '${READER_ROLE}')
      and not has_table_privilege('${READER_ROLE}', 'public.schema_functions', 'select')
    then
      grant select on public.schema_migrations, public.schema_functions to ${READER_ROLE};
    end if;
  end
  $$`

export const RECORD_MIGRATION = 'insert into public.schema_migrations (name, version) values ($1, $2)'

export const RECORD_FUNCTIONS = `
  insert into public.schema_functions (name, sha256, version)
  select substr(name, length('functions/') + 1), sha256, $3 from unnest($1::text[], $2::text[]) as f (name, sha256)
  on conflict (name) do update
  set sha256 = excluded.sha256, version = excluded.version, applied_at = excluded.applied_at`

/** A function whose file was removed is dropped by a migration; its record goes with it. $1: the names that remain. */
export const FORGET_FUNCTIONS = "delete from public.schema_functions where 'functions/' || name <> all ($1)"
