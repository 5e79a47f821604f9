import type { CommonQueryMethods, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from '../../../db/sql.ts'

const LoginAttempt = z.object({ id: z.string(), subject: z.string(), password_hash: z.string() })
export type LoginAttempt = z.infer<typeof LoginAttempt>

const Login = z.object({ signed_in_at: z.bigint() })

/** The number of a guess, after the given number of wrong ones: half a day after a lock the count starts again. */
export function nextGuess(failed: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`case when locked_until < now() - interval '12 hours' then 1 else ${failed} + 1 end`
}

/** Until when a guess locks: from the fifth on for longer each time, from one minute to fifteen. */
export function lockAfter(guesses: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`case when ${guesses} < 5 then null
    else now() + least(interval '60 seconds' * power(2, least(${guesses} - 5, 4)), interval '15 minutes') end`
}

/**
 * Counts one sign-in attempt before its result is known: checking first and counting afterwards would let any number of
 * concurrent guesses through. From the fifth on each attempt locks the user for longer, from one minute to fifteen;
 * half a day after the last lock the count starts again.
 * @returns null if there is no password to check: unknown user, no password yet, disabled or locked
 */
export function startLoginAttempt(tx: CommonQueryMethods, realm: string, email: string): Promise<LoginAttempt | null> {
  return tx.maybeOne(sql.prepared('take_idp_guess', LoginAttempt)`
    with person as (
      select id, ${nextGuess(sql.fragment`failed_logins`)} as guesses
      from idp.users
      where realm = ${realm} and email = ${email} and is_enabled and password_hash is not null
        and (locked_until is null or locked_until <= now())
      for update
    )
    update idp.users u
    set failed_logins = p.guesses,
      locked_until = ${lockAfter(sql.fragment`p.guesses`)}
    from person p
    where u.id = p.id
    returning u.id, u.subject, u.password_hash
  `)
}

/**
 * Records a successful attempt and resets the count.
 * @returns the time of the sign-in in whole seconds, never earlier than `sessions_valid_from`; null if the password has
 *   changed meanwhile or the user is disabled
 */
export async function recordLogin(tx: CommonQueryMethods, { id, password_hash }: LoginAttempt): Promise<number | null> {
  const signedIn = await tx.maybeOne(sql.prepared('record_idp_login', Login)`
    update idp.users
    set failed_logins = 0, locked_until = null, last_login_at = now()
    where id = ${id}::uuid and password_hash = ${password_hash} and is_enabled
    returning extract(
      epoch from greatest(sessions_valid_from, date_trunc('second', clock_timestamp()))
    )::int8 as signed_in_at
  `)
  return signedIn === null ? null : Number(signedIn.signed_in_at)
}
