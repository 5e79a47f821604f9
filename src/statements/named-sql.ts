import type { FragmentSqlToken } from 'slonik'
import { sql } from '../db/sql.ts'

/** What a line that names an end-to-end id has of it (`bank_statement_lines.named_id`). */
export function namedPart(id: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`left(${id}, 18)`
}

/** That a line `l` names an id, which is found through the index of ids. */
export function isNamed(id: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`${id} between l.named_id and l.named_id || 'g' and ${namedPart(id)} = l.named_id`
}
