/* On a plain connection: a database that was restored may be anything, and of any version. */

export const IS_OF_SVC = `select 1 where to_regclass('public.schema_migrations') is not null`

export const NEWEST_EVENT = 'select max(created_at)::text as at from payment_events'

export const ANALYZE = 'analyze'
