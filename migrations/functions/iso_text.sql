-- A moment as RFC 3339 in UTC with milliseconds, as it is in every webhook and response.
create or replace function iso_text(at timestamptz) returns text
language sql stable strict
as $$ select to_char(at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$;
