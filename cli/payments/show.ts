import { z } from 'zod'
import { getAdminPayment } from '../../src/wire/console.ts'
import { meansAllMerchants } from '../client/auth/acting-side.ts'
import { call } from '../client/call.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { whoseText } from '../merchants/whose.ts'
import { ownPayment, paymentIdFor } from './find.ts'
import { printPayment } from './view.ts'

export const ShowOptions = z.object({ allMerchants: z.boolean().default(false) })

/** `svc payments show`: the merchant's own, or any merchant's. */
export async function show(
  context: Context,
  { args, options }: CommandInput<z.infer<typeof ShowOptions>>,
): Promise<CommandResult> {
  const client = context.client()
  const [given = ''] = args
  if (await meansAllMerchants(client, options.allMerchants)) {
    const id = await paymentIdFor(client, given, 'platform')
    const { body } = await call(client, getAdminPayment, { params: { id } })
    printPayment(context, body, [['Merchant', whoseText(body)]])
  } else printPayment(context, await ownPayment(client, given))
  return undefined
}
