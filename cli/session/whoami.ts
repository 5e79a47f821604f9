import type { Command } from 'commander'
import { z } from 'zod'
import { permissionText } from '../../src/lib/permissions.ts'
import { actsAsCustomer, notSignedIn } from '../client/auth/credentials.ts'
import { whoIs } from '../client/auth/acting-side.ts'
import type { Who } from '../client/auth/acting-side.ts'
import type { Client } from '../client/call.ts'
import { action } from '../kit/context.ts'
import type { CommandResult, Context, InputOf, Runtime } from '../kit/context.ts'
import { CliError } from '../base/errors.ts'
import { roleText } from '../base/role-text.ts'
import { shortTime } from '../base/text.ts'
import { DataOption, subcommand } from '../kit/option-values.ts'
import { claimsOf } from '../client/auth/token-source.ts'
import { discover, noProvider } from '../client/auth/service-info.ts'
import { EXIT } from '../base/exit-codes.ts'

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

async function whoami(context: Context, { options }: InputOf<typeof WhoamiOptions>): Promise<CommandResult> {
  const client = clientOf(context)
  const body = await whoIs(client, accessOf(client, options))
  context.print.record({ item: body, id: body.subject, lines: linesOf(body, client.apiUrl) })
}

/** Whose credentials are meant: a merchant's first, an operator's where there is no merchant's, or on demand. */
function accessOf(
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
function clientOf(context: Context): Client {
  try {
    return context.client()
  } catch (error) {
    if (error instanceof CliError && error.code === 'NOT_RUNNING')
      throw notSignedIn('svc login --api-url <url> --realm <realm>, or svc up')
    throw error
  }
}

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

const TokenOptions = z.object({
  decode: z.boolean().default(false),
  platform: z.boolean().default(false),
  customer: z.boolean().default(false),
})

export function addToken(profile: Command, runtime: Runtime): void {
  subcommand(profile, 'token', 'Print an access token')
    .option('--decode', 'Print the decoded token, without verifying it')
    .addOption(new DataOption('--platform', "Print the operator's token, if it is another one").conflicts('customer'))
    .option('--customer', 'Print the token of svc ob, if it is another one')
    .addHelpText('after', EXAMPLES)
    .action(action(runtime, TokenOptions, token))
}

const EXAMPLES = `
Examples:
  svc profile token --decode
  curl -H "Authorization: Bearer $(svc profile token)" http://127.0.0.1:8080/api/v1/whoami
  curl -H "Authorization: Bearer $(svc profile token --customer)" http://127.0.0.1:8080/open-banking/v1/accounts
`

async function token(context: Context, { options }: InputOf<typeof TokenOptions>): Promise<CommandResult> {
  const client = clientOf(context)
  const found = await client.credentials.token({ access: accessOf(client, options) }, client)
  if (found === undefined) throw await noToken(client, options)
  const { accessToken, expiresAt, realm, clientId } = found
  const { print, io } = context
  if (options.decode) {
    const claims = decoded(accessToken)
    print.record({ item: claims, id: String(claims.sub ?? ''), lines: Object.entries(claims).map(lineOf) })
  } else if (print.isMachine) {
    const expires_at = expiresAt === null ? null : new Date(expiresAt).toISOString()
    const item = { access_token: accessToken, expires_at, realm: realm ?? null, client_id: clientId ?? null }
    print.record({ item, id: accessToken, lines: [] })
  } else io.stdout.write(`${accessToken}\n`)
}

/** Where nobody is known to act as, only the service says whether there is anything to sign in to. */
async function noToken(client: Client, { platform, customer }: z.infer<typeof TokenOptions>): Promise<CliError> {
  const { auth_url: authUrl } = await discover(client, client.apiUrl)
  if (authUrl === null) return noProvider(client.apiUrl)
  if (platform) return notSignedIn('svc login --platform')
  return notSignedIn(customer ? 'svc login --customer' : 'svc login --realm <realm>')
}

function decoded(accessToken: string) {
  const claims = claimsOf(accessToken)
  if (claims !== undefined) return claims
  throw new CliError('NOT_A_JWT', 'the access token can only be read by who made it', { exit: EXIT.failure })
}

const TIMES = new Set(['exp', 'iat', 'nbf', 'auth_time'])

function lineOf([name, value]: [string, unknown]): [string, string] {
  if (TIMES.has(name) && typeof value === 'number') return [name, `${value} (${new Date(value * 1_000).toISOString()})`]
  return [name, typeof value === 'string' ? value : JSON.stringify(value)]
}
