import { repairRegistration } from '../../src/wire/registration.ts'
import type { Client } from '../client/call.ts'
import { isMerchantRealm, isOfRegistration } from './find.ts'
import { wouldRefuse } from '../client/would-refuse.ts'

type Wish = { rollback: boolean; adminEmail?: string | undefined }

/**
 * What a repair would come to; what the identity provider is without is seen by the repair alone (decisions 47 and 48).
 * @throws {CliError} exit code 6 for a name that nobody has, 7 for a rollback of a merchant that is there
 */
export async function effectOfRepair(client: Client, slug: string, { rollback, adminEmail }: Wish): Promise<string> {
  const isMerchant = await isMerchantRealm(client, slug)
  const refuse = (code: string, status: number, message: string, next?: string) =>
    wouldRefuse(client, repairRegistration, {
      input: { params: { slug } },
      refusal: { code, status, message, ...(next === undefined ? {} : { next }) },
    })
  if (isMerchant && rollback)
    throw refuse(
      'REGISTRATION_COMPLETE',
      409,
      'a complete registration cannot be rolled back',
      `disable the merchant instead: svc merchants disable ${slug} --reason "..."`,
    )
  if (!isMerchant && !(await isOfRegistration(client, slug)))
    throw refuse('REGISTRATION_NOT_FOUND', 404, 'registration not found')
  if (rollback) return `this would take the realm ${slug} away, as far as it was made, and free its name`
  const admin = adminEmail === undefined ? '' : `, with ${adminEmail} as its administrator`
  return isMerchant
    ? `this would make again what the realm ${slug} is without${admin}`
    : `this would finish what is half-made of ${slug}, where anything is left of it${admin}`
}
