import { z } from 'zod'
import { PERCENTAGE_PATTERN } from '../../../src/lib/percentage.ts'
import { completeSca } from '../../../src/wire/payments.ts'
import { setBankFaults } from '../../../src/wire/sandbox-faults.ts'
import { call } from '../../client/call.ts'
import { visitMockBank } from '../../client/mock-bank.ts'
import type { BankLogin, Decision } from '../../client/mock-bank.ts'
import { StepFailure } from '../failure.ts'
import { Ref, Text, Wait } from '../language/parts.ts'
import { madeOf } from '../play/case-run.ts'
import type { CaseRun, MadePayment } from '../play/case-run.ts'
import { verb } from './verb.ts'

/** One that a reference stands for is looked at once it is filled in. */
const Share = z
  .string()
  .refine(
    (share) => PERCENTAGE_PATTERN.test(share) || share.startsWith('$'),
    'must be a share such as 20% or 0.5%, at most 100%',
  )
  .meta({ description: 'a share such as 20% or 0.5%, at most 100%', examples: ['20%'] })

/** What goes wrong at the mock bank for the case's merchant; what is not named does not, and with nothing named nothing. */
export const BankFault = z.strictObject({
  /** Before each answer of the bank. */
  latency: Wait.optional(),
  /** Callbacks that get lost; with one of these two the bank reports every decision by itself. */
  drop_callback: Share.optional(),
  /** Callbacks that come twice. */
  duplicate: Share.optional(),
  /** Calls without an answer; half of them are carried out all the same. */
  unavailable: Share.optional(),
  /** Payouts that the bank rejects. */
  fail_payout: Share.optional(),
  /** Payouts that come back after they were paid. */
  return_payout: Share.optional(),
  /** What is hit follows from it; 1 where none is given. */
  seed: z.int().min(0).max(2_147_483_647).optional(),
})

export async function setFaults(run: CaseRun, fault: z.output<typeof BankFault>): Promise<void> {
  // Of a run with a seed, what is hit follows from that.
  const seed = fault.seed ?? (run.isSeeded ? Number.parseInt(run.newKey('faults', fault).slice(0, 7), 16) : undefined)
  await call(run.client, setBankFaults, {
    body: { ...fault, ...(seed === undefined ? {} : { seed }), merchant_id: run.merchant.merchant_id },
  })
}

/** What the payer types at the bank's full login, where it is not what the bank always takes. */
const Login = z.strictObject({
  /** Or a scenario's name. */
  username: Text.optional(),
  password: Text.optional(),
  /** The one-time code, or several that are typed in turn until one is taken. */
  code: z.union([Text, z.array(Text).min(1).max(10)]).optional(),
})

/**
 * A visit of the payer at the bank. The first decision there counts: the same one again changes nothing, nor does
 * another one, which `await` and `expect` show.
 */
const Bank = z.strictObject({
  approve: Ref.payment.optional(),
  cancel: Ref.payment.optional(),
  /** What goes wrong at the bank from now on, instead of what did. */
  fault: BankFault.optional(),
  /** Whether the payer comes back from the bank; one who closes the browser there does not. */
  returns: z.boolean().optional(),
  /** The bank's full login before the decision; `true` for what it always takes. */
  login: z.union([z.literal(true), Login]).optional(),
})

type Visit = Pick<z.output<typeof Bank>, 'returns' | 'login'> & { decision: Decision }

/** The payer at the mock bank, up to the return to the merchant's page, unless the payer does not come back. */
export async function visitBank(
  run: CaseRun,
  payment: MadePayment,
  { decision, returns = true, login }: Visit,
): Promise<void> {
  if (payment.created.redirect_url === null)
    throw new StepFailure('this payment was made under a mandate: the bank asks the payer nothing', {
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

export const bank = verb({
  schema: Bank,
  text: 'Simulates the payer at the bank, or sets fault injection.',
  examples: [
    'bank: { approve: $p1 }',
    'bank: { cancel: $p1 }',
    'bank: { approve: $p1, returns: false }',
    'bank: { approve: $p1, login: { code: ["000000", "123456"] } }',
    'bank: { fault: { unavailable: 30% } }',
  ],
  async play(run, { fault, approve, cancel = '', returns, login }) {
    if (fault !== undefined) return setFaults(run, fault)
    const decision = approve === undefined ? 'cancel' : 'approve'
    await visitBank(run, madeOf(run, 'payment', approve ?? cancel), { decision, returns, login })
  },
})
