import { z } from 'zod'
import { NoBody, NoHeaders, None } from './common.ts'
import { operation } from './operation.ts'

/** A bank that a payer can choose (decision 61). */
export const Bank = z.strictObject({
  id: z.string().meta({ examples: ['mock-albion'] }),
  name: z.string(),
  popular: z.boolean(),
  logo: z.string().meta({ description: 'the path of an image on this service' }),
  available: z.boolean().meta({ description: 'false while the bank does not answer' }),
  unavailable_since: z
    .string()
    .nullable()
    .meta({
      description: 'when the bank stopped responding; null while it responds, or where that is not the reason',
      examples: [null],
    }),
})
export type Bank = z.infer<typeof Bank>

export const listBanks = operation({
  name: 'listBanks',
  method: 'GET',
  path: '/api/v1/banks',
  summary: 'List the banks that a payer can choose, popular first',
  access: ['anyone'],
  params: None,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: z.strictObject({ data: z.array(Bank) }) },
  errors: [],
})

/** The response to a bank's callback: whether the call changed something. */
export const CallbackAccepted = z.strictObject({ status: z.enum(['accepted', 'already_known']) })

export const bankCallback = operation({
  name: 'bankCallback',
  method: 'POST',
  path: '/api/v1/bank/callbacks/{connector}',
  summary: 'Receive the outcome of an authorisation from a bank',
  description: 'The connector verifies that the callback comes from the bank.', // decision 54
  access: ['bank'],
  params: z.strictObject({ connector: z.string() }),
  query: None,
  headers: NoHeaders,
  body: z.unknown(),
  replies: { 200: CallbackAccepted },
  errors: ['CONNECTOR_NOT_FOUND', 'UNAUTHENTICATED', 'PAYMENT_NOT_FOUND'],
})
