import { createHash, randomUUID } from 'node:crypto'
import { z } from 'zod'
import { createOrder, getOrder } from '../../src/wire/orders.ts'
import type { PaymentInitiation, PaymentResponse } from '../../src/wire/orders.ts'
import { change, checkBody } from '../kit/change.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { durationOf } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { usageError, withFacts } from '../base/errors.ts'
import { numberIn } from './named-account.ts'
import { stoppable } from '../client/interruptible.ts'
import { shortTime } from '../base/text.ts'
import { findAccount } from './find-account.ts'
import { accountText, moneyText, printRecord } from './print.ts'
import { accountOf, amountOf, remittanceOf } from './values.ts'
import { awaitEnd, reasonText } from './wait.ts'

const text = z.string().optional()

export const PayOptions = z.object({
  amount: z.string(),
  currency: z.string(),
  to: z.string(),
  name: text,
  reference: text,
  from: text,
  endToEndId: text,
  idempotencyKey: text,
  wait: z.boolean().default(false),
  timeout: z.string(),
  dryRun: z.boolean().default(false),
})
export type PayOptions = z.infer<typeof PayOptions>

/** `svc ob pay`. */
export async function pay(context: Context, { options }: CommandInput<PayOptions>): Promise<CommandResult> {
  const timeoutMs = durationOf(options.timeout, '--timeout')
  await stoppable(context.client(), (client) => payAndSee(context, client, { options, timeoutMs }), 'svc ob payment')
  return undefined
}

type Wishes = { options: PayOptions; timeoutMs: number }

async function payAndSee(context: Context, client: Client, { options, timeoutMs }: Wishes): Promise<void> {
  const key = options.idempotencyKey ?? randomUUID()
  const facts: Record<string, string> = { idempotency_key: key }
  try {
    const body = { ...bodyOf(options, key), ...(await debtorOf(client, options.from)) }
    checkBody(createOrder, body)
    tellKey(context, { ...options, key })
    const input = { headers: { 'x-idempotency-key': key }, body }
    const ordered = await change(context, client, createOrder, { input, options })
    if (ordered === undefined) return
    facts['payment_id'] = ordered.PaymentId
    await seeThrough(context, client, { ordered, wait: options.wait, timeoutMs })
  } catch (error) {
    // With these a program can repeat the command, or go on from where it stopped.
    throw withFacts(error, facts)
  }
}

/** A key that nobody has given is one that nobody knows, until it is told. */
export function tellKey(
  { note }: Context,
  { key, idempotencyKey, dryRun }: { key: string; idempotencyKey?: string | undefined; dryRun: boolean },
): void {
  if (idempotencyKey === undefined && !dryRun) note(`Idempotency key: ${key}`)
}

function bodyOf(options: PayOptions, key: string): z.input<typeof PaymentInitiation> {
  const id = idFrom(key)
  return {
    InstructionIdentification: id,
    EndToEndIdentification: options.endToEndId ?? id,
    InstructedAmount: amountOf(options),
    CreditorAccount: accountOf(options.to, options.name),
    ...remittanceOf(options.reference),
  }
}

/** 35 characters that follow from the key: a repeat with the same key is then the same request. */
function idFrom(key: string): string {
  return `SVC${createHash('sha256').update(key).digest('hex').slice(0, 32)}`
}

/** The account that pays, by its number as it is; only an id has to be looked up. */
export async function debtorOf(
  client: Client,
  from: string | undefined,
): Promise<Pick<z.input<typeof PaymentInitiation>, 'DebtorAccount'>> {
  if (from === undefined) return {}
  if (numberIn(from) !== undefined) return { DebtorAccount: accountOf(from) }
  const [named] = (await findAccount(client, from)).Account
  if (named === undefined) throw usageError(`--from: the account ${from} has no number to pay from`)
  const { SchemeName, Identification } = named
  return { DebtorAccount: { SchemeName, Identification } }
}

type Rest = { ordered: PaymentResponse; wait: boolean; timeoutMs: number }

async function seeThrough(context: Context, client: Client, { ordered, wait, timeoutMs }: Rest): Promise<void> {
  const { PaymentId } = ordered
  if (!wait) {
    printOrder(context, ordered)
    if (!context.print.isMachine) context.note(`Next: svc ob payment ${PaymentId}`)
    return
  }
  const { item, problem } = await awaitEnd(context, {
    item: ordered,
    look: async () => (await call(client, getOrder, { params: { PaymentId } })).body,
    noun: 'payment',
    good: ['AcceptedSettlementCompleted', 'AcceptedCreditSettlementCompleted', 'AcceptedWithoutPosting'],
    bad: ['Rejected'],
    timeoutMs,
    signal: client.signal,
    hint: `svc ob payment ${PaymentId}`,
  })
  printOrder(context, item)
  if (problem !== undefined) throw problem
}

/** `svc ob payment <id>`. */
export async function payment(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const [PaymentId = ''] = args
  printOrder(context, (await call(context.client(), getOrder, { params: { PaymentId } })).body)
  return undefined
}

function printOrder(context: Context, order: PaymentResponse): void {
  printRecord(context, {
    item: order,
    id: order.PaymentId,
    lines: [
      ['Payment', order.PaymentId],
      ['Status', order.Status],
      ['Reason', reasonText(order)],
      ['Amount', moneyText(order.InstructedAmount)],
      ['To', accountText(order.CreditorAccount)],
      ['From account', order.DebtorAccountId],
      ['Reference', order.RemittanceInformation?.Reference ?? ''],
      ['End-to-end id', order.EndToEndIdentification],
      ['Recurring', order.RecurringPaymentId ?? ''],
      ['Request', order.RequestId ?? ''],
      ['Ordered', shortTime(order.CreationDateTime)],
      ['Changed', shortTime(order.StatusUpdateDateTime)],
    ],
  })
}
