-- What is added to a transaction's id in the event feed. Ids count from the beginning on a server that a dump is restored
-- to, so new events would come before the old ones, and readers never see them (functions/continue_feed.sql).
create table feed_offset (
  is_only boolean primary key default true check (is_only),
  added bigint not null default 0 check (added >= 0)
);
insert into feed_offset default values;

grant select on feed_offset to svc_runtime;
