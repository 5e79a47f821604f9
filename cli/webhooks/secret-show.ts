import { z } from 'zod'
import { RECEIVER_LANGUAGES, readReceiver, receiverFile } from '../../src/lib/receivers.ts'
import { getWebhookSecret } from '../../src/wire/secrets.ts'
import { call } from '../client/call.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { overlapLines } from './secret-view.ts'

const Language = z.enum(RECEIVER_LANGUAGES)

export const ShowOptions = z.object({ language: Language.optional() })

export async function show(
  context: Context,
  { options }: CommandInput<z.infer<typeof ShowOptions>>,
): Promise<CommandResult> {
  const { language } = options
  const { body } = await call(context.client(), getWebhookSecret, { query: { language } })
  context.print.record({
    item: body,
    id: body.masked_secret,
    lines: overlapLines(body),
    ...(language === undefined ? {} : { after: body.verification_snippet.trimEnd() }),
  })
  if (language === undefined && !context.print.isMachine) context.note('\nA receiver to copy: svc secret snippet')
  return undefined
}

/** Needs no service: the receivers come with the package. */
export async function snippet({ print, io }: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const language = Language.catch('node').parse(args[0])
  const text = await readReceiver(language)
  const file = receiverFile(language)
  if (print.isMachine) print.record({ item: { language, file, text }, id: file, lines: [] })
  else io.stdout.write(text)
  return undefined
}
