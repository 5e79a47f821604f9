import { z } from 'zod'
import { isUuid } from '../../../src/lib/ids.ts'
import { advanceSandboxClock } from '../../../src/wire/sandbox.ts'
import { call } from '../../client.ts'
import type { Client } from '../../client.ts'
import { durationOf } from '../../context.ts'
import type { CommandInput, CommandResult, Context } from '../../context.ts'
import { usageError } from '../../errors.ts'
import { findMerchant } from '../../find-merchant.ts'
import { runningState } from '../../find-service.ts'
import { ADVANCE_TIMEOUT_MS } from '../../scenario/verbs/clock.ts'

export const AdvanceOptions = z.object({ merchant: z.string().optional() })

/** `svc sandbox clock advance`: time passes for one merchant, the demo merchant where none is named. */
export async function advance(
  context: Context,
  { args, options }: CommandInput<z.infer<typeof AdvanceOptions>>,
): Promise<CommandResult> {
  const [by = ''] = args
  durationOf(by, '<duration>')
  const client = context.client()
  const merchantId = await merchantOf(context, client, options.merchant)
  const { body } = await call({ ...client, timeoutMs: ADVANCE_TIMEOUT_MS }, advanceSandboxClock, {
    body: { merchant_id: merchantId, by },
  })
  context.print.record({
    item: body,
    id: body.merchant_id,
    lines: [
      ['Merchant', body.merchant_id],
      ['Advanced by', by],
      ['Due times on the way', String(body.stops)],
    ],
  })
  return undefined
}

/** The one that is named, as operators name merchants; a whole id needs no look-up. */
async function merchantOf({ stateDir }: Context, client: Client, given: string | undefined): Promise<string> {
  if (given !== undefined) return isUuid(given) ? given : (await findMerchant(client, [given])).merchant.id
  const state = runningState(stateDir)
  if (state?.api_url !== client.apiUrl)
    throw usageError('whose time is to pass? No merchant is named', '--merchant <merchant>')
  return state.merchant.id
}
