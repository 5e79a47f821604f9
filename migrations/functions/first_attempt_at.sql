-- When a new delivery is due: at once, or never while the merchant has no endpoint (decision 38).
create or replace function first_attempt_at(webhook_url text) returns timestamptz
language sql stable
as $$ select case when webhook_url is null then 'infinity'::timestamptz else now() end $$;
