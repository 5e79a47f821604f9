import type { z } from 'zod'
import { completeSca } from '../../../src/wire/payments.ts'
import { call } from '../../client/call.ts'
import type { BankLogin, Decision } from '../../client/mock-bank.ts'
import { visitMockBank } from '../../client/mock-bank.ts'
import type { CaseRun, MadePayment } from '../play/case-run.ts'
import { StepFailure } from '../failure.ts'
import type { Bank } from '../language/payments.ts'

type Visit = Pick<z.output<typeof Bank>, 'returns' | 'login'> & { decision: Decision }

/** The payer at the mock bank, up to the return to the merchant's page, unless the payer does not come back. */
export async function visitBank(
  run: CaseRun,
  payment: MadePayment,
  { decision, returns = true, login }: Visit,
): Promise<void> {
  if (payment.created.redirect_url === null)
    throw new StepFailure('this payment was made under a mandate: nobody is asked at the bank', {
      hint: 'await: { payment: $p2, status: Settled }',
    })
  const back = await visitMockBank(run.client, payment.created, { decision, login: typedOf(login) })
  if (back === undefined) return
  payment.sentBack = back
  if (returns) await call(run.client, completeSca, { params: { id: payment.created.payment_id }, body: back })
}

function typedOf(login: Visit['login']): BankLogin | undefined {
  if (login === undefined || login === true) return login === true ? {} : undefined
  const { code, ...typed } = login
  return { ...typed, codes: typeof code === 'string' ? [code] : code }
}
