-- The role that the service acts as. It owns nothing, so it can neither switch a trigger off nor alter a table: what
-- the append-only tables promise holds even against our own code. Roles belong to the whole server, so another
-- database of the same server may have made it already, or be making it now.
do $$
begin
  create role svc_runtime nologin;
exception
  when duplicate_object or unique_violation then null;
end
$$;

-- A login that is not a superuser needs the membership to act as the role it has just made.
do $$
begin
  if not pg_has_role(current_user, 'svc_runtime', 'member') then
    execute format('grant svc_runtime to %I', current_user);
  end if;
end
$$;

grant usage on schema public to svc_runtime;
