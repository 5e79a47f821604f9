import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'

/** A payment whose scenario continues with a dispute by the payer. */
export const DisputeScenario = z.strictObject({ state: z.string(), scenario: z.string() })
export type DisputeScenario = z.infer<typeof DisputeScenario>

/** Leases scenarios that are not completed, the least recently checked first. */
export function claimDisputeScenarios(
  tx: CommonQueryMethods,
  { limit, leaseSeconds }: { limit: number; leaseSeconds: number },
): Promise<readonly DisputeScenario[]> {
  return tx.any(sql.type(DisputeScenario)`
    update mock_bank.authorisations a
    set scenario_locked_until = now() + make_interval(secs => ${leaseSeconds})
    from (
      select state
      from mock_bank.authorisations
      where scenario like 'dispute-%' and code is not null and scenario_ended_at is null
        and (scenario_locked_until is null or scenario_locked_until <= now())
      order by scenario_locked_until nulls first, created_at
      limit ${limit}
      for update skip locked
    ) due
    where a.state = due.state
    returning a.state, a.scenario
  `)
}

/** Marks the scenario as completed. */
export async function completeDisputeScenario(tx: CommonQueryMethods, state: string): Promise<void> {
  await tx.query(
    sql.typeAlias('void')`update mock_bank.authorisations set scenario_ended_at = now() where state = ${state}`,
  )
}

/** Releases a scenario whose payment is not ready yet: it is checked again after `seconds`. */
export async function postponeDisputeScenario(
  tx: CommonQueryMethods,
  { state, seconds }: { state: string; seconds: number },
): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    update mock_bank.authorisations set scenario_locked_until = now() + make_interval(secs => ${seconds}) where state = ${state}
  `)
}
