import type { Command } from 'commander'
import { z } from 'zod'
import { permissionText } from '../../src/lib/permissions.ts'
import { whoami as operation } from '../../src/wire/service.ts'
import type { Whoami } from '../../src/wire/service.ts'
import { notSignedIn } from '../auth/credentials.ts'
import { call } from '../client.ts'
import type { Client } from '../client.ts'
import { action } from '../context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../context.ts'
import { CliError } from '../errors.ts'
import { roleText } from '../role-text.ts'
import { shortTime } from '../text.ts'

const WhoamiOptions = z.object({ platform: z.boolean().default(false) })

export function addWhoami(program: Command, runtime: Runtime): void {
  program
    .command('whoami')
    .description('say who commands act as, and what that allows; exit code 4 when nobody is signed in')
    .option('--platform', "who operators' commands act as, where that is somebody else")
    .addHelpText('after', '\nExamples:\n  svc whoami\n  svc whoami --platform\n  svc whoami -q role\n')
    .action(action(runtime, WhoamiOptions, whoami))
}

async function whoami(
  context: Context,
  { options }: CommandInput<z.infer<typeof WhoamiOptions>>,
): Promise<CommandResult> {
  const client = clientOf(context)
  const { body } = await call(client, { ...operation, access: asked(options) }, {})
  const more = context.print.isMachine || options.platform ? [] : await operatorLines(client, body)
  context.print.record({ item: body, id: body.subject, lines: [...linesOf(body, client), ...more] })
  return undefined
}

/** For people: whom operators' commands act as, where that is somebody else. */
async function operatorLines(client: Client, { kind }: Whoami): Promise<[string, string][]> {
  const { merchant, platform } = client.credentials
  if (kind !== 'merchant' || platform === undefined || platform.clientId === merchant?.clientId) return []
  try {
    const { body } = await call(client, { ...operation, access: asked({ platform: true }) }, {})
    return [["Operators' commands", `act as ${body.name}, ${body.role}: --platform tells more`]]
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    return [["Operators' commands", error.message]]
  }
}

/** Whose credentials are meant: a merchant's first, an operator's where there is no merchant's, or on demand. */
export function asked({ platform }: { platform: boolean }): ('merchant' | 'platform')[] {
  return platform ? ['platform'] : ['merchant', 'platform']
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

function linesOf(who: Whoami, { apiUrl }: Client): [string, string][] {
  const { merchant } = who
  return [
    ['Name', who.name],
    ['Role', `${roleText(who.role)} (${who.kind})`],
    [
      'Merchant',
      merchant === null
        ? ''
        : `${merchant.trading_name} (KYB ${merchant.kyb_status}${merchant.is_active ? '' : ', disabled'})`,
    ],
    ['Realm', who.realm ?? ''],
    ['Client', who.client_id ?? ''],
    ['May', who.permissions.map(permissionText).join('; ')],
    ['Token until', shortTime(who.expires_at)],
    ['Service', apiUrl],
  ]
}
