import type { z } from 'zod'
import type { Dispute } from '../../../src/wire/dispute-fields.ts'
import type { CreatePayment } from '../../../src/wire/new-payment.ts'
import type { CreatedPayment, ScaComplete } from '../../../src/wire/payments.ts'
import type { SandboxAccount, SandboxCustomer } from '../../../src/wire/sandbox-bank.ts'
import type { Client, Exchange } from '../../client/call.ts'
import { StepFailure } from '../failure.ts'
import { referenceFieldsOf } from '../language/parts.ts'
import type { ReferenceKind } from '../language/parts.ts'
import type { NewKey } from './keys.ts'
import type { Receiver } from './receiver.ts'
import { resolveReferences } from '../read/references.ts'
import type { Unresolved } from '../read/references.ts'
import type { Path } from '../read/source.ts'

export type MadePayment = {
  created: CreatedPayment
  key: string
  body: CreatePayment
  /** The checkout token that it was started with. */
  token?: string | undefined
  /** What the bank sent the payer back with, the last time. */
  sentBack?: ScaComplete | undefined
}

export type MadeCustomer = { customer: SandboxCustomer; account: SandboxAccount; client: Client }

/** A request or an offer to pay; who it was sent to is known where that is one of the case's customers. */
export type MadeRequest = { maker: MadeCustomer; other: MadeCustomer | undefined; id: string }

export type ActingMerchant = Pick<CaseRun, 'client' | 'merchant' | 'receiver'>

/** What steps make, by the kind that references name it by. */
export type MadeOf = {
  payment: MadePayment
  dispute: { dispute: Pick<Dispute, 'id'> }
  customer: MadeCustomer
  order: { customer: MadeCustomer; id: string }
  /** A payer's way into the hub, which works once, and a session there. */
  link: { token: string }
  payer: { sessionToken: string }
  recurring: { customer: MadeCustomer; id: string }
  request: MadeRequest
  offer: MadeRequest
  merchant: ActingMerchant
  'bank account': { id: string }
}
export type MadeKind = ReferenceKind & keyof MadeOf
export type Made = { [Kind in MadeKind]: { kind: Kind; name: string } & MadeOf[Kind] }[MadeKind]
export type MadeAs<K extends MadeKind> = Extract<Made, { kind: K }>

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
    realm: string
    /** Of client_id; undefined without an identity provider. */
    clientSecret: string | undefined
  }
  receiver: Receiver | undefined
  captures: Map<string, unknown>
  /** In the order in which it was made; the name is empty where nothing refers to it. */
  made: Made[]
  lastExchange: Exchange | undefined
  /** When the case has to be over, of the monotonic clock. */
  deadline: number
  /** Ends waiting before its time: the case is over, or its result is no longer wanted. */
  signal: AbortSignal
  /** Makes keys for what steps make; of a run with a seed, the same ones each time. */
  newKey: NewKey
  isSeeded: boolean
  /** Where commands of `exec` run; undefined where they are not allowed. */
  exec?: { env: NodeJS.ProcessEnv; cwd: string } | undefined
}

/**
 * Parses what follows a verb, with what earlier steps captured filled in; fields that name something as a whole keep
 * its name.
 */
export function readInput<Schema extends z.ZodType>(run: CaseRun, schema: Schema, input: unknown): z.output<Schema> {
  const named = referenceFieldsOf(schema)
  const resolved = Object.entries(Object(input)).map(([key, value]: [string, unknown]) => [
    key,
    named.has(key) && typeof value === 'string' ? value : fillIn(run, value, { at: [key] }),
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
 * @throws {StepFailure} for a reference without a value: as text it would make requests that are in no file
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
        hint: isRefused ? 'its step was expected to be rejected; a plain dollar sign is $$' : undefined,
      },
    )
  }
  return resolveReferences(value, lookup, { last: true, missing }, at)
}

/**
 * What a reference such as `$p1` names; the newest where a name was given again.
 * @throws {StepFailure} where its step did not make it
 */
export function madeOf<K extends MadeKind>(run: CaseRun, kind: K, reference: string): MadeAs<K> {
  const name = reference.replace(/[${}]/g, '')
  const found = run.made.findLast((each): each is MadeAs<K> => each.kind === kind && each.name === name)
  if (found === undefined) throw new StepFailure(`${reference} was never made: its step was expected to be rejected`)
  return found
}

type WithoutName<M> = M extends Made ? Omit<M, 'name'> : never
export type Unnamed = WithoutName<Made>

/** Remembers what a step has made, and what later steps may ask of it, by the name that the step gives it, if any. */
export function keep(run: CaseRun, name: string | undefined, made: Unnamed | undefined, shown: unknown): void {
  if (name === undefined) return
  run.captures.set(name, shown)
  if (made !== undefined) run.made.push({ ...made, name } as Made)
}

const OWN_MERCHANT = '$merchant'

/** The merchant that a reference names: the run's own where it names none, or `$merchant`. */
export function merchantOf(run: CaseRun, reference: string = OWN_MERCHANT): ActingMerchant {
  return plain(reference) === OWN_MERCHANT ? run : madeOf(run, 'merchant', reference)
}

export function isMerchant(run: CaseRun, reference: string): boolean {
  return plain(reference) === OWN_MERCHANT || isMade(run, 'merchant', reference)
}

/** Whether a reference that may name several kinds of thing names one of this kind. */
export function isMade({ made }: CaseRun, kind: MadeKind, reference: string): boolean {
  return made.some((each) => each.kind === kind && `$${each.name}` === plain(reference))
}

function plain(reference: string): string {
  return reference.replace(/[{}]/g, '')
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

/**
 * Plays a step as another merchant of the case, by its name. `$merchant` is that one in it, and what the step changes of
 * it, such as its signing secret or its receiver, is kept.
 * @throws {StepFailure} where there is no such merchant
 */
export async function playAs(
  run: CaseRun,
  reference: string | undefined,
  play: (run: CaseRun) => Promise<void>,
): Promise<void> {
  const acting = merchantOf(run, reference)
  if (acting === run) return play(run)
  const { client, merchant, receiver } = acting
  const view: CaseRun = Object.assign(Object.create(run), { client, merchant, receiver })
  try {
    await play(view)
  } finally {
    // Only what this step has changed: another branch may have changed the rest meanwhile.
    if (view.merchant !== merchant) acting.merchant = view.merchant
    if (view.receiver !== receiver) acting.receiver = view.receiver
  }
}
