-- A payment's status as webhooks write it: 'AwaitingAuthorisation' is 'AWAITING_AUTHORISATION' (decision 55).
create or replace function status_text(status payment_status) returns text
language sql immutable strict
as $$ select upper(regexp_replace(status::text, '([a-z])([A-Z])', '\1_\2', 'g')) $$;
