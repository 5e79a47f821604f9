-- From when on access tokens of a person, client or signing key are accepted. A token is valid for 15 minutes after its
-- sign-in ended, so it is compared with this on every request. One row for each holder, however often; those of a revoked
-- key, whose thief chooses the time of issue, are accepted a hundred years later.
create table token_cutoffs (
  realm_slug text not null,
  -- `person <sub>`, `client <client id>` or `key <kid>`.
  holder text not null,
  valid_from timestamptz not null,
  primary key (realm_slug, holder)
);

grant select, insert, update on token_cutoffs to svc_runtime;
