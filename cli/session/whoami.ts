import { permissionText } from '../../src/lib/permissions.ts'
import { CliError } from '../base/errors.ts'
import { roleText } from '../base/role-text.ts'
import { shortTime } from '../base/text.ts'
import { whoIs } from '../client/auth/acting-side.ts'
import type { Who } from '../client/auth/acting-side.ts'
import { actsAsCustomer, notSignedIn } from '../client/auth/credentials.ts'
import { discover, noProvider } from '../client/auth/service-info.ts'
import { claimsOf } from '../client/auth/token-source.ts'
import type { Client } from '../client/call.ts'
import { command } from '../kit/command.ts'
import type { Context } from '../kit/context.ts'

export const whoami = command({
  command: 'whoami',
  summary: 'Show the active identity and its permissions',
  details: 'Exit code 4 if signed out.',
  examples: ['svc whoami', 'svc whoami --platform', 'svc whoami --customer', 'svc whoami -q role'],
  flags: {
    platform: { summary: "Show the operator's identity, if it is another one", excludes: ['customer'] },
    customer: { summary: "Show the customer's identity of svc ob, if it is another one" },
  },
  async run(context, input) {
    const client = clientOf(context)
    const body = await whoIs(client, accessOf(client, input))
    context.print.record(body, linesOf(body, client.apiUrl), { id: body.subject })
  },
})

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
 * @throws {CliError} NOT_SIGNED_IN also where there is no service at all: a sign-in needs one
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

export const token = command({
  command: 'profile token',
  summary: 'Print an access token',
  examples: [
    'svc profile token --decode',
    'curl -H "Authorization: Bearer $(svc profile token)" http://127.0.0.1:8080/api/v1/whoami',
    'curl -H "Authorization: Bearer $(svc profile token --customer)" http://127.0.0.1:8080/open-banking/v1/accounts',
  ],
  flags: {
    decode: { summary: 'Print the decoded token, without verifying it' },
    platform: { summary: "Print the operator's token, if it is another one", excludes: ['customer'] },
    customer: { summary: 'Print the token of svc ob, if it is another one' },
  },
  async run(context, input) {
    const client = clientOf(context)
    const found = await client.credentials.token({ access: accessOf(client, input) }, client)
    if (found === undefined) throw await noToken(client, input)
    const { accessToken, expiresAt, realm, clientId } = found
    const { print, io } = context
    if (input.decode) {
      const claims = decoded(accessToken)
      print.record(claims, Object.entries(claims).map(lineOf), { id: String(claims.sub ?? '') })
    } else if (print.isMachine) {
      const expires_at = expiresAt === null ? null : new Date(expiresAt).toISOString()
      const item = { access_token: accessToken, expires_at, realm: realm ?? null, client_id: clientId ?? null }
      print.record(item, [], { id: accessToken })
    } else io.stdout.write(`${accessToken}\n`)
  },
})

/** Without an identity, only the service says whether there is anything to sign in to. */
async function noToken(
  client: Client,
  { platform, customer }: { platform: boolean; customer: boolean },
): Promise<CliError> {
  const { auth_url: authUrl } = await discover(client, client.apiUrl)
  if (authUrl === null) return noProvider(client.apiUrl)
  if (platform) return notSignedIn('svc login --platform')
  return notSignedIn(customer ? 'svc login --customer' : 'svc login --realm <realm>')
}

function decoded(accessToken: string) {
  const claims = claimsOf(accessToken)
  if (claims !== undefined) return claims
  throw new CliError('NOT_A_JWT', 'the access token can only be read by who made it')
}

const TIMES = new Set(['exp', 'iat', 'nbf', 'auth_time'])

function lineOf([name, value]: [string, unknown]): [string, string] {
  if (TIMES.has(name) && typeof value === 'number') return [name, `${value} (${new Date(value * 1_000).toISOString()})`]
  return [name, typeof value === 'string' ? value : JSON.stringify(value)]
}
