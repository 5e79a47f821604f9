import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { RecurringPaymentResponse, createRecurring, getRecurring, listRecurring } from '../../src/wire/recurring.ts'
import type { RecurringPaymentInitiation } from '../../src/wire/recurring.ts'
import { change, checkBody } from '../kit/change.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { CliError, withFacts, withHint } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { resolveId } from '../kit/resolve-id.ts'
import { stoppable } from '../client/interruptible.ts'
import { EVENING, MORNING, firstMoment, isFromNow, momentOf } from '../base/moments.ts'
import { ObPaging, collect, emptyText, idsOf, tellMore } from './pages.ts'
import type { ObReader } from './pages.ts'
import { debtorOf, tellKey } from './pay.ts'
import { frequencyOf } from './preview.ts'
import { printList } from './print.ts'
import { COLUMNS, idOf, printRecurring } from './recurring-view.ts'
import { accountOf, amountOf, remittanceOf } from './values.ts'

const text = z.string().optional()

export const CreateRecurringOptions = z.object({
  frequency: z.string(),
  first: z.string(),
  next: text,
  final: text,
  amount: z.string(),
  currency: z.string(),
  to: z.string(),
  name: text,
  reference: text,
  from: text,
  idempotencyKey: text,
  dryRun: z.boolean().default(false),
})
type CreateRecurringOptions = z.infer<typeof CreateRecurringOptions>

export async function create(
  context: Context,
  { options }: CommandInput<CreateRecurringOptions>,
): Promise<CommandResult> {
  frequencyOf(options.frequency, '--frequency')
  await stoppable(context.client(), (client) => order(context, client, options))
  return undefined
}

async function order(context: Context, client: Client, options: CreateRecurringOptions): Promise<void> {
  const key = options.idempotencyKey ?? randomUUID()
  const facts: Record<string, string> = { idempotency_key: key }
  try {
    const body = { ...(await bodyOf(options)), ...(await debtorOf(client, options.from)) }
    checkBody(createRecurring, body)
    tellKey(context, { ...options, key })
    tellFirst(context, options, { key, facts, first: body.FirstPaymentDateTime })
    const input = { headers: { 'x-idempotency-key': key }, body }
    const made = await change(context, client, createRecurring, { input, options })
    if (made !== undefined) printRecurring(context, made)
  } catch (error) {
    throw withFacts(unlessThere(error, options), facts)
  }
}

/** What `now` was: a repeat has to say the same time, or it is another order. */
function tellFirst(
  { note }: Context,
  { first: text, dryRun }: CreateRecurringOptions,
  { key, facts, first }: { key: string; facts: Record<string, string>; first: string },
): void {
  if (!isFromNow(text) || dryRun) return
  facts['first_payment_at'] = first
  note(`First payment: ${first}. To repeat this very order: --first ${first} --idempotency-key ${key}`)
}

/** Where the time was reckoned anew, the order of before may stand under its key: another key would make a second one. */
function unlessThere(error: unknown, { first }: CreateRecurringOptions): unknown {
  const isTaken = error instanceof CliError && error.options.exit === EXIT.conflict
  if (!isTaken || !isFromNow(first)) return error
  const hint = 'whether it stands already: svc ob recurring list\nto repeat it: the --first that it was ordered with'
  return withHint(error, hint)
}

async function bodyOf(options: CreateRecurringOptions): Promise<z.input<typeof RecurringPaymentInitiation>> {
  const { next, final } = options
  return {
    Frequency: options.frequency,
    FirstPaymentDateTime: await firstMoment(options.first, '--first'),
    ...(next === undefined ? {} : { NextPaymentDateTime: await momentOf(next, '--next', MORNING) }),
    ...(final === undefined ? {} : { FinalPaymentDateTime: await momentOf(final, '--final', EVENING) }),
    InstructedAmount: amountOf(options),
    CreditorAccount: accountOf(options.to, options.name),
    ...remittanceOf(options.reference),
  }
}

function reader(client: Client): ObReader<RecurringPaymentResponse> {
  return async (query) => (await call(client, listRecurring, { query })).body
}

export async function list(context: Context, { options }: CommandInput<ObPaging>): Promise<CommandResult> {
  const { items, ...page } = await collect(options, idOf, reader(context.client()))
  printList(context, {
    items,
    schema: RecurringPaymentResponse,
    columns: COLUMNS,
    id: idOf,
    empty: emptyText('There are no recurring payments.', page),
  })
  tellMore(context, page)
  return undefined
}

/** A recurring payment, by its id or a part of it. */
export function recurringId(client: Client, given: string): Promise<string> {
  return resolveId(given, 'recurring payment', () => idsOf(reader(client), idOf))
}

export async function show(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const client = context.client()
  const params = { RecurringPaymentId: await recurringId(client, args[0] ?? '') }
  printRecurring(context, (await call(client, getRecurring, { params })).body)
  return undefined
}
