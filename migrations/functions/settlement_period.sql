-- The period of a merchant's settlements that has a moment: from midnight in London to midnight, and weeks from Monday. One
-- that is closed by hand has no end.
create or replace function settlement_period(schedule text, moment timestamptz)
returns table (starts_at timestamptz, ends_at timestamptz)
language sql immutable
as $$
  select starts_on at time zone 'Europe/London',
    (starts_on + case schedule when 'DAILY' then interval '1 day' when 'WEEKLY' then interval '7 days' end)
      at time zone 'Europe/London'
  from date_trunc(case schedule when 'WEEKLY' then 'week' else 'day' end, moment at time zone 'Europe/London') starts_on
$$;
