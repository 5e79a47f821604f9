import { setBankFaults } from '../../../src/wire/sandbox-faults.ts'
import { call } from '../../client/call.ts'
import type { CaseRun } from '../play/case-run.ts'
import type { BankFault } from '../language/bank.ts'

/** Sets what goes wrong at the mock bank for the case's merchant, the whole of it. */
export async function setFaults(run: CaseRun, fault: BankFault): Promise<void> {
  // Of a run with a seed, what is hit follows from that.
  const seed = fault.seed ?? (run.isSeeded ? Number.parseInt(run.newKey('faults', fault).slice(0, 7), 16) : undefined)
  await call(run.client, setBankFaults, {
    body: { ...fault, ...(seed === undefined ? {} : { seed }), merchant_id: run.merchant.merchant_id },
  })
}
