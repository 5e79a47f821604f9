import type { endConsent } from '../../src/wire/consents.ts'
import type { revokePayerConsent } from '../../src/wire/payer.ts'
import { change } from '../kit/change.ts'
import type { ChangeOptions } from '../kit/change.ts'
import type { Client } from '../client/call.ts'
import type { CommandResult, Context } from '../kit/context.ts'

type Ending = {
  id: string
  /** As it was typed: who typed all of it is asked for less. */
  given: string
  /** What its merchant or its payer calls this. */
  verb: 'end' | 'cancel'
  options: ChangeOptions
}

/** Ends a mandate for one of its two sides; what was paid under it stays paid. */
export async function endMandate(
  context: Context,
  client: Client,
  operation: typeof endConsent | typeof revokePayerConsent,
  { id, given, verb, options }: Ending,
): Promise<CommandResult> {
  const ended = await change(context, client, operation, {
    input: { params: { id } },
    options,
    danger: {
      what: `${verb} the mandate ${id}, under which nothing can be paid any more`,
      words: [id.slice(-8), id],
      isExact: given.toLowerCase() === id,
      yes: options.yes,
    },
  })
  if (ended === undefined) return undefined
  context.print.record({
    item: ended,
    id: ended.consent_id,
    lines: [
      ['Mandate', ended.consent_id],
      ['Status', ended.status],
    ],
  })
  return undefined
}
