import type { DatabaseTransactionConnection, FragmentSqlToken } from 'slonik'
import { sql } from '../db/sql.ts'
import { DAYS_AFTER, DAYS_BEFORE, KEYS, isOpen } from './match-sql.ts'
import type { Days } from './parts-of-days.ts'
import { midnight, openMovements } from './movements-sql.ts'
import { ByReference } from './record.ts'

/**
 * Movements of some days that can be an open line by its reference. Of those that are alike on one day there are two: a line
 * can be neither, nor any other.
 */
export function listByReference(
  tx: DatabaseTransactionConnection,
  { from, to }: Days,
): Promise<readonly ByReference[]> {
  const { line, movement, isWanted } = KEYS.REFERENCE
  return tx.any(sql.type(ByReference)`
    with open_line as materialized (
      select distinct ${line} as key, l.direction, l.amount, l.currency
      from bank_statement_lines l
      where ${isOpen('REFERENCE')}
        and l.booked_on between ${from}::date - ${DAYS_AFTER - 1}::integer and ${to}::date + ${DAYS_BEFORE}::integer
    ),
    movement as materialized (
      ${withReference(
        openMovements({
          from: midnight(sql.fragment`${from}::date`),
          to: midnight(sql.fragment`${to}::date + 1`),
          isWanted,
        }),
      )}
    )
    select merchant_id, payment_id, refund_id, direction, amount, currency, key, created_at::text as created_at
    from (
      select m.*, o.key,
        row_number() over (
          partition by o.key, m.direction, m.amount, m.currency, ${londonDay(sql.fragment`m.created_at`)} order by m.created_at
        ) as place
      from movement m
      join open_line o
        on o.key = ${movement} and o.direction = m.direction and o.amount = m.amount and o.currency = m.currency
    ) m
    where place <= 2
  `)
}

function londonDay(at: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`(${at} at time zone 'Europe/London')::date`
}

/** Movements with the reference of the payment, or else of its consent. */
function withReference(movements: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`
    select m.*, coalesce(m.remittance_reference, c.remittance_reference) as reference
    from (${movements}) m
    left join payment_consents c on c.merchant_id = m.merchant_id and c.id = m.consent_id
  `
}
