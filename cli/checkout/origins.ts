import type { Command } from 'commander'
import { z } from 'zod'
import { readWebOrigin } from '../../src/lib/web-origin.ts'
import { getCheckoutOrigins, putCheckoutOrigins } from '../../src/wire/settings.ts'
import { ChangeOptions, change, changing, dangerous } from '../kit/change.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import type { Dangerous } from '../kit/confirm.ts'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../kit/context.ts'
import { CliError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'

/** `svc origins`: the pages that may embed the checkout (decision 26). */
export function addOrigins(origins: Command, runtime: Runtime): void {
  origins.addHelpText('after', '\nExamples:\n  svc origins add https://shop.example\n  svc origins list\n')
  origins
    .command('list')
    .description('list them; none is any page in the sandbox, and no page at all in live mode')
    .addHelpText('after', '\nExamples:\n  svc origins list\n')
    .action(action(runtime, z.object({}), list))
  changing(origins.command('add'))
    .description('let pages embed the checkout')
    .argument('<origin...>', 'scheme, host and port, and nothing else: https://shop.example')
    .addHelpText('after', '\nExamples:\n  svc origins add https://shop.example https://www.shop.example\n')
    .action(action(runtime, ChangeOptions, add))
  dangerous(origins.command('remove'))
    .description('let pages embed the checkout no more')
    .argument('<origin...>', 'as svc origins list names them')
    .addHelpText('after', '\nExamples:\n  svc origins remove https://old.shop.example\n')
    .action(action(runtime, ChangeOptions, remove))
}

async function list(context: Context, _input: CommandInput<object>): Promise<CommandResult> {
  print(context, await originsNow(context.client()))
  return undefined
}

async function add(context: Context, { args, options }: CommandInput<ChangeOptions>): Promise<CommandResult> {
  const client = context.client()
  const origins = new Set([...(await originsNow(client)), ...args.map((text) => normal(text))])
  return send(context, client, { origins: [...origins], options })
}

async function remove(context: Context, { args, options }: CommandInput<ChangeOptions>): Promise<CommandResult> {
  const client = context.client()
  const now = await originsNow(client)
  const gone = args.map((text) => normal(text))
  const unknown = gone.find((origin) => !now.includes(origin))
  if (unknown !== undefined)
    throw new CliError('NOT_FOUND', `"${unknown}" is not among the origins`, {
      exit: EXIT.notFound,
      hint: 'svc origins list',
    })
  const what = `stop the checkout on pages of ${gone.join(', ')}`
  const danger = { what, words: gone.slice(0, 1), isExact: true, yes: options.yes }
  return send(context, client, { origins: now.filter((origin) => !gone.includes(origin)), options, danger })
}

async function originsNow(client: Client): Promise<string[]> {
  return (await call(client, getCheckoutOrigins, {})).body.origins
}

/** As the service keeps it; what is no origin goes to the service as it is, which says why. */
function normal(text: string): string {
  const read = readWebOrigin(text, { allowLoopbackHttp: true })
  return 'origin' in read ? read.origin : text
}

type Wish = { origins: string[]; options: ChangeOptions; danger?: Dangerous }

async function send(context: Context, client: Client, { origins, ...wish }: Wish): Promise<CommandResult> {
  const changed = await change(context, client, putCheckoutOrigins, { input: { body: { origins } }, ...wish })
  if (changed !== undefined) print(context, changed.origins)
  return undefined
}

function print(context: Context, origins: readonly string[]): void {
  context.print.list({
    items: origins.map((origin) => ({ origin })),
    fields: ['origin'],
    columns: [{ title: 'origin', value: (row) => row.origin }],
    id: (row) => row.origin,
    empty: 'No origins: any page in the sandbox, no page in live mode.',
  })
}
