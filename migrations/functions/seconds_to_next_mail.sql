-- The seconds until fewer than `per_hour` mails of a kind were sent to a recipient within an hour, in one realm or, without
-- one, in all of them. With its owner's rights: a merchant's request sees the mails of that merchant only, and many
-- merchants together could send any number to the address of a stranger. It says nothing else of other merchants' mails.
-- A transaction that began later may have queued before this one: its mail is younger than `now()`, and no wait is longer
-- than an hour.
create or replace function seconds_to_next_mail(kind_of text, hash_of text, realm_of text, per_hour integer) returns integer
language sql
stable
security definer
set search_path = public, pg_temp
as $$
  select case when count(*) < per_hour then 0
    else least(3600, greatest(1, ceil(extract(epoch from min(latest.created_at) + interval '1 hour' - now()))))::integer
  end
  from (
    select m.created_at
    from mails m
    where m.recipient_hash = hash_of::char(64) and m.kind = kind_of and m.created_at > now() - interval '1 hour'
      and (realm_of is null or m.realm = realm_of)
    order by m.created_at desc
    limit per_hour
  ) latest
$$;

revoke execute on function seconds_to_next_mail(text, text, text, integer) from public;
grant execute on function seconds_to_next_mail(text, text, text, integer) to svc_runtime;
