-- The role that the service acts as. It owns nothing, so it can neither switch off a trigger nor alter a table: the
-- rules of the append-only tables hold even against our own code. Roles belong to the whole server, so another database
-- of the same server may have created this one already, or be creating it now; where an administrator has, this login
-- needs no right to create roles.
do $$
begin
  if not exists (select from pg_roles where rolname = 'svc_runtime') then
    create role svc_runtime nologin;
  end if;
exception
  when duplicate_object or unique_violation then null;
end
$$;

-- A login that is not a superuser needs the membership to act as the role it has just created.
do $$
begin
  if not pg_has_role(current_user, 'svc_runtime', 'member') then
    execute format('grant svc_runtime to %I', current_user);
  end if;
exception
  -- Only who may administer the role can grant it; svc doctor names the logins that lack it.
  when insufficient_privilege then null;
end
$$;

grant usage on schema public to svc_runtime;
