import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../../../db/sql.ts'
import { lockAfter, nextGuess } from './login-attempts-sql.ts'

const CodeAttempt = z.object({ secret: z.string().nullable(), failed_codes: z.int() })
const Version = z.object({ changed_at: z.string() })
const Done = z.object({ user_id: z.string() })
const Count = z.object({ count: z.int() })
const HasApp = z.object({ has_app: z.boolean() })

/** When the user's second factor was changed last: its version. Null if there is none. */
export async function factorOf(tx: CommonQueryMethods, userId: string): Promise<string | null> {
  const factor = await tx.maybeOne(sql.type(Version)`
    select changed_at::text from idp.second_factors where user_id = ${userId}::uuid
  `)
  return factor?.changed_at ?? null
}

/** Which of a realm's users have a second factor. */
export async function listUsersWithFactor(
  tx: CommonQueryMethods,
  realm: string,
  userIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await tx.any(sql.type(Done)`
    select s.user_id from idp.second_factors s
    join idp.users u on u.id = s.user_id
    where u.realm = ${realm} and u.id::text = any(${sql.array([...userIds], 'text')})
  `)
  return new Set(rows.map(({ user_id }) => user_id))
}

/** Marks the factor as changed, or creates it without app and passkeys, which follow. @returns its version */
export async function touchFactor(tx: CommonQueryMethods, userId: string): Promise<string> {
  const { changed_at } = await tx.one(sql.type(Version)`
    insert into idp.second_factors (user_id) values (${userId}::uuid)
    on conflict (user_id) do update set changed_at = clock_timestamp()
    returning changed_at::text
  `)
  return changed_at
}

/** Whether the user has an authenticator app. */
export async function hasApp(tx: CommonQueryMethods, userId: string): Promise<boolean> {
  const factor = await tx.maybeOne(sql.type(HasApp)`
    select secret is not null as has_app from idp.second_factors where user_id = ${userId}::uuid
  `)
  return factor?.has_app === true
}

/** Stores the user's app, in the place of an earlier one, or removes it. Opens a lock. */
export async function storeApp(
  tx: CommonQueryMethods,
  userId: string,
  app: { secret: string; step: number } | null,
): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    update idp.second_factors
    set secret = ${app?.secret ?? null}, last_step = ${app?.step ?? null}, failed_codes = 0, locked_until = null
    where user_id = ${userId}::uuid
  `)
}

/**
 * Counts one attempt at a code before its result is known, by the rule of passwords (login-attempts-sql.ts).
 * @returns the sealed secret of the app, if there is one, and which attempt it is; null without a factor, or while it is
 *   locked
 */
export function startCodeAttempt(tx: CommonQueryMethods, userId: string): Promise<z.infer<typeof CodeAttempt> | null> {
  return tx.maybeOne(sql.type(CodeAttempt)`
    with factor as (
      select user_id, ${nextGuess(sql.fragment`failed_codes`)} as guesses
      from idp.second_factors
      where user_id = ${userId}::uuid and (locked_until is null or locked_until <= now())
      for update
    )
    update idp.second_factors s
    set failed_codes = f.guesses, locked_until = ${lockAfter(sql.fragment`f.guesses`)}
    from factor f
    where s.user_id = f.user_id
    returning s.secret, s.failed_codes
  `)
}

/**
 * Accepts the code of a step and resets the count of attempts.
 * @returns false if a code of this step or a later one was accepted before
 */
export async function useStep(
  tx: CommonQueryMethods,
  { userId, secret, step }: { userId: string; secret: string; step: number },
): Promise<boolean> {
  const used = await tx.maybeOne(sql.type(Done)`
    update idp.second_factors
    set last_step = ${step}, failed_codes = 0, locked_until = null
    where user_id = ${userId}::uuid and secret = ${secret} and last_step < ${step}
    returning user_id
  `)
  return used !== null
}

/**
 * Uses a recovery code up and resets the count of attempts.
 * @returns false if the user has no such code left
 */
export async function useRecoveryCode(tx: CommonQueryMethods, userId: string, codeHash: string): Promise<boolean> {
  const used = await tx.maybeOne(sql.type(Done)`
    with used as (
      update idp.recovery_codes set used_at = now()
      where user_id = ${userId}::uuid and code_hash = ${codeHash} and used_at is null
      returning user_id
    )
    update idp.second_factors s set failed_codes = 0, locked_until = null
    from used u
    where s.user_id = u.user_id
    returning s.user_id
  `)
  return used !== null
}

/** The number of recovery codes that still work. */
export async function countRecoveryCodes(tx: CommonQueryMethods, userId: string): Promise<number> {
  const { count } = await tx.one(sql.type(Count)`
    select count(*)::int4 as count from idp.recovery_codes where user_id = ${userId}::uuid and used_at is null
  `)
  return count
}

/** Stores new recovery codes. The earlier ones work no more. */
export async function replaceRecoveryCodes(
  tx: CommonQueryMethods,
  userId: string,
  hashes: readonly string[],
): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    with earlier as (delete from idp.recovery_codes where user_id = ${userId}::uuid)
    insert into idp.recovery_codes (user_id, code_hash)
    select ${userId}::uuid, hash from unnest(${sql.array([...hashes], 'text')}) as hash
  `)
}

/** Deletes app, passkeys and recovery codes. @returns whether there was any of them */
export async function deleteFactor(tx: CommonQueryMethods, userId: string): Promise<boolean> {
  const { rowCount } = await tx.query(sql.typeAlias('void')`
    delete from idp.second_factors where user_id = ${userId}::uuid
  `)
  return rowCount > 0
}
