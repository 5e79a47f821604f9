import type { z } from 'zod'
import { BrandingConfig, getBranding, putBranding } from '../../src/wire/settings.ts'
import { editText } from '../base/editor.ts'
import { call } from '../client/call.ts'
import { dryRun } from '../kit/change.ts'
import type { ChangeOptions } from '../kit/change.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { printLook } from './branding-view.ts'

type Look = z.input<typeof BrandingConfig>

/** The editor opens again where its text is no look, with what is wrong told, until it is left as it is. */
export async function edit(context: Context, { options }: CommandInput<ChangeOptions>): Promise<CommandResult> {
  const client = context.client()
  const { warnings: _warnings, ...now } = (await call(client, getBranding, {})).body
  const look = await editedLook(context, `${JSON.stringify(now, null, 2)}\n`)
  if (look === undefined) context.note('Nothing was changed.')
  else if (options.dryRun)
    await dryRun(context, client, putBranding, { input: { body: look }, effect: 'this would change the look' })
  else printLook(context, (await call(client, putBranding, { body: look })).body)
  return undefined
}

async function editedLook(context: Context, initial: string): Promise<Look | undefined> {
  const instead = 'svc checkout branding set primary=#003B2F'
  const edited = await editText(context.io, { initial, suffix: '.json', instead })
  if (edited === undefined) return undefined
  const read = readLook(edited)
  if ('look' in read) return read.look
  context.note(`That is not a valid look: ${read.problem}`)
  return editedLook(context, edited)
}

function readLook(text: string): { look: Look } | { problem: string } {
  let data: unknown
  try {
    data = JSON.parse(text)
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'not valid JSON' }
  }
  const parsed = BrandingConfig.safeParse(data)
  if (parsed.success) return { look: parsed.data }
  return { problem: parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ') }
}
