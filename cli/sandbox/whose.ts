import { isUuid } from '../../src/lib/ids.ts'
import { usageError } from '../base/errors.ts'
import type { Client } from '../client/call.ts'
import { runningState } from '../client/find-service.ts'
import type { Context } from '../kit/context.ts'
import { findMerchant } from '../merchants/find.ts'

/** The id of a merchant as operators name it; a whole id needs no look-up. */
export async function idOfMerchant(client: Client, given: string): Promise<string> {
  return isUuid(given) ? given : (await findMerchant(client, given)).merchant.id
}

export async function merchantOrDemo(
  { stateDir }: Context,
  client: Client,
  { merchant, hint }: { merchant: string | undefined; hint: string },
): Promise<string> {
  if (merchant !== undefined) return idOfMerchant(client, merchant)
  const state = runningState(stateDir)
  if (state?.api_url !== client.apiUrl) throw usageError('which merchant? None is named', hint)
  return state.merchant.id
}
