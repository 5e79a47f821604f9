import { z } from 'zod'
import { getWebhookEndpoint, putWebhookEndpoint } from '../../../src/wire/portal.ts'
import type { WebhookEndpoint } from '../../../src/wire/portal.ts'
import { call } from '../../client.ts'
import type { CommandInput, CommandResult, Context } from '../../context.ts'
import { usageError } from '../../errors.ts'

export const SetOptions = z.object({ none: z.boolean().default(false) })

export async function getEndpoint(context: Context): Promise<CommandResult> {
  const { body } = await call(context.client(), getWebhookEndpoint, {})
  printEndpoint(context, body)
  return undefined
}

export async function setEndpoint(
  context: Context,
  { args, options }: CommandInput<z.infer<typeof SetOptions>>,
): Promise<CommandResult> {
  const [url] = args
  if ((url === undefined) === !options.none)
    throw usageError('give either an address or --none', 'svc webhooks endpoint set http://127.0.0.1:4242/hook')
  const { body } = await call(context.client(), putWebhookEndpoint, { body: { webhook_url: url ?? null } })
  printEndpoint(context, body)
  return undefined
}

function printEndpoint({ print }: Context, item: WebhookEndpoint): void {
  print.record({
    item,
    id: item.webhook_url ?? '',
    lines: [['Webhooks go to', item.webhook_url ?? 'nowhere: no address is set']],
  })
}
