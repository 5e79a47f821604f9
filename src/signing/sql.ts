import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { SecretState, SecretTimes } from './record.ts'

const Deleted = z.strictObject({ id: z.uuid() })

/** What has passed is as if it were not there, whether or not it was forgotten yet. */
const previous = sql.fragment`
  case when m.webhook_secret_previous_expires_at > now() then m.webhook_secret_previous end as webhook_secret_previous`
const times = sql.fragment`
  m.webhook_secret_rotated_at as rotated_at,
  case
    when m.webhook_secret_previous_expires_at > now() then m.webhook_secret_previous_expires_at
  end as previous_expires_at`
const state = sql.fragment`m.id as merchant_id, m.webhook_signing_secret, ${previous}, ${times}`

export function findSecrets(db: CommonQueryMethods, merchantId: string): Promise<SecretState | null> {
  return db.maybeOne(sql.type(SecretState)`select ${state} from merchants m where m.id = ${merchantId}::uuid`)
}

/** The same, and nobody else changes them until the transaction ends. Payments of the merchant go on meanwhile. */
export function lockSecrets(tx: CommonQueryMethods, merchantId: string): Promise<SecretState | null> {
  return tx.maybeOne(sql.type(SecretState)`
    select ${state} from merchants m where m.id = ${merchantId}::uuid for no key update
  `)
}

/** A sealed secret, and the one that it replaces with the seconds for which that one signs as well. */
export type NewSecret = { merchantId: string; secret: string; previous: { secret: string; seconds: number } | null }

/** Stores a new secret; the one that was kept from the rotation before is gone. */
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

/** Replaces the newest secret alone: the one before it and its end stay. */
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

/** Forgets previous secrets whose overlap has passed, at most so many at once; whom another one changes waits. */
export function deleteExpiredPrevious(
  db: CommonQueryMethods,
  rowsMax: number,
): Promise<readonly z.infer<typeof Deleted>[]> {
  return db.any(sql.type(Deleted)`
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
