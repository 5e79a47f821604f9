import { createSandboxMerchant } from '../../../src/wire/sandbox.ts'
import type { NewSandboxMerchant, SandboxMerchant } from '../../../src/wire/sandbox.ts'
import { call } from '../../client/call.ts'
import type { ActingMerchant, CaseRun } from './case-run.ts'
import type { Receiver } from './receiver.ts'

type MakeMerchantInput = {
  [Field in Exclude<keyof NewSandboxMerchant, 'kyb_status' | 'webhook_url' | 'reference'>]?:
    | NewSandboxMerchant[Field]
    | undefined
} & { kyb?: NewSandboxMerchant['kyb_status'] | undefined }

/** Makes a merchant for the case, whose webhooks go to the receiver. The answer holds secrets, which no report may show. */
export async function makeMerchant(
  run: CaseRun,
  { kyb, ...fields }: MakeMerchantInput,
  receiver: Receiver | undefined,
): Promise<{ acting: ActingMerchant; body: SandboxMerchant }> {
  const { body } = await call(run.client, createSandboxMerchant, {
    body: {
      ...fields,
      reference: run.newKey('merchant', kyb, fields),
      kyb_status: kyb,
      webhook_url: receiver?.url ?? null,
    },
  })
  run.lastExchange = undefined
  receiver?.trust(body.webhook_signing_secret)
  return { acting: { ...actingAs(run, body), receiver }, body }
}

type Credentials = Pick<
  SandboxMerchant,
  'merchant_id' | 'client_id' | 'client_secret' | 'realm_slug' | 'webhook_signing_secret' | 'name'
>

/** What acts as a merchant, by the credentials that it was created with. */
export function actingAs(run: CaseRun, made: Credentials): ActingMerchant {
  const { merchant_id, client_id, name, realm_slug: realm, webhook_signing_secret: secret } = made
  const clientSecret = made.client_secret ?? undefined
  const merchant = { realm, clientId: client_id, clientSecret: clientSecret ?? '' }
  return {
    client: { ...run.client, credentials: run.client.credentials.asMerchant(merchant) },
    merchant: { merchant_id, client_id, name, realm, clientSecret, secret, previousSecret: undefined },
    receiver: undefined,
  }
}
