import { atBank, createPayment, serviceToken } from '../support/app.ts'
import { SAMPLES, bankCustomer, linkToken } from '../support/dry-run-requests.ts'
import type { Sample, SampleRequest } from '../support/dry-run-requests.ts'
import { dayFromNow, offerBody, requestBody } from '../support/payment-requests.ts'
import type { Operation } from '../../src/wire/operation.ts'
import type { Template } from './requests.ts'
import type { Caller, World } from './world.ts'

/** Requests that succeed: those of a dry run, and of operations that have none. */
export const SAMPLE_REQUESTS: Readonly<Record<string, Sample>> = {
  ...SAMPLES,
  completeSca: async ({ service, merchant }) => {
    const { body } = await createPayment(service, merchant)
    return { params: { id: body.payment_id }, body: await atBank(body.redirect_url, 'approve') }
  },
  advanceSandboxPayment: async ({ service, merchant, operator }) => {
    const { body } = await createPayment(service, merchant)
    return { headers: operator, params: { id: body.payment_id }, body: { to: 'Authorised' } }
  },
  advanceSandboxClock: ({ merchant, operator }) => ({
    headers: operator,
    body: { merchant_id: merchant.id, by: '1h' },
  }),
  createRequestToPay: async (scene) => {
    const { headers } = await bankCustomer(scene)
    const { email } = await bankCustomer(scene)
    return { headers, body: requestBody(email, { DueDate: await dayFromNow(scene.service, 10) }) }
  },
  createOfferToPay: async (scene) => {
    const { headers } = await bankCustomer(scene)
    return { headers, body: offerBody((await bankCustomer(scene)).email) }
  },
  verifyLink: async (scene) => {
    await createPayment(scene.service, scene.merchant, { payer_email: 'ada@payer.example' })
    return { body: { token: await linkToken(scene) } }
  },
}

function kindOf({ access }: Operation): Caller['kind'] {
  const [kind = 'anyone'] = access
  if (kind === 'sandbox') return 'platform'
  return kind === 'anyone' || kind === 'bank' ? 'none' : kind
}

/** What later requests of the operation are made from. */
export async function templateOf(
  world: World,
  operation: Operation,
  { merchant, headers = {}, params = {}, body }: SampleRequest,
): Promise<Template> {
  const { authorization, ...rest } = headers
  const proof: Record<string, string> = authorization === undefined ? {} : { authorization }
  if (merchant !== undefined) {
    const { realm, clientId, clientSecret: secret } = merchant
    proof['authorization'] = `Bearer ${await serviceToken(world.service.app.publicUrl, { realm, clientId, secret })}`
  }
  const caller = {
    name: 'of a sample',
    kind: merchant === undefined ? kindOf(operation) : ('merchant' as const),
    headers: proof,
    ...(merchant === undefined ? {} : { tenant: merchant.id }),
  }
  return { caller, headers: rest, params, body }
}
