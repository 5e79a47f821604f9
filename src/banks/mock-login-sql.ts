import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'

const CodeAttempts = z.strictObject({ wrong_codes: z.int(), was_wrong: z.boolean() })
export type CodeAttempts = z.infer<typeof CodeAttempts>

/** The number of wrong one-time codes that ends a payment's login (decision 32). */
export const WRONG_CODES_MAX = 5

/**
 * Counts an entered one-time code; null after five wrong ones, so that concurrent codes get no more attempts than
 * sequential ones.
 * @param firstIsWrong whether the first code counts as wrong in any case
 */
export function countCode(
  tx: CommonQueryMethods,
  { state, isRight, firstIsWrong }: { state: string; isRight: boolean; firstIsWrong: boolean },
): Promise<CodeAttempts | null> {
  return tx.maybeOne(sql.type(CodeAttempts)`
    insert into mock_bank.code_tries as t (state, wrong_codes, was_wrong)
    values (${state}, case when ${!isRight || firstIsWrong} then 1 else 0 end, ${!isRight || firstIsWrong})
    on conflict (state) do update
    set was_wrong = ${!isRight} or (${firstIsWrong} and t.wrong_codes = 0),
      wrong_codes = t.wrong_codes + case when ${!isRight} or (${firstIsWrong} and t.wrong_codes = 0) then 1 else 0 end
    where t.wrong_codes < ${WRONG_CODES_MAX}
    returning t.wrong_codes, t.was_wrong
  `)
}
