import { z } from 'zod'
import type { VerbTable } from './verb-table.ts'
import { Advance, CallerReference, ExpectedStatus, Matcher, Name, Text } from './parts.ts'

export const Clock = z.strictObject({ advance: Advance })

const ApiPath = z
  .string()
  .regex(/^[/$]/, 'must be a path below /api/v1, such as "/payments", or one that begins with /open-banking/')
  .optional()
export const Http = z.strictObject({
  get: ApiPath,
  post: ApiPath,
  put: ApiPath,
  delete: ApiPath,
  /** Who sends it; where nothing is said, the case's merchant, or its operator where the path is for operators. */
  by: CallerReference.optional(),
  headers: z.record(Text, Text).optional(),
  body: z.unknown().optional(),
  as: Name.optional(),
  expect: z
    .strictObject({
      http: ExpectedStatus.optional(),
      headers: z.record(Text, Matcher).optional(),
      body: Matcher.optional(),
    })
    .optional(),
})

export const REQUEST_VERBS = {
  clock: {
    schema: Clock,
    text: "Advances the clock of the case's merchant and of the customers it created.",
    examples: ['clock: { advance: 11h }'],
  },
  http: {
    schema: Http,
    text:
      'Sends any request below `/api/v1` or to `/open-banking/…`: as the merchant, or as an operator on `/admin/…` and ' +
      '`/sandbox/…`. `by` names another caller: a customer, a signed-in payer, another merchant, `operator` or `nobody`.',
    examples: [
      'http: { get: "/payments/$p1.payment_id", expect: { http: 200 } }',
      'http: { get: /open-banking/v1/accounts, by: $c1 }',
      'http: { get: "/payments/$p1.payment_id", expect: { http: 200, body: { status: Settled } } }',
      'http: { post: /payments, body: { amount: 5 }, expect: { http: 400 } }',
    ],
    makes: { kind: 'answer', members: ['http', 'headers', 'body'] },
  },
} as const satisfies VerbTable
