-- From when on access tokens of a person or client are accepted. A token is valid for 15 minutes after its sign-in ended,
-- so it is compared with this on every request. One row for each holder, however often.
create table token_cutoffs (
  realm_slug text not null,
  -- `person <sub>` or `client <client id>`.
  holder text not null,
  valid_from timestamptz not null,
  primary key (realm_slug, holder)
);

grant select, insert, update on token_cutoffs to svc_runtime;
