import type { z } from 'zod'
import { BrandingConfig, getBranding, putBranding } from '../../src/wire/settings.ts'
import type { Branding } from '../../src/wire/settings.ts'
import { change } from '../kit/change.ts'
import type { ChangeOptions } from '../kit/change.ts'
import { call } from '../client/call.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { editText } from '../base/editor.ts'
import { usageError } from '../base/errors.ts'
import { printLook, printPreview } from './branding-view.ts'

type Look = z.input<typeof BrandingConfig>

export async function show(context: Context): Promise<CommandResult> {
  printLook(context, (await call(context.client(), getBranding, {})).body)
  return undefined
}

export async function preview(context: Context): Promise<CommandResult> {
  printPreview(context, (await call(context.client(), getBranding, {})).body)
  return undefined
}

const COLOURS = ['primary', 'background', 'text'] as const
const PARTS = [...COLOURS, 'logo_url', 'font'] as const
type Part = (typeof PARTS)[number]

/** The service takes a look as a whole, so what is not named here goes back as it came. */
export async function set(context: Context, { args, options }: CommandInput<ChangeOptions>): Promise<CommandResult> {
  const parts = args.map((arg) => readPart(arg))
  const { body: now } = await call(context.client(), getBranding, {})
  const values = new Map<Part, string | null>([
    ['primary', now.colors.primary],
    ['background', now.colors.background],
    ['text', now.colors.text],
    ['logo_url', now.logo_url],
    ['font', now.font],
    ...parts,
  ])
  return send(context, lookOf(values), options)
}

function readPart(arg: string): [Part, string | null] {
  const [name = '', ...rest] = arg.split('=')
  const part = PARTS.find((known) => known === name.replace(/^colors\./, ''))
  if (part === undefined || rest.length === 0)
    throw usageError(`"${arg}" is no part=value; the parts are ${PARTS.join(', ')}`, 'svc branding set primary=#003B2F')
  const value = rest.join('=')
  return [part, value === '' ? null : value]
}

/** What is null is left out, for the service to fill in its default. */
function lookOf(values: ReadonlyMap<Part, string | null>): Look {
  const given = (part: Part): Record<string, string> => {
    const value = values.get(part) ?? null
    return value === null ? {} : { [part]: value }
  }
  const colors = Object.assign({}, ...COLOURS.map((part) => given(part)))
  return { colors, ...given('logo_url'), ...given('font') }
}

/** The editor opens again where its text is no look, with what is wrong told, until it is left as it is. */
export async function edit(context: Context, { options }: CommandInput<ChangeOptions>): Promise<CommandResult> {
  const { body } = await call(context.client(), getBranding, {})
  const { warnings: _warnings, ...now } = body
  let text = `${JSON.stringify(now, null, 2)}\n`
  for (;;) {
    const edited = await editText(context.io, {
      initial: text,
      suffix: '.json',
      instead: 'svc branding set primary=#003B2F',
    })
    if (edited === undefined) {
      context.note('Nothing was changed.')
      return undefined
    }
    const read = readLook(edited)
    if ('look' in read) return send(context, read.look, options)
    context.note(`That is no look: ${read.problem}`)
    text = edited
  }
}

function readLook(text: string): { look: Look } | { problem: string } {
  let data: unknown
  try {
    data = JSON.parse(text)
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'it is no JSON' }
  }
  const parsed = BrandingConfig.safeParse(data)
  if (parsed.success) return { look: parsed.data }
  return { problem: parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ') }
}

async function send(context: Context, look: Look, options: ChangeOptions): Promise<CommandResult> {
  const changed = await change(context, context.client(), putBranding, { input: { body: look }, options })
  if (changed !== undefined) printLook(context, changed satisfies Branding)
  return undefined
}
