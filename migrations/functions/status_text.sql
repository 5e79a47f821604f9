-- A payment's status as webhooks write it: 'AwaitingAuthorisation' is 'AWAITING_AUTHORISATION' (decision 55). Neither strict
-- nor immutable, so that it becomes a part of the statement that calls it.
create or replace function status_text(status payment_status) returns text
language sql stable
as $$ select case status when 'AwaitingAuthorisation' then 'AWAITING_AUTHORISATION' else upper(status::text) end $$;
