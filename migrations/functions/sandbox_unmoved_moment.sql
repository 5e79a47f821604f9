-- The reverse: the earliest real moment that is at `moment` or later now. Everything created from then on counts as
-- created since `moment`. Between two shifts all moments have moved alike, so each such stretch is examined.
create or replace function sandbox_unmoved_moment(subject uuid, moment timestamptz) returns timestamptz
language sql stable
set search_path = public, pg_temp
as $$
  select coalesce(
    (
      select min(greatest(moment + stretch.ahead, stretch.begins_at))
      from (
        select s.made_at as ends_at, lag(s.made_at, 1, '-infinity') over (order by s.made_at) as begins_at,
          sum(s.moved_by) over (order by s.made_at desc) as ahead
        from sandbox_clock_shifts s
        where s.subject_id = subject
      ) stretch
      where greatest(moment + stretch.ahead, stretch.begins_at) < stretch.ends_at
    ),
    greatest(moment, (select max(s.made_at) from sandbox_clock_shifts s where s.subject_id = subject))
  )
$$;
