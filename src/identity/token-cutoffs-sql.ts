import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'

/** Whose tokens: a person by the `sub` of its tokens, or a client. */
export type TokenHolder = { subject: string } | { clientId: string }

/** How far a process's clock may be ahead of the database's before it is wrong. */
const AHEAD = sql.fragment`interval '1 minute'`

/**
 * Rejects every access token that the holder was issued until now (migrations/0005_token_cutoffs.sql). The time is that
 * of the process, as in the tokens, unless its clock is wrong: the holder could not sign in until that time had come.
 */
export async function endTokens(tx: CommonQueryMethods, realm: string, holder: TokenHolder): Promise<void> {
  const name = 'subject' in holder ? personName(holder.subject) : clientName(holder.clientId)
  await tx.query(sql.prepared('end_tokens', z.object({}))`
    insert into token_cutoffs (realm_slug, holder, valid_from)
    values (
      ${realm}, ${name}, least(to_timestamp(${Date.now()}::float8 / 1000), clock_timestamp() + ${AHEAD})
    )
    on conflict (realm_slug, holder) do update
    set
      valid_from = greatest(
        excluded.valid_from,
        case when token_cutoffs.valid_from <= clock_timestamp() + ${AHEAD} then token_cutoffs.valid_from end
      )
  `)
}

/**
 * Rejects every access token that one of the keys has signed or will sign: the holder of a stolen key chooses the time of
 * issue, and a process keeps a realm's keys for ten minutes.
 */
export async function revokeKeys(tx: CommonQueryMethods, realm: string, keyIds: readonly string[]): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    insert into token_cutoffs (realm_slug, holder, valid_from)
    select ${realm}, name, now() + interval '100 years'
    from unnest(${sql.array(keyIds.map(keyName), 'text')}) as name
    on conflict do nothing
  `)
}

const Cutoff = z.object({ valid_from_ms: z.number() })

/** The time, in milliseconds since 1970, up to which issued tokens are rejected; null if none are. */
export async function findTokenCutoff(
  tx: CommonQueryMethods,
  { slug, keyId, clientId, subject }: { slug: string; keyId: string; clientId: string; subject: string },
): Promise<number | null> {
  const row = await tx.maybeOne(sql.prepared('find_token_cutoff', Cutoff)`
    select (extract(epoch from valid_from) * 1000)::float8 as valid_from_ms
    from token_cutoffs
    where realm_slug = ${slug} and holder in (${keyName(keyId)}, ${clientName(clientId)}, ${personName(subject)})
    order by valid_from desc
    limit 1
  `)
  return row?.valid_from_ms ?? null
}

const personName = (subject: string): string => `person ${subject}`
const keyName = (keyId: string): string => `key ${keyId}`
const clientName = (clientId: string): string => `client ${clientId}`
