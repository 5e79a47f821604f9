import { z } from 'zod'
import { testWebhook } from '../../src/wire/webhooks.ts'
import { EventType } from '../../src/wire/webhook-events.ts'
import { ChangeOptions, change } from '../kit/change.ts'
import { durationOf } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { withFacts } from '../base/errors.ts'
import { printDelivery } from './view.ts'
import { waitForAttempt } from './wait.ts'

export const TestOptions = ChangeOptions.extend({
  wait: z.boolean().default(false),
  timeout: z.string(),
})

/** `svc webhooks test`: a made-up event, signed like any other, to see whether the endpoint takes it. */
export async function testEvent(
  context: Context,
  { args, options }: CommandInput<z.infer<typeof TestOptions>>,
): Promise<CommandResult> {
  const timeoutMs = durationOf(options.timeout, '--timeout')
  // Commander has held the word against the list.
  const eventType = EventType.parse(args[0] ?? 'payment.settled')
  const client = context.client()
  const begun = await change(context, client, testWebhook, { input: { body: { event_type: eventType } }, options })
  if (begun === undefined) return undefined
  if (!options.wait) {
    printDelivery(context, { delivery: begun, withPayload: false })
    if (!context.print.isMachine) context.note(`Next: svc webhooks show ${begun.id}; to wait for the answer: --wait`)
    return undefined
  }
  try {
    const { delivery, problem } = await waitForAttempt(client, begun, timeoutMs)
    printDelivery(context, { delivery, withPayload: false })
    if (problem !== undefined) throw problem
  } catch (error) {
    throw withFacts(error, { delivery_id: begun.id })
  }
  return undefined
}
