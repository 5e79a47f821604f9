import { z } from 'zod'
import { AdvanceTarget, advanceSandboxPayment } from '../../src/wire/sandbox-faults.ts'
import type { AdvancedPayment } from '../../src/wire/sandbox-faults.ts'
import { getPayment } from '../../src/wire/payments.ts'
import type { Payment } from '../../src/wire/payments.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { actAsPayer } from '../client/mock-bank.ts'
import { ChangeOptions, change } from '../kit/change.ts'
import type { CommandResult, Context, InputOf } from '../kit/context.ts'
import { CliError, withHint } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { paymentId } from '../payments/find.ts'

export const DecideOptions = ChangeOptions.extend({ return: z.boolean().default(true) })
type DecideInput = InputOf<typeof DecideOptions>

export const AdvanceOptions = ChangeOptions.extend({ to: AdvanceTarget.default('Settled') })

/** A bank that is silent may take its time over each step. */
export const ADVANCE_TIMEOUT_MS = 60_000

/** `svc sandbox bank approve`: the payer presses the button at the mock bank, and comes back. */
export function approve(context: Context, input: DecideInput): Promise<CommandResult> {
  return decide(context, input, 'Authorised')
}

export function cancel(context: Context, input: DecideInput): Promise<CommandResult> {
  return decide(context, input, 'Failed')
}

async function decide(context: Context, { args, options }: DecideInput, to: AdvanceTarget): Promise<CommandResult> {
  const body = { to, ...(options.return ? {} : { returns: false }) }
  const advanced = await send(context, args, { options, body })
  if (advanced === undefined) return undefined
  const before = decidedBefore(advanced, to)
  if (before !== undefined) {
    context.note(`Nothing was decided: ${before}.`)
    return EXIT.assertion
  }
  if (advanced.new_status === 'AwaitingAuthorisation')
    context.note('Nobody has told the service: the payment waits for a callback of the bank, or for its end.')
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
export async function advance(
  context: Context,
  { args, options }: InputOf<typeof AdvanceOptions>,
): Promise<CommandResult> {
  const { to } = options
  const advanced = await send(context, args, { options, body: { to } })
  if (advanced === undefined || advanced.reached) return EXIT.ok
  const why = decidedBefore(advanced, to) ?? "its scenario or the bank's faults end it elsewhere, or it still waits"
  context.note(`It did not become ${to}: ${why}.`)
  return EXIT.assertion
}

type Sent = { options: ChangeOptions; body: { to: AdvanceTarget; returns?: boolean } }

async function send(
  context: Context,
  args: readonly string[],
  { options, body }: Sent,
): Promise<AdvancedPayment | undefined> {
  const client = { ...context.client(), timeoutMs: ADVANCE_TIMEOUT_MS }
  const id = await paymentId(client, args)
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
  context.print.record({
    item: advanced,
    id: advanced.payment_id,
    lines: [
      ['Payment', advanced.payment_id],
      ['Was', advanced.old_status],
      ['Is', advanced.new_status],
    ],
  })
  return advanced
}
