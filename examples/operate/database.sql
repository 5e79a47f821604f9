-- PostgreSQL's image runs this once, as superuser, when it makes the database: the login that migrates and owns the tables,
-- and that of the service, which owns none. Neither may be the first superuser of the server, which no rule binds.
\set owner_password `cat /run/secrets/owner_password`
\set service_password `cat /run/secrets/service_password`

create role svc_runtime;
create role svc_merchant in role svc_runtime;
create role svc_owner login password :'owner_password' in role svc_merchant, svc_runtime;
create role svc_api login password :'service_password' in role svc_merchant;
alter database :"DBNAME" owner to svc_owner;
