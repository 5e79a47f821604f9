import type { z } from 'zod'
import type { Dispute } from '../../src/wire/disputes.ts'
import type { CreatePayment, CreatedPayment } from '../../src/wire/payments.ts'
import type { SandboxAccount, SandboxCustomer } from '../../src/wire/sandbox-bank.ts'
import type { Client, Exchange } from '../client.ts'
import { StepFailure } from './failure.ts'
import type { Receiver } from './receiver.ts'
import { resolveReferences } from './references.ts'
import type { Unresolved } from './references.ts'
import type { Path } from './source.ts'

/** A payment that the case made, with what is needed to make it again. */
export type MadePayment = { name: string; created: CreatedPayment; key: string; body: CreatePayment }

/** A dispute that the case raised. */
export type MadeDispute = { name: string; dispute: Dispute }

/** A customer that the case made, and what acts as it. */
export type MadeCustomer = { name: string; customer: SandboxCustomer; account: SandboxAccount; client: Client }

/** A payment over the Open Banking API, of one of the case's customers. */
export type MadeOrder = { name: string; customer: MadeCustomer; id: string }

/** What a case has while it is played. */
export type CaseRun = {
  /** Acts as the case's own merchant. */
  client: Client
  merchant: {
    merchant_id: string
    client_id: string
    name: string
    /** The signing secret, and the one before its last rotation. */
    secret: string
    previousSecret: string | undefined
  }
  receiver: Receiver | undefined
  captures: Map<string, unknown>
  payments: MadePayment[]
  disputes: MadeDispute[]
  customers: MadeCustomer[]
  orders: MadeOrder[]
  lastExchange: Exchange | undefined
  /** When the case has to be over, of the monotonic clock. */
  deadline: number
  /** Ends waiting before its time: the case is over, or nobody wants its result any more. */
  signal: AbortSignal
}

/** Parses what follows a verb, with what earlier steps captured filled in. `keep` names fields that name a payment. */
export function readInput<Schema extends z.ZodType>(
  run: CaseRun,
  schema: Schema,
  input: unknown,
  keep: readonly string[] = [],
): z.output<Schema> {
  const resolved = Object.entries(Object(input)).map(([key, value]: [string, unknown]) => [
    key,
    keep.includes(key) ? value : fillIn(run, value, { at: [key] }),
  ])
  const parsed = schema.safeParse(Object.fromEntries(resolved))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new StepFailure(
    `${issue?.path.join('.') ?? ''} ${issue?.message ?? 'is wrong'}, once what it refers to is filled in`.trim(),
  )
}

/**
 * Fills in what earlier steps captured.
 * @throws {StepFailure} for a reference without a value: as text it would make requests that nobody wrote
 */
export function fillIn(
  run: CaseRun,
  value: unknown,
  { at, isBesideVerb = false }: { at: Path; isBesideVerb?: boolean },
): unknown {
  const lookup = (name: string): { value: unknown } | undefined => {
    if (name === 'merchant')
      return {
        value: { merchant_id: run.merchant.merchant_id, client_id: run.merchant.client_id, name: run.merchant.name },
      }
    return run.captures.has(name) ? { value: run.captures.get(name) } : undefined
  }
  const missing = ({ text, name, why, at: path }: Unresolved): never => {
    const isRefused = why === 'name'
    throw new StepFailure(
      isRefused ? `${text}: no step has given the name "${name}"` : `${text}: the answer has no such member`,
      {
        at: path,
        isBesideVerb,
        hint: isRefused ? 'its step was expected to be refused; a plain dollar sign is $$' : undefined,
      },
    )
  }
  return resolveReferences(value, lookup, { last: true, missing }, at)
}

/** The payment that `$p1` names. */
export function paymentOf(run: CaseRun, reference: string): MadePayment {
  const name = reference.replace(/[${}]/g, '')
  const found = run.payments.find((payment) => payment.name === name)
  if (found === undefined) throw new StepFailure(`${reference} was never made: its step was expected to be refused`)
  return found
}

/** The dispute that `$d1` names. */
export function disputeOf(run: CaseRun, reference: string): MadeDispute {
  const name = reference.replace(/[${}]/g, '')
  const found = run.disputes.find((dispute) => dispute.name === name)
  if (found === undefined) throw new StepFailure(`${reference} was never raised: its step was expected to be refused`)
  return found
}

/** The customer that `$c1` names. */
export function customerOf(run: CaseRun, reference: string): MadeCustomer {
  const name = reference.replace(/[${}]/g, '')
  const found = run.customers.find((customer) => customer.name === name)
  if (found === undefined) throw new StepFailure(`${reference} was never made: its step was expected to be refused`)
  return found
}

/** The payment over the Open Banking API that `$o1` names. */
export function orderOf(run: CaseRun, reference: string): MadeOrder {
  const name = reference.replace(/[${}]/g, '')
  const found = run.orders.find((order) => order.name === name)
  if (found === undefined) throw new StepFailure(`${reference} was never ordered: its step was expected to be refused`)
  return found
}

const FIRST_PAUSE_MS = 10
const LONGEST_PAUSE_MS = 250

/**
 * Looks until there is something, for at most `withinMs` and never longer than the case may take. A webhook that arrives
 * is a reason to look again at once. Undefined when the time is over.
 */
export async function pollFor<T>(
  run: CaseRun,
  withinMs: number,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const deadline = Math.min(performance.now() + withinMs, run.deadline)
  let pauseMs = FIRST_PAUSE_MS
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    const left = deadline - performance.now()
    if (left <= 0 || run.signal.aborted) return undefined
    await pause(run, Math.min(pauseMs, left))
    pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 1.5)
  }
}

async function pause(run: CaseRun, ms: number): Promise<void> {
  if (run.receiver !== undefined) return run.receiver.nextReceipt(ms)
  await new Promise((resolve) => setTimeout(resolve, ms))
}
