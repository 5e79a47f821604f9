import { z } from 'zod'
import { Bank, listBanks } from '../../src/wire/banks.ts'
import { BrandingConfig, getBranding, getCheckoutOrigins, putBranding } from '../../src/wire/settings.ts'
import { editText } from '../base/editor.ts'
import { call } from '../client/call.ts'
import { CHANGING, dryRun } from '../kit/change.ts'
import { command } from '../kit/command.ts'
import { reading } from '../kit/reading.ts'
import type { Context } from '../kit/context.ts'
import { BRANDING_ACTIONS } from './branding-actions.ts'
import { printLook, printPreview } from './branding-view.ts'
import { ORIGIN_ACTIONS, printOrigins } from './origin-actions.ts'
import { snippet } from './snippet.ts'
import { demo, token } from './widget.ts'

/** Those that a payer can choose (decision 61). */
const banks = reading({
  command: 'checkout banks',
  summary: 'List the banks that payers can choose',
  examples: ['svc checkout banks', 'svc payments create --amount 50.00 --currency GBP --debtor-bank-id mock-albion'],
  flags: {},
  operation: listBanks,
  view: {
    fields: Bank,
    columns: [
      { title: 'id', value: (row) => row.id },
      { title: 'name', value: (row) => row.name, least: 16 },
      { title: 'popular', value: (row) => (row.popular ? 'yes' : '') },
    ],
    empty: 'There are no banks.',
  },
})

type BrandingInput = z.input<typeof BrandingConfig>

/** The editor opens again with what is wrong where its text is not a valid look, until it is left unchanged. */
const edit = command({
  command: 'checkout branding edit',
  summary: 'Edit the branding as JSON in an editor',
  examples: ['svc checkout branding edit', 'EDITOR=nano svc checkout branding edit'],
  flags: { ...CHANGING },
  async run(context, input) {
    const client = context.client()
    const { warnings: _warnings, ...now } = (await call(client, getBranding, {})).body
    const look = await editedLook(context, `${JSON.stringify(now, null, 2)}\n`)
    if (look === undefined) context.note('Nothing was changed.')
    else if (input.dryRun)
      await dryRun(context, client, putBranding, { input: { body: look }, effect: 'this would change the look' })
    else printLook(context, (await call(client, putBranding, { body: look })).body)
  },
})

async function editedLook(context: Context, initial: string): Promise<BrandingInput | undefined> {
  const instead = 'svc checkout branding set primary=#003B2F'
  const edited = await editText(context.io, { initial, suffix: '.json', instead })
  if (edited === undefined) return undefined
  const read = readLook(edited)
  if ('look' in read) return read.look
  context.note(`That is not a valid look: ${read.problem}`)
  return editedLook(context, edited)
}

function readLook(text: string): { look: BrandingInput } | { problem: string } {
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

const listOrigins = reading({
  command: 'checkout origins list',
  summary: 'List allowed origins',
  details: 'Without origins, any page may embed the checkout in the sandbox, and none in live mode.',
  examples: ['svc checkout origins list'],
  flags: {},
  operation: getCheckoutOrigins,
  view: printOrigins,
})

const showLook = reading({
  command: 'checkout branding show',
  summary: 'Show the branding and its contrast warnings',
  examples: ['svc checkout branding show', 'svc checkout branding show -o json > look.json'],
  flags: {},
  operation: getBranding,
  view: printLook,
})

const preview = reading({
  command: 'checkout branding preview',
  summary: 'Preview the branding in the terminal',
  examples: ['svc checkout branding preview', 'svc checkout branding preview -o json'],
  flags: {},
  operation: getBranding,
  view: printPreview,
})

/** `svc checkout`: what puts the checkout on a page: tokens, the snippet, its look (decision 40). */
export const CHECKOUT = [
  {
    command: 'checkout',
    examples: [
      'svc checkout snippet --amount 50.00 --currency GBP --return-url https://shop.example/thanks',
      'svc checkout token --amount 50.00 --currency GBP',
      'svc checkout demo --open',
    ],
  },
  token,
  snippet,
  demo,
  banks,
  { command: 'checkout origins', summary: 'Manage the pages that may embed the checkout' },
  listOrigins,
  ...ORIGIN_ACTIONS,
  { command: 'checkout branding', summary: 'Manage the branding of the checkout' },
  showLook,
  preview,
  edit,
  ...BRANDING_ACTIONS,
]
