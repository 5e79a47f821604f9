import { z } from 'zod'
import { NoHeaders, None } from './common.ts'
import { operation } from './operation.ts'

/** What the service tells a bank that has called back: whether this call changed something. */
export const CallbackAccepted = z.strictObject({ status: z.enum(['accepted', 'already_known']) })

export const bankCallback = operation({
  name: 'bankCallback',
  method: 'POST',
  path: '/api/v1/bank/callbacks/{connector}',
  summary: 'A bank reports the outcome of an authorisation; the connector proves that it is the bank (decision 54)',
  access: ['bank'],
  params: z.strictObject({ connector: z.string() }),
  query: None,
  headers: NoHeaders,
  body: z.unknown(),
  replies: { 200: CallbackAccepted },
  errors: ['CONNECTOR_NOT_FOUND', 'UNAUTHENTICATED', 'PAYMENT_NOT_FOUND'],
})
