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
  context.print.record({ item: body, id: body.subject, lines: linesOf(body, client.apiUrl) })
  return undefined
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

function linesOf(who: Who, apiUrl: string): [string, string][] {
  const { merchant, kind, name, subject, role } = who
  return [
    ['Name', name],
    ['Customer', kind === 'customer' ? subject : ''],
    ['Role', kind === 'customer' ? role : `${roleText(role)} (${kind})`],
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
    ['Service', apiUrl],
  ]
}
