import { endConsent } from '../../src/wire/consents.ts'
import type { ChangeOptions } from '../kit/change.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { endMandate } from './end-mandate.ts'
import { mandateId } from './read.ts'

/** `svc mandates end`: as its merchant. */
export async function end(context: Context, { args, options }: CommandInput<ChangeOptions>): Promise<CommandResult> {
  const client = context.client()
  const [given = ''] = args
  return endMandate(context, client, endConsent, { id: await mandateId(client, given), given, verb: 'end', options })
}
