import type { FragmentSqlToken } from 'slonik'
import { sql } from '../db/sql.ts'

/** What the shortest field of a bank keeps of an end-to-end id (decision 255), in any case and with words around it. */
const OWN_ID = 'svc([0-9a-f]{15})'

/** The first 18 characters of the end-to-end id that a line `l` names, as they are kept here; null where it names none. */
export const named = sql.fragment`(
  'SVC' || lower(coalesce(
    (regexp_match(l.end_to_end_id, ${OWN_ID}, 'i'))[1], (regexp_match(l.remittance, ${OWN_ID}, 'i'))[1]
  ))
)`

/** That an id is the one of `name`, which finds it through the index of ids. */
export function isNamed(id: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`${id} between name.id and name.id || 'g' and left(${id}, length(name.id)) = name.id`
}
