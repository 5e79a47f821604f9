import { getPayment } from '../../src/wire/payments.ts'
import type { Payment } from '../../src/wire/payments.ts'
import { AdvanceTarget, advanceSandboxPayment } from '../../src/wire/sandbox-faults.ts'
import type { AdvancedPayment } from '../../src/wire/sandbox-faults.ts'
import { CliError, usageError, withHint } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { actAsPayer } from '../client/mock-bank.ts'
import { CHANGING, change } from '../kit/change.ts'
import type { ChangeOptions } from '../kit/change.ts'
import type { Flags } from '../kit/action.ts'
import { command } from '../kit/command.ts'
import type { Input } from '../kit/command.ts'
import type { CommandResult, Context } from '../kit/context.ts'
import { paymentId } from '../payments/find.ts'

/** A bank that is silent may take its time over each step. */
export const ADVANCE_TIMEOUT_MS = 60_000

const PAYMENT = {
  payment: { value: 'payment', summary: 'Payment id, or at least 8 characters of its start or end', positional: true },
  ...CHANGING,
} as const satisfies Flags
const DECIDING = { ...PAYMENT, noReturn: { summary: 'Stay at the bank, without the redirect back' } } as const

export const approve = command({
  command: 'sandbox bank approve',
  summary: 'Approve a payment as its payer',
  details: 'Exit code 3 if the payer had already cancelled at the bank.',
  examples: ['svc sandbox bank approve a2b4358c', 'svc sandbox bank approve a2b4358c --no-return'],
  flags: DECIDING,
  run(context, input) {
    return decide(context, input, 'Authorised')
  },
})

export const cancel = command({
  command: 'sandbox bank cancel',
  summary: 'Cancel a payment as its payer',
  details: 'Exit code 3 if the payer had already approved at the bank.',
  examples: ['svc sandbox bank cancel a2b4358c'],
  flags: DECIDING,
  run(context, input) {
    return decide(context, input, 'Failed')
  },
})

async function decide(context: Context, input: Input<typeof DECIDING>, to: AdvanceTarget): Promise<CommandResult> {
  const body = { to, ...(input.noReturn ? { returns: false } : {}) }
  const advanced = await send(context, input.payment, { options: input, body })
  if (advanced === undefined) return undefined
  const before = decidedBefore(advanced, to)
  if (before !== undefined) {
    context.note(`Nothing was decided: ${before}.`)
    return EXIT.assertion
  }
  if (advanced.new_status === 'AwaitingAuthorisation')
    context.note('The service does not know yet: the payment waits for a callback of the bank, or expires.')
}

/** Refused as an operator of the sandbox: a merchant decides where its payers do. */
const NO_OPERATOR: ReadonlySet<string> = new Set(['WRONG_REALM', 'NOT_SIGNED_IN'])

/** Decides on the mock bank's own page, as a payer does: for merchants, who may not steer the sandbox. */
export async function decideOnPage(
  client: Client,
  id: string,
  { to, returns }: Sent['body'],
): Promise<AdvancedPayment> {
  const read = async (): Promise<Payment> => {
    const { body } = await call(client, getPayment, { params: { id } })
    // Only a payer's capability gets a payer's view, and this is a merchant.
    if (!('consent_id' in body)) throw new Error('the service answered with what a payer may see')
    return body
  }
  const before = await read()
  await actAsPayer(client, before, to === 'Failed' ? 'cancel' : 'approve', { returns })
  const { status, consent_status: consent } = await read()
  const decision = consent === 'REJECTED' ? 'cancel' : 'approve'
  return { payment_id: id, old_status: before.status, new_status: status, reached: status === to, decision }
}

/** That the payer has decided otherwise at the bank before, where it has. */
export function decidedBefore({ decision }: AdvancedPayment, to: AdvanceTarget): string | undefined {
  if (decision === null || decision === (to === 'Failed' ? 'cancel' : 'approve')) return undefined
  const word = decision === 'approve' ? 'approved' : 'cancelled'
  return `it was ${word} at the bank before, and the first decision counts`
}

/** `svc sandbox advance`: leads a payment to a status; exit code 3 where its scenario ends elsewhere. */
export const advance = command({
  command: 'sandbox advance',
  summary: 'Move a test payment to a status',
  details: 'Exit code 3 if the payment ends in another status.',
  examples: ['svc sandbox advance a2b4358c', 'svc sandbox advance a2b4358c --to Refunded'],
  flags: {
    ...PAYMENT,
    to: { value: 'status', summary: 'Target status', choices: AdvanceTarget.options, initial: 'Settled' },
  },
  async run(context, input) {
    const { to } = input
    const advanced = await send(context, input.payment, { options: input, body: { to } })
    if (advanced === undefined || advanced.reached) return EXIT.ok
    const why = decidedBefore(advanced, to) ?? "its scenario or the bank's faults end it elsewhere, or it still waits"
    context.note(`It did not become ${to}: ${why}.`)
    return EXIT.assertion
  },
})

type Sent = { options: ChangeOptions; body: { to: AdvanceTarget; returns?: boolean } }

async function send(
  context: Context,
  given: string | undefined,
  { options, body }: Sent,
): Promise<AdvancedPayment | undefined> {
  const client = { ...context.client(), timeoutMs: ADVANCE_TIMEOUT_MS }
  if (given === undefined) throw usageError('which payment? Its id is missing', 'svc payments list')
  const id = await paymentId(client, given)
  const input = { params: { id }, body }
  const advanced = await change(context, client, advanceSandboxPayment, { input, options }).catch((error: unknown) => {
    const isDecision = body.to === 'Authorised' || body.to === 'Failed'
    if (error instanceof CliError && NO_OPERATOR.has(error.code) && isDecision && !options.dryRun)
      return decideOnPage(client, id, body)
    throw error instanceof CliError && error.code === 'BANK_UNAVAILABLE'
      ? withHint(error, `svc payments show ${id}`)
      : error
  })
  if (advanced === undefined) return undefined
  context.print.record(advanced, [
    ['Payment', advanced.payment_id],
    ['Was', advanced.old_status],
    ['Is', advanced.new_status],
  ])
  return advanced
}
