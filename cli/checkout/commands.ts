import type { Command } from 'commander'
import { z } from 'zod'
import { Bank, listBanks } from '../../src/wire/banks.ts'
import { BrandingConfig, getBranding, getCheckoutOrigins, putBranding } from '../../src/wire/settings.ts'
import { editText } from '../base/editor.ts'
import { call } from '../client/call.ts'
import { addActions } from '../kit/action-command.ts'
import { ChangeOptions, changing, dryRun } from '../kit/change.ts'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../kit/context.ts'
import { BRANDING_ACTIONS } from './branding-actions.ts'
import { printLook, printPreview } from './branding-view.ts'
import { ORIGIN_ACTIONS, printOrigins } from './origin-actions.ts'
import { addWidget } from './widget.ts'
import { subcommand } from '../kit/option-values.ts'

export function addCheckout(checkout: Command, runtime: Runtime): void {
  addWidget(checkout, runtime)
  subcommand(checkout, 'banks', 'List the banks that payers can choose')
    .addHelpText(
      'after',
      '\nExamples:\n  svc checkout banks\n  svc payments create --amount 50.00 --currency GBP --debtor-bank-id mock-albion\n',
    )
    .action(action(runtime, z.object({}), banks))
  addOrigins(subcommand(checkout, 'origins', 'Manage the pages that may embed the checkout'), runtime)
  addBranding(subcommand(checkout, 'branding', 'Manage the branding of the checkout'), runtime)
  addActions(checkout, runtime, [...ORIGIN_ACTIONS, ...BRANDING_ACTIONS])
}

function addOrigins(origins: Command, runtime: Runtime): void {
  subcommand(origins, 'list', 'List allowed origins')
    .addHelpText(
      'after',
      '\nWithout origins, any page may embed the checkout in the sandbox, and none in live mode.\n\nExamples:\n  svc checkout origins list\n',
    )
    .action(
      action(runtime, z.object({}), async (context) => {
        printOrigins(context, (await call(context.client(), getCheckoutOrigins, {})).body)
      }),
    )
}

function addBranding(branding: Command, runtime: Runtime): void {
  const look = async (context: Context) => (await call(context.client(), getBranding, {})).body
  subcommand(branding, 'show', 'Show the branding and its contrast warnings')
    .addHelpText(
      'after',
      '\nExamples:\n  svc checkout branding show\n  svc checkout branding show -o json > look.json\n',
    )
    .action(
      action(runtime, z.object({}), async (context) => {
        printLook(context, await look(context))
      }),
    )
  subcommand(branding, 'preview', 'Preview the branding in the terminal')
    .addHelpText('after', '\nExamples:\n  svc checkout branding preview\n  svc checkout branding preview -o json\n')
    .action(
      action(runtime, z.object({}), async (context) => {
        printPreview(context, await look(context))
      }),
    )
  changing(subcommand(branding, 'edit', 'Edit the branding as JSON in an editor'))
    .addHelpText('after', '\nExamples:\n  svc checkout branding edit\n  EDITOR=nano svc checkout branding edit\n')
    .action(action(runtime, ChangeOptions, edit))
}

/** Those that a payer can choose (decision 61). */
async function banks(context: Context): Promise<CommandResult> {
  const { body } = await call(context.client(), listBanks, {})
  context.print.list({
    items: body.data,
    fields: Object.keys(Bank.shape),
    columns: [
      { title: 'id', value: (row) => row.id },
      { title: 'name', value: (row) => row.name, least: 16 },
      { title: 'popular', value: (row) => (row.popular ? 'yes' : '') },
    ],
    id: (row) => row.id,
    empty: 'There are no banks.',
  })
}

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
