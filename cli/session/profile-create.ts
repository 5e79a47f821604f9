import { z } from 'zod'
import { clientIdsOf, realmOfClientId } from '../../src/lib/realms.ts'
import type { ServiceInfo } from '../../src/wire/service.ts'
import { configDirOf } from '../client/auth/config-dir.ts'
import { entryKey, updateEntries } from '../client/auth/credentials-file.ts'
import { DEV, checkedName, readUserConfig, saveProfile } from '../client/auth/profiles.ts'
import type { Profile } from '../client/auth/profiles.ts'
import { discover } from '../client/auth/service-info.ts'
import { kindOfRealm } from './login-target.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { CliError, usageError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { findService } from '../client/find-service.ts'
import { itemOf, recordOf } from './profile-view.ts'

export const CreateOptions = z.object({
  realm: z.string().optional(),
  platform: z.boolean().default(false),
  customer: z.union([z.literal(true), z.string()]).optional(),
  withSecret: z.boolean().default(false),
})
export type CreateOptions = z.infer<typeof CreateOptions>

/** `svc profile create`: asks the service what it is, so that a wrong address is noticed now. */
export async function create(context: Context, { args, options }: CommandInput<CreateOptions>): Promise<CommandResult> {
  const { io, flags } = context
  const configDir = configDirOf(io.env)
  const name = checkedName(args[0] ?? '')
  if (name === DEV || readUserConfig(configDir).profiles[name] !== undefined)
    throw new CliError('PROFILE_EXISTS', `there is a profile ${name} already`, {
      exit: EXIT.conflict,
      hint: `svc profile show ${name}`,
    })
  const { apiUrl } = findService({ flags, env: io.env, cwd: io.cwd })
  const service = await discover(context.http(), apiUrl)
  const profile = profileOf(service, { apiUrl, options, clientId: flags.clientId })
  if (options.withSecret) await keepSecret(context, { name, profile })
  saveProfile(configDir, name, { profile, choose: false })
  context.print.record(recordOf(itemOf(context, name, profile)))
  context.note(
    profile.auth_url === null || options.withSecret
      ? `svc profile use ${name} to act as it.`
      : `svc login --profile ${name} to sign in, svc profile use ${name} to act as it.`,
  )
  return undefined
}

type ProfileOptions = { apiUrl: string; options: CreateOptions; clientId: string | undefined }

function profileOf(service: ServiceInfo, { apiUrl, options, clientId }: ProfileOptions): Profile {
  const { customer } = options
  checkCustomer(customer, service)
  const named = customer === undefined ? options.realm : service.customers_realm
  const realm =
    (options.platform ? service.platform_realm : named) ??
    (clientId === undefined ? undefined : realmOfClientId(clientId))
  if (realm === undefined && service.auth_url !== null)
    throw usageError('which realm?', '--realm <realm>, --platform, or --customer')
  return {
    api_url: apiUrl,
    auth_url: service.auth_url,
    realm: realm ?? null,
    client_id: clientId ?? (realm === undefined ? null : clientIdsOf(realm).cli),
    kind: kindOfRealm(realm, service),
    mode: service.mode,
    role: null,
    subject: typeof customer === 'string' ? customer : null,
  }
}

/** A name is enough where nobody signs in, and no proof where somebody does. */
function checkCustomer(customer: CreateOptions['customer'], { auth_url }: ServiceInfo): void {
  if (customer === true && auth_url === null) throw usageError('which customer?', '--customer <id>')
  if (typeof customer === 'string' && auth_url !== null)
    throw usageError('--customer: customers sign in there, and have no name to give', '--customer, without an id')
}

const SECRET_BYTES_MAX = 1_024

async function keepSecret(context: Context, { name, profile }: { name: string; profile: Profile }): Promise<void> {
  const { io, flags } = context
  const { api_url, auth_url, realm, client_id, kind } = profile
  if (flags.clientId === undefined || auth_url === null || realm === null || client_id === null)
    throw usageError('--with-secret goes with the --client-id of a service that has an identity provider')
  const client_secret = (await io.stdin.read(SECRET_BYTES_MAX)).toString('utf8').trim()
  if (client_secret === '') throw usageError('--with-secret: standard input is empty')
  await updateEntries(configDirOf(io.env), async (entries) => ({
    ...entries,
    [entryKey({ name, kind, stateDir: '' })]: { type: 'client', api_url, auth_url, realm, client_id, client_secret },
  }))
}
