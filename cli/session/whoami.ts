import type { Command } from 'commander'
import { z } from 'zod'
import { permissionText } from '../../src/lib/permissions.ts'
import { actsAsCustomer, notSignedIn } from '../client/auth/credentials.ts'
import { whoIs } from '../client/auth/acting-side.ts'
import type { Who } from '../client/auth/acting-side.ts'
import type { Client } from '../client/call.ts'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../kit/context.ts'
import { CliError } from '../base/errors.ts'
import { roleText } from '../base/role-text.ts'
import { readServiceState } from '../client/service-state.ts'
import { shortTime } from '../base/text.ts'
import { DataOption } from '../kit/option-values.ts'

const WhoamiOptions = z.object({ platform: z.boolean().default(false), customer: z.boolean().default(false) })

export function addWhoami(command: Command, runtime: Runtime): void {
  command
    .addOption(new DataOption('--platform', "Show the operator's identity, if it is another one").conflicts('customer'))
    .option('--customer', "Show the customer's identity of svc ob, if it is another one")
    .addHelpText(
      'after',
      '\nExit code 4 if signed out.\n\nExamples:\n  svc whoami\n  svc whoami --platform\n  svc whoami --customer\n  svc whoami -q role\n',
    )
    .action(action(runtime, WhoamiOptions, whoami))
}

async function whoami(
  context: Context,
  { options }: CommandInput<z.infer<typeof WhoamiOptions>>,
): Promise<CommandResult> {
  const client = clientOf(context)
  const body = await whoIs(client, accessOf(client, options))
  const more =
    context.print.isMachine || options.platform
      ? []
      : [...(await operatorLines(client, body)), ...(await customerLines(context, client, body))]
  context.print.record({ item: body, id: body.subject, lines: [...linesOf(context, body, client), ...more] })
  return undefined
}

/** For people: whom operators' commands act as, where that is somebody else. */
async function operatorLines(client: Client, { kind }: Who): Promise<[string, string][]> {
  const { merchant, platform } = client.credentials
  if (kind !== 'merchant' || platform === undefined || platform.clientId === merchant?.clientId) return []
  try {
    const { name, role } = await whoIs(client, ['platform'])
    return [["Operators' commands", `act as ${name}, ${role}: --platform tells more`]]
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    return [["Operators' commands", error.message]]
  }
}

/** For people: the bank's customer that svc ob acts as, where commands act as somebody else. */
async function customerLines(context: Context, client: Client, { kind }: Who): Promise<[string, string][]> {
  if (kind === 'customer' || client.credentials.customer === undefined || isOneForAll(client)) return []
  try {
    return [
      ['svc ob', `acts as ${customerText(context, client, await whoIs(client, ['customer']))}: --customer tells more`],
    ]
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    return [['svc ob', error.message]]
  }
}

/** Whether one token, or one client, stands for everybody: it is whom the first lines tell. */
function isOneForAll({ credentials: { chosen, merchant, customer } }: Client): boolean {
  return chosen?.by === 'SVC_TOKEN' || (customer?.clientId !== undefined && customer.clientId === merchant?.clientId)
}

/** A customer as people know one: by name and e-mail address, with its id. Of a program that may be only its client's. */
function customerText({ stateDir }: Context, { apiUrl }: Client, { subject, name, client_id: clientId }: Who): string {
  const state = readServiceState(stateDir)
  const demo = state?.api_url === apiUrl ? state.customer : null
  if (demo !== null && (demo.id === subject || (clientId !== null && demo.client_id === clientId)))
    return withId([demo.name, demo.email].filter((each) => each !== undefined).join(', '), demo.id)
  return withId(name === subject ? '' : name, subject)
}

function withId(name: string, id: string): string {
  return name === '' ? id : `${name} (${id})`
}

/** Whose credentials are meant: a merchant's first, an operator's where there is no merchant's, or on demand. */
export function accessOf(
  { credentials }: Client,
  { platform, customer }: { platform: boolean; customer: boolean },
): ('merchant' | 'platform' | 'customer')[] {
  if (platform) return ['platform']
  return customer || actsAsCustomer(credentials) ? ['customer'] : ['merchant', 'platform']
}

/**
 * The service to ask.
 * @throws {CliError} NOT_SIGNED_IN also where there is no service at all: then nobody is signed in to one
 */
export function clientOf(context: Context): Client {
  try {
    return context.client()
  } catch (error) {
    if (error instanceof CliError && error.code === 'NOT_RUNNING')
      throw notSignedIn('svc login --api-url <url> --realm <realm>, or svc up')
    throw error
  }
}

/** A customer's scopes, as people read them. */
const MAY: Readonly<Record<string, string>> = {
  accounts: 'look at accounts',
  payments: 'order payments',
}

function linesOf(context: Context, who: Who, client: Client): [string, string][] {
  const { merchant } = who
  return [
    ['Name', who.name],
    ['Customer', who.kind === 'customer' ? customerText(context, client, who) : ''],
    ['Role', who.kind === 'customer' ? who.role : `${roleText(who.role)} (${who.kind})`],
    [
      'Merchant',
      merchant === null
        ? ''
        : `${merchant.trading_name} (KYB ${merchant.kyb_status}${merchant.is_active ? '' : ', disabled'})`,
    ],
    ['Realm', who.realm ?? ''],
    ['Client', who.client_id ?? ''],
    ['May', who.permissions.map((each) => MAY[each] ?? permissionText(each)).join('; ')],
    ['Token until', shortTime(who.expires_at)],
    ['Service', client.apiUrl],
  ]
}
