-- Whether the database is a sandbox's or holds real payments: the mode of its first start, for good. A sandbox has demo
-- logins whose secrets are printed, and balances that no bank has moved (src/db/database-mode-sql.ts).
create table database_mode (
  is_only boolean primary key default true check (is_only),
  mode varchar(7) not null check (mode in ('sandbox', 'live'))
);

grant select, insert on database_mode to svc_runtime;
select keep_to_merchant('database_mode', 'false');
