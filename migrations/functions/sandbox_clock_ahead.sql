-- How far a subject's time has moved since a moment; in total, since '-infinity'.
create or replace function sandbox_clock_ahead(subject uuid, since timestamptz) returns interval
language sql stable
set search_path = public, pg_temp
as $$
  select coalesce(sum(s.moved_by), interval '0') from sandbox_clock_shifts s where s.subject_id = subject and s.made_at > since
$$;
