import {
  acceptOfferToPay,
  acceptRequestToPay,
  createOfferToPay,
  createRequestToPay,
  getOfferToPay,
  getRequestToPay,
  rejectOfferToPay,
  rejectRequestToPay,
} from '../../../src/wire/payment-requests.ts'
import type { OfferToPayResponse, RequestToPayResponse } from '../../../src/wire/payment-requests.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import { dayFrom } from '../../base/moments.ts'
import { awaitThat } from '../play/await-that.ts'
import { keep, madeOf, readInput } from '../play/case-run.ts'
import type { CaseRun, MadeCustomer, MadeRequest } from '../play/case-run.ts'
import { StepFailure } from '../failure.ts'
import { refuseDifferences } from '../assert-matches.ts'
import {
  AwaitOffer,
  AwaitRequest,
  DecideOffer,
  DecideRequest,
  ExpectOffer,
  ExpectRequest,
  OfferStep,
  RequestStep,
} from '../language/instructions.ts'
import { differencesOf } from '../matchers.ts'
import { clientOf, statusText } from './customers.ts'
import { refuseUnlike } from './refuse-unlike.ts'

const IN_A_WEEK = '7d'

type Answer = RequestToPayResponse | OfferToPayResponse
type Kind = 'request' | 'offer'

/** Asks somebody for money, as a customer, or decides about what was asked. */
export async function request(run: CaseRun, given: unknown): Promise<void> {
  if (DecideRequest.safeParse(given).success) return decide(run, 'request', readInput(run, DecideRequest, given))
  const input = readInput(run, RequestStep, given)
  const maker = madeOf(run, 'customer', input.from)
  const reply = await call(clientOf(run, maker), createRequestToPay, {
    headers: { 'x-idempotency-key': input.idempotency_key ?? run.newKey('request', given) },
    body: {
      PayeeName: input.name ?? maker.customer.name,
      PayerIdentifier: identifierOf(run, input),
      AmountRequested: amountOf(input, maker),
      DueDate: await dayFrom(input.due ?? IN_A_WEEK, 'due'),
      Reference: input.reference,
    },
  })
  remember(run, { kind: 'request', ...input }, { maker, id: reply.body.RequestToPayId, body: reply.body })
  refuseUnlike('the request to pay', reply, { usual: 201, expected: input.expect })
}

/** Offers somebody money, as a customer, or decides about what was offered. */
export async function offer(run: CaseRun, given: unknown): Promise<void> {
  if (DecideOffer.safeParse(given).success) return decide(run, 'offer', readInput(run, DecideOffer, given))
  const input = readInput(run, OfferStep, given)
  const maker = madeOf(run, 'customer', input.from)
  const reply = await call(clientOf(run, maker), createOfferToPay, {
    headers: { 'x-idempotency-key': input.idempotency_key ?? run.newKey('offer', given) },
    body: {
      PayerName: input.name ?? maker.customer.name,
      PayeeIdentifier: identifierOf(run, input),
      AmountOffered: amountOf(input, maker),
      Reference: input.reference,
    },
  })
  remember(run, { kind: 'offer', ...input }, { maker, id: reply.body.OfferToPayId, body: reply.body })
  refuseUnlike('the offer to pay', reply, { usual: 201, expected: input.expect })
}

type Sent = {
  to?: string | undefined
  identifier?: string | undefined
  found_by?: 'email' | 'mobile' | 'proxy_id' | undefined
}

/** By what whoever it is sent to is found. */
function identifierOf(run: CaseRun, { to, identifier: said = '', found_by = 'email' }: Sent): string {
  if (to === undefined) return said
  const identifier = madeOf(run, 'customer', to).customer[found_by]
  if (identifier !== null) return identifier
  throw new StepFailure(`${to} has no ${found_by} to be found by`, { at: ['to'] })
}

function amountOf(
  { amount, currency }: { amount: string; currency?: string | undefined },
  { account }: MadeCustomer,
): { Amount: string; Currency: string } {
  return { Amount: amount, Currency: currency ?? account.currency }
}

function remember(
  run: CaseRun,
  { kind, as, to }: Sent & { kind: Kind; as?: string | undefined },
  { maker, id, body }: { maker: MadeCustomer; id: string; body: Answer },
): void {
  const other = to === undefined ? undefined : madeOf(run, 'customer', to)
  keep(run, as, { kind, maker, other, id }, body)
}

type Decision = {
  [Verdict in 'accept' | 'reject' | 'cancel' | 'by' | 'account_id']?: string | undefined
} & { expect?: Readonly<Record<string, unknown>> | undefined }

/** Who was sent it accepts or rejects it; who made it takes it back. */
async function decide(run: CaseRun, kind: Kind, decision: Decision): Promise<void> {
  const { accept, reject, cancel, by, account_id: AccountId, expect } = decision
  const made = madeOf(run, kind, accept ?? reject ?? cancel ?? '')
  const client = clientOf(run, decider(run, made, { by, isMaker: cancel !== undefined }))
  const body = AccountId === undefined ? undefined : { AccountId }
  const reply = accept === undefined ? await REJECT[kind](client, made.id) : await ACCEPT[kind](client, made.id, body)
  refuseUnlike(kind === 'request' ? 'the request to pay' : 'the offer to pay', reply, { usual: 200, expected: expect })
}

function decider(
  run: CaseRun,
  { maker, other }: MadeRequest,
  { by, isMaker }: { by: string | undefined; isMaker: boolean },
): MadeCustomer {
  if (by !== undefined) return madeOf(run, 'customer', by)
  const usual = isMaker ? maker : other
  if (usual !== undefined) return usual
  throw new StepFailure('it was sent to no customer of this case: say who decides', { hint: 'by: $c2' })
}

type Reply = Promise<{ status: number; body: Answer }>
type Accept = (client: Client, id: string, body: { AccountId: string } | undefined) => Reply

const ACCEPT: Readonly<Record<Kind, Accept>> = {
  request: (client, id, body) => call(client, acceptRequestToPay, { params: { RequestToPayId: id }, body }),
  offer: (client, id, body) => call(client, acceptOfferToPay, { params: { OfferToPayId: id }, body }),
}
const REJECT: Readonly<Record<Kind, (client: Client, id: string) => Reply>> = {
  request: (client, id) => call(client, rejectRequestToPay, { params: { RequestToPayId: id } }),
  offer: (client, id) => call(client, rejectOfferToPay, { params: { OfferToPayId: id } }),
}
const GET: Readonly<Record<Kind, (client: Client, id: string) => Reply>> = {
  request: (client, id) => call(client, getRequestToPay, { params: { RequestToPayId: id } }),
  offer: (client, id) => call(client, getOfferToPay, { params: { OfferToPayId: id } }),
}

export async function awaitRequest(run: CaseRun, given: unknown): Promise<void> {
  const isRequest = AwaitRequest.safeParse(given).success
  const kind = isRequest ? 'request' : 'offer'
  const { status: wanted, within, ...input } = readInput(run, isRequest ? AwaitRequest : AwaitOffer, given)
  const reference = 'request' in input ? input.request : input.offer
  await awaitThat(run, {
    what: reference,
    wanted,
    within,
    look: () => requestNow(run, kind, { reference }),
    isThere: ({ Status }) => Status === wanted,
    isOver: ({ Status }) => Status === 'Rejected' || Status === 'Paid',
    now: statusText,
    hint: (last) =>
      last?.Status === 'Sent'
        ? `nobody has decided yet: ${kind}: { accept: ${reference} } before this step`
        : undefined,
  })
}

export async function expectRequest(run: CaseRun, given: unknown): Promise<void> {
  const { request: reference, by, ...expected } = readInput(run, ExpectRequest, given)
  refuseDifferences(reference, differencesOf(expected, await requestNow(run, 'request', { reference, by })))
}

export async function expectOffer(run: CaseRun, given: unknown): Promise<void> {
  const { offer: reference, by, ...expected } = readInput(run, ExpectOffer, given)
  refuseDifferences(reference, differencesOf(expected, await requestNow(run, 'offer', { reference, by })))
}

async function requestNow(
  run: CaseRun,
  kind: Kind,
  { reference, by }: { reference: string; by?: string | undefined },
): Promise<Answer> {
  const { maker, id } = madeOf(run, kind, reference)
  const client = clientOf(run, by === undefined ? maker : madeOf(run, 'customer', by))
  return (await GET[kind](client, id)).body
}
