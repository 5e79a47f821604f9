import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { SecretState, SecretTimes } from './record.ts'

const Deleted = z.strictObject({ id: z.uuid() })

/** An expired previous secret counts as absent, whether or not it has been deleted. */
const previous = sql.fragment`
  case when m.webhook_secret_previous_expires_at > now() then m.webhook_secret_previous end as webhook_secret_previous`
const times = sql.fragment`
  m.webhook_secret_rotated_at as rotated_at,
  case
    when m.webhook_secret_previous_expires_at > now() then m.webhook_secret_previous_expires_at
  end as previous_expires_at`
const state = sql.fragment`m.id as merchant_id, m.webhook_signing_secret, ${previous}, ${times}`

export function findSecrets(tx: CommonQueryMethods, merchantId: string): Promise<SecretState | null> {
  return tx.maybeOne(sql.type(SecretState)`select ${state} from merchants m where m.id = ${merchantId}::uuid`)
}

/** The same, locked against changes until the transaction ends. Payments of the merchant continue. */
export function lockSecrets(tx: CommonQueryMethods, merchantId: string): Promise<SecretState | null> {
  return tx.maybeOne(sql.type(SecretState)`
    select ${state} from merchants m where m.id = ${merchantId}::uuid for no key update
  `)
}

/** A sealed secret, and the one that it replaces with the seconds of overlap. */
export type NewSecret = { merchantId: string; secret: string; previous: { secret: string; seconds: number } | null }

/** Stores a new secret; any older previous secret is overwritten. */
export function putSecret(tx: CommonQueryMethods, { merchantId, secret, previous: kept }: NewSecret) {
  return tx.one(sql.type(SecretTimes)`
    update merchants m
    set webhook_signing_secret = ${secret},
      webhook_secret_previous = ${kept?.secret ?? null}::text,
      webhook_secret_previous_expires_at = now() + make_interval(secs => ${kept?.seconds ?? null}::float8),
      webhook_secret_rotated_at = now(),
      updated_at = now()
    where m.id = ${merchantId}::uuid
    returning ${times}
  `)
}

/** Replaces only the newest secret: the previous one and its end stay. */
export function replaceNewest(tx: CommonQueryMethods, merchantId: string, secret: string): Promise<SecretTimes> {
  return tx.one(sql.type(SecretTimes)`
    update merchants m
    set webhook_signing_secret = ${secret}, webhook_secret_rotated_at = now(), updated_at = now()
    where m.id = ${merchantId}::uuid
    returning ${times}
  `)
}

/** Ends the overlap of a merchant's rotation. */
export function dropPrevious(tx: CommonQueryMethods, merchantId: string): Promise<SecretTimes> {
  return tx.one(sql.type(SecretTimes)`
    update merchants m
    set webhook_secret_previous = null, webhook_secret_previous_expires_at = null, updated_at = now()
    where m.id = ${merchantId}::uuid
    returning ${times}
  `)
}

/** Deletes previous secrets whose overlap has ended, up to a limit; rows locked by others are skipped. */
export function deleteExpiredPrevious(
  tx: CommonQueryMethods,
  rowsMax: number,
): Promise<readonly z.infer<typeof Deleted>[]> {
  return tx.any(sql.type(Deleted)`
    update merchants m
    set webhook_secret_previous = null, webhook_secret_previous_expires_at = null
    where m.id in (
      select p.id from merchants p
      where p.webhook_secret_previous_expires_at <= now()
      order by p.webhook_secret_previous_expires_at
      limit ${rowsMax}
      for no key update skip locked
    )
    returning m.id
  `)
}
