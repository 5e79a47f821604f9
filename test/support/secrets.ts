import type { Answer, TestMerchant, TestService } from './app.ts'

const PATH = '/api/v1/portal/webhook-secret'

/** The API's response to a rotation; an object is its body. */
export function rotate(service: TestService, merchant: TestMerchant, body?: unknown): Promise<Answer> {
  return service.call('POST', `${PATH}/rotate`, { merchant, ...(body === undefined ? {} : { body }) })
}

export function endOverlap(service: TestService, merchant: TestMerchant): Promise<Answer> {
  return service.call('DELETE', `${PATH}/previous`, { merchant })
}

export function showSecret(service: TestService, merchant: TestMerchant, query = ''): Promise<Answer> {
  return service.call('GET', `${PATH}${query}`, { merchant })
}

/** Lets the overlap of a merchant's rotation pass: now, or soon. */
export async function passOverlap(
  { owner }: Pick<TestService, 'owner'>,
  { id }: TestMerchant,
  soon = '-1 second',
): Promise<void> {
  await owner.query(
    `update merchants set webhook_secret_previous_expires_at = now() + $2::interval
     where id = $1 and webhook_secret_previous is not null`,
    [id, soon],
  )
}

export type StoredSecrets = { current: string; previous: string | null; secondsLeft: number | null }

/** The sealed columns as they are stored. */
export async function storedSecrets(
  { owner }: Pick<TestService, 'owner'>,
  { id }: TestMerchant,
): Promise<StoredSecrets> {
  const { rows } = await owner.query(
    `select webhook_signing_secret as current, webhook_secret_previous as previous,
       extract(epoch from webhook_secret_previous_expires_at - now())::float8 as "secondsLeft"
     from merchants where id = $1`,
    [id],
  )
  return rows[0]
}
