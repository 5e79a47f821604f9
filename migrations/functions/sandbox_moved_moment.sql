-- Where a past moment is now: earlier by all the time that has passed since for its subject.
-- needs: functions/sandbox_clock_ahead
create or replace function sandbox_moved_moment(subject uuid, moment timestamptz) returns timestamptz
language sql stable
set search_path = public, pg_temp
as $$
  select moment - sandbox_clock_ahead(subject, moment)
$$;
