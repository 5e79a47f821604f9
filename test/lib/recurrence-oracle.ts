import { makeAdminConnection } from '../../src/db/connection.ts'

/** A schedule as the oracle takes it: nothing of it went through the code under test. */
export type OracleSchedule = {
  kind: 'every-day' | 'every-working-day' | 'weeks' | 'months'
  step: number
  day: number
  first: Date
  next: Date | null
  final: Date | null
  /** How many days from the first to look at. */
  horizonDays: number
}

/** A run, and whether its time was skipped or came twice on that day. */
export type Expected = { asked: number; day: string; at: number; skipped: boolean; twice: boolean }

/** Runs of one schedule that are compared, at most. */
export const RUNS_MAX = 40

/**
 * A schedule as a set rather than as a walk: of all days up to the horizon those are kept that fit, and the calendar is
 * PostgreSQL's own, with its own copy of the time zones.
 */
const STATEMENT = `
with asked as (
  select asked.*, (first at time zone 'Europe/London')::date as first_day,
         (first at time zone 'Europe/London')::time as clock,
         (next at time zone 'Europe/London')::date as next_day,
         (final at time zone 'Europe/London')::date as final_day
    from jsonb_to_recordset($1) as asked (n int, kind text, step int, day int, first timestamptz, next timestamptz,
                                          final timestamptz, horizon int)
),
days as (
  select n, date, case kind
           when 'every-day' then true
           when 'every-working-day' then extract(isodow from date) < 6 and not date = any ($2::date[])
           when 'weeks' then extract(isodow from date) = day
           when 'months' then case when day > 0
             then extract(day from date) = least(day, extract(day from month_end)) else date = month_end + 1 + day end
         end as fits
    from asked, generate_series(first_day::timestamp, first_day + horizon, interval '1 day') as series (moment),
         cast(moment as date) as date,
         cast(date_trunc('month', date::timestamp) + interval '1 month - 1 day' as date) as month_end
),
starts as (
  select n, case kind when 'every-working-day' then min(date) filter (where fits) else first_day end as run_1,
         case kind when 'every-working-day' then min(date) filter (where fits and date >= next_day) else next_day end as run_2
    from asked join days using (n) group by n, kind, first_day, next_day
),
anchors as (
  select n, run_1, run_2, min(date) as anchor
    from starts join days using (n) where fits and date >= greatest(run_1, run_2) group by n, run_1, run_2
),
runs as (
  select n, date, row_number() over (partition by n order by date) as ordinal
    from asked join anchors using (n) join days using (n)
   where (date in (run_1, run_2) or fits and date >= anchor and case kind
           when 'weeks' then (date_trunc('week', date::timestamp)::date - date_trunc('week', anchor::timestamp)::date) / 7 % step = 0
           when 'months' then (12 * (extract(year from date) - extract(year from anchor))
                               + extract(month from date) - extract(month from anchor))::int % step = 0
           else true end)
     and date <= coalesce(final_day, date) and date <= '9999-12-31'
)
select n as asked, date::text as day, (extract(epoch from due) * 1000)::float8 as at,
       due at time zone 'Europe/London' <> local as skipped,
       summer at time zone 'Europe/London' = local as twice
  from runs join asked using (n),
       cast(date + clock as timestamp) as local,
       cast(local at time zone 'Europe/London' as timestamptz) as standard,
       cast(standard - interval '1 hour' as timestamptz) as summer,
       cast(case when date = first_day then first
                 when summer at time zone 'Europe/London' = local then summer else standard end as timestamptz) as due
 where ordinal <= ${RUNS_MAX}
 order by n, date`

/** The first runs of many schedules within their horizons, in order, computed in one statement. */
export async function expectedRuns(
  url: string,
  schedules: OracleSchedule[],
  holidays: readonly string[],
): Promise<Expected[]> {
  const client = await makeAdminConnection({ databaseUrl: url, applicationName: 'svc test oracle' })
  try {
    const rows = schedules.map(({ horizonDays, ...rest }, n) => ({ n, horizon: horizonDays, ...rest }))
    const result = await client.query<Expected>(STATEMENT, [JSON.stringify(rows), holidays])
    return result.rows
  } finally {
    await client.end()
  }
}
