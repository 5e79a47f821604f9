import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { createOfferToPay, createRequestToPay } from '../../src/wire/payment-requests.ts'
import { change, checkBody } from '../kit/change.ts'
import type { Client } from '../client/call.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { withFacts } from '../base/errors.ts'
import { stoppable } from '../client/interruptible.ts'
import { dayFrom } from '../base/moments.ts'
import { tellKey } from './pay.ts'
import { printRequest } from './request-actions.ts'
import { OFFERS, REQUESTS } from './requests.ts'
import { amountOf } from './values.ts'

export const CreateOfferOptions = z.object({
  to: z.string(),
  amount: z.string(),
  currency: z.string(),
  name: z.string(),
  reference: z.string().optional(),
  idempotencyKey: z.string().optional(),
  dryRun: z.boolean().default(false),
})
export const CreateRequestOptions = CreateOfferOptions.extend({ due: z.string() })
type CreateOfferOptions = z.infer<typeof CreateOfferOptions>

/** `svc ob request-to-pay create`. */
export async function createRequest(
  context: Context,
  { options }: CommandInput<z.infer<typeof CreateRequestOptions>>,
): Promise<CommandResult> {
  const body = {
    PayeeName: options.name,
    PayerIdentifier: options.to,
    AmountRequested: amountOf(options),
    DueDate: await dayFrom(options.due, '--due'),
    ...referenceOf(options),
  }
  checkBody(createRequestToPay, body)
  const made = await keyed(context, options, (client, headers) =>
    change(context, client, createRequestToPay, { input: { headers, body }, options }),
  )
  if (made !== undefined) printRequest(context, REQUESTS, made)
  return undefined
}

/** `svc ob offer-to-pay create`. */
export async function createOffer(
  context: Context,
  { options }: CommandInput<CreateOfferOptions>,
): Promise<CommandResult> {
  const body = {
    PayerName: options.name,
    PayeeIdentifier: options.to,
    AmountOffered: amountOf(options),
    ...referenceOf(options),
  }
  checkBody(createOfferToPay, body)
  const made = await keyed(context, options, (client, headers) =>
    change(context, client, createOfferToPay, { input: { headers, body }, options }),
  )
  if (made !== undefined) printRequest(context, OFFERS, made)
  return undefined
}

function referenceOf({ reference }: CreateOfferOptions): { Reference?: string } {
  return reference === undefined ? {} : { Reference: reference }
}

/** Sends under a key, with which the same command can be repeated after a failure. */
async function keyed<T>(
  context: Context,
  options: CreateOfferOptions,
  send: (client: Client, headers: { 'x-idempotency-key': string }) => Promise<T>,
): Promise<T> {
  const key = options.idempotencyKey ?? randomUUID()
  tellKey(context, { ...options, key })
  return stoppable(context.client(), async (client) => {
    try {
      return await send(client, { 'x-idempotency-key': key })
    } catch (error) {
      throw withFacts(error, { idempotency_key: key })
    }
  })
}
