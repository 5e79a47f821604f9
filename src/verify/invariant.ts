import type { FragmentSqlToken } from 'slonik'
import type { Part, SourceName } from './part-sql.ts'

/** What must hold of the database at every moment. */
export type Invariant = {
  /** What holds, as a sentence about the rows. */
  rule: string
  /** What to do about a row that breaks it. */
  action: string
  /** What is read in parts; without one, the query is small whatever the database holds. */
  source?: SourceName
  /** The `subject`, as text, of each row that breaks it. */
  query(part: Part): FragmentSqlToken
}
