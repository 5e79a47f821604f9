import { z } from 'zod'
import type { Operation } from '../../../src/wire/operation.ts'
import {
  OfferToPayResponse,
  PaymentRequestStatus,
  RequestToPayResponse,
  acceptOfferToPay,
  acceptRequestToPay,
  createOfferToPay,
  createRequestToPay,
  getOfferToPay,
  getRequestToPay,
  rejectOfferToPay,
  rejectRequestToPay,
} from '../../../src/wire/payment-requests.ts'
import { dayFrom } from '../../base/moments.ts'
import { call } from '../../client/call.ts'
import { StepFailure } from '../failure.ts'
import { Ref, Text, Wait, expectedOf, matchersOf, made } from '../language/parts.ts'
import { memberOf } from '../member.ts'
import { madeOf } from '../play/case-run.ts'
import type { CaseRun, MadeRequest } from '../play/case-run.ts'
import { asCustomer, statusText } from './customers.ts'
import type { WithStatus } from './customers.ts'
import { When, amountOf, by, creating, otherwise } from './instructions.ts'
import type { Money } from './instructions.ts'
import { form, holds, sends, verb, waits } from './verb.ts'
import type { Subject } from './verb.ts'

/** What requests and offers have in common: one side makes it, the other accepts or rejects it. */
const asked = {
  ...creating,
  /** Whom it is sent to, by the e-mail address; or any e-mail address, mobile number or proxy id. */
  to: Ref.customer.optional(),
  identifier: Text.optional(),
  /** The maker's own where nothing is said. */
  name: Text.optional(),
  /** Of a request: in a week where nothing is said. */
  due: When.optional(),
}
const PaymentRequestInput = z.object(asked)
type PaymentRequestInput = z.output<typeof PaymentRequestInput>

/** Exactly one of the first three; who was sent it accepts or rejects it, who made it takes it back. */
const Decision = z.object({
  accept: Text.optional(),
  reject: Text.optional(),
  cancel: Text.optional(),
  by,
  /** Which account of who accepts is meant. */
  account_id: Text.optional(),
})
type Decision = z.output<typeof Decision>

function isDecision(input: Decision): boolean {
  return [input.accept, input.reject, input.cancel].filter((one) => one !== undefined).length === 1
}

type Exchange<Kind extends 'request' | 'offer', Ref extends z.ZodType, Reply extends z.ZodRawShape> = {
  kind: Kind
  reference: Ref
  reply: z.ZodObject<Reply>
  operations: Record<'create' | 'accept' | 'reject' | 'get', Operation>
  /** How requests and answers name it. */
  id: string
  body(input: PaymentRequestInput, sides: { maker: string; identifier: string; money: Money }): unknown
}

function exchangeOf<Kind extends 'request' | 'offer', Ref extends z.ZodType, Reply extends z.ZodRawShape>({
  kind,
  reference,
  reply,
  operations: { create, accept, reject, get },
  id,
  body,
}: Exchange<Kind, Ref, Reply>) {
  const what = `the ${kind} to pay`
  const named = { [kind]: reference } as Record<Kind, Ref>
  const nameIn = (input: object): string => String(memberOf(input, kind))
  const paramsOf = (made: MadeRequest): { params: object } => ({ params: { [id]: made.id } })
  const creation = sends<PaymentRequestInput, Operation>({
    operation: create,
    what,
    by: (run, { from }) => asCustomer(run, from),
    request: async (run, input) => ({
      body: await body(input, {
        maker: input.name ?? madeOf(run, 'customer', input.from).customer.name,
        identifier: input.identifier ?? madeOf(run, 'customer', input.to ?? '').customer.email ?? '',
        money: amountOf(run, input),
      }),
    }),
    made: (run, answer, { from, to }) => ({
      kind: kind as 'request' | 'offer',
      maker: madeOf(run, 'customer', from),
      other: to === undefined ? undefined : madeOf(run, 'customer', to),
      id: String(memberOf(answer, id)),
    }),
  })
  const decided = (run: CaseRun, input: Decision): MadeRequest =>
    madeOf<'request' | 'offer'>(run, kind, input.accept ?? input.reject ?? input.cancel ?? '')
  const decision = (operation: Operation) =>
    sends<Decision, Operation>({
      operation,
      what,
      by(run, input) {
        const { maker, other } = decided(run, input)
        const usual = input.cancel === undefined ? other : maker
        if (usual !== undefined || input.by !== undefined) return otherwise(run, input.by, usual ?? maker)
        throw new StepFailure('it was sent to no customer of this case: say who decides', { hint: 'by: $c2' })
      },
      request: (run, input) => ({
        ...paramsOf(decided(run, input)),
        body:
          input.accept === undefined || input.account_id === undefined ? undefined : { AccountId: input.account_id },
      }),
    })
  const acceptance = decision(accept)
  const rejection = decision(reject)
  const now = async (run: CaseRun, input: { by?: string | undefined }): Promise<WithStatus> => {
    const made = madeOf<'request' | 'offer'>(run, kind, nameIn(input))
    const answer = await call(otherwise(run, input.by, made.maker), get, paramsOf(made))
    return answer.body as WithStatus
  }
  return {
    schema: z.union([
      z
        .strictObject({ ...asked, expect: expectedOf(reply) })
        .refine((input) => 'to' in input !== 'identifier' in input, { message: 'takes one of to and identifier' }),
      z
        .strictObject({
          ...Decision.shape,
          accept: z.optional(reference),
          reject: z.optional(reference),
          cancel: z.optional(reference),
          expect: expectedOf(reply),
        })
        .refine((input) => isDecision(input as Decision), { message: 'takes one of accept, reject and cancel' }),
    ]),
    makes: made(kind, reply),
    play: (run: CaseRun, input: object, given: unknown): Promise<void> => {
      if ('from' in input) return creation(run, input as PaymentRequestInput, given)
      return ('accept' in input ? acceptance : rejection)(run, input as Decision, given)
    },
    awaits: {
      schema: z.strictObject({ ...named, status: PaymentRequestStatus, within: Wait.optional() }),
      play: waits(now, (input: object) => ({
        what: nameIn(input),
        status: ({ Status }) => Status,
        now: statusText,
        isOver: ['Rejected', 'Paid'],
        hint: (last) =>
          last?.Status === 'Sent'
            ? `it is not decided yet: ${kind}: { accept: ${nameIn(input)} } before this step`
            : undefined,
      })),
    },
    expects: {
      schema: z.strictObject({ ...matchersOf(reply), ...named, by }),
      play: holds({ what: nameIn, now, beside: [kind, 'by'] }),
    },
  }
}

const IN_A_WEEK = '7d'

const requests = exchangeOf({
  kind: 'request',
  reference: Ref.request,
  reply: RequestToPayResponse,
  operations: {
    create: createRequestToPay,
    accept: acceptRequestToPay,
    reject: rejectRequestToPay,
    get: getRequestToPay,
  },
  id: 'RequestToPayId',
  body: async ({ due = IN_A_WEEK, reference }, { maker, identifier, money }) => ({
    PayeeName: maker,
    PayerIdentifier: identifier,
    AmountRequested: money,
    DueDate: await dayFrom(due, 'due'),
    Reference: reference,
  }),
})
const offers = exchangeOf({
  kind: 'offer',
  reference: Ref.offer,
  reply: OfferToPayResponse,
  operations: { create: createOfferToPay, accept: acceptOfferToPay, reject: rejectOfferToPay, get: getOfferToPay },
  id: 'OfferToPayId',
  body: ({ reference }, { maker, identifier, money }) => ({
    PayerName: maker,
    PayeeIdentifier: identifier,
    AmountOffered: money,
    Reference: reference,
  }),
})

export const REQUEST_TO_PAY_VERBS = {
  request: verb({
    ...requests,
    text: 'Requests money. The other side accepts or rejects, the author cancels.',
    examples: ['request: { as: r1, from: $c2, to: $c1, amount: "10.00" }', 'request: { accept: $r1 }'],
  }),
  offer: verb({
    ...offers,
    text: 'Offers money, likewise.',
    examples: ['offer: { as: f1, from: $c1, to: $c2, amount: "10.00" }', 'offer: { reject: $f1 }'],
  }),
}

export const REQUEST = {
  subject: 'A request, an offer',
  awaits: [
    form({ ...requests.awaits, examples: ['await: { request: $r1, status: Paid }'] }),
    form({ ...offers.awaits, examples: [] }),
  ],
  expects: [
    form({ ...requests.expects, examples: [] }),
    form({ ...offers.expects, examples: ['expect: { offer: $f1, Status: Rejected }'] }),
  ],
} as const satisfies Subject
