import type { FragmentSqlToken } from 'slonik'
import { sql } from '../db/sql.ts'

/** The least and the most seconds of a wait. */
export type WaitBounds = { secondsLeast: number; secondsMost: number }

/** The wait before a bank is asked again: a tenth of the time since a moment, within bounds (decision 117). */
export function growingWait(since: FragmentSqlToken, { secondsLeast, secondsMost }: WaitBounds): FragmentSqlToken {
  return sql.fragment`
    least(greatest((now() - ${since}) / 10, ${secondsLeast} * interval '1 s'), ${secondsMost} * interval '1 s')
  `
}
