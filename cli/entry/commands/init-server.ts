import { clientIdsOf, isSlug } from '../../../src/lib/realms.ts'
import { asTyped, quoted } from '../../base/command-hints.ts'
import type { Context } from '../../kit/context.ts'
import { CliError } from '../../base/errors.ts'
import { findService } from '../../client/find-service.ts'
import type { FoundService } from '../../client/find-service.ts'
import { serviceFile } from '../../client/service-state.ts'

/** What a server of the merchant is set up with; what is not known has its value of a service of this machine. */
export type Server = {
  /** The values of the settings, by their names. */
  values: Readonly<Record<string, string>>
  /** What tells the secrets: commands that leave those that are in use as they are, where there are such. */
  secrets: readonly { command: string; gives: string; changes: boolean }[]
}

/** The server of the service that the command line means, or that runs here. */
export function serverOf(context: Context): Server {
  const found = serviceOf(context)
  const realm = realmOf(found)
  const clientId = found?.state?.merchant.client_id ?? (realm && clientIdsOf(realm).server)
  const values = { SVC_URL: found?.apiUrl, SVC_REALM: realm, SVC_CLIENT_ID: clientId }
  return {
    values: Object.fromEntries(
      Object.entries(values).flatMap(([name, value]) => (isPlain(value) ? [[name, value]] : [])),
    ),
    secrets:
      found === undefined || found.state !== undefined
        ? [ofFile(context)]
        : OF_ELSEWHERE.map((each) => typed(context, each)),
  }
}

function serviceOf({ io, flags }: Context): FoundService | undefined {
  try {
    return findService({ flags, env: io.env, cwd: io.cwd })
  } catch (error) {
    // A sample is written before there is a service, too.
    if (error instanceof CliError && error.code === 'NOT_RUNNING') return undefined
    throw error
  }
}

function realmOf(found: FoundService | undefined): string | undefined {
  const { profile, state, projectRealm } = found ?? {}
  const ofProfile = profile?.settings.kind === 'merchant' ? (profile.settings.realm ?? undefined) : undefined
  const realm = ofProfile ?? state?.merchant.realm ?? projectRealm
  return realm !== undefined && isSlug(realm) ? realm : undefined
}

/** Shells read the file: nothing that stands in it may be more than a value to them. */
function isPlain(value: string | undefined): value is string {
  return value !== undefined && /^[\w:/.%[\]-]+$/.test(value)
}

/** The state directory keeps the demo merchant's; to read them changes nothing. */
function ofFile({ stateDir }: Context): Server['secrets'][number] {
  const script = `require(${JSON.stringify(serviceFile(stateDir))}).merchant`
  return {
    command: `node -p ${quoted(script)}`,
    gives: "prints the demo merchant's: client_secret and webhook_secret",
    changes: false,
  }
}

const OF_ELSEWHERE = [
  {
    command: 'svc credentials create --name shop',
    gives: 'prints a new client and its secret; the others stay',
    changes: true,
  },
  {
    command: 'svc secret rotate',
    gives: 'prints a new signing secret; the one before signs as well for a day',
    changes: true,
  },
]

function typed({ io, flags }: Context, way: Server['secrets'][number]): Server['secrets'][number] {
  return { ...way, command: asTyped(way.command, io.calledAs, flags) }
}

/** The example of the settings for this server. */
export function withServer(example: string, { values, secrets }: Server): string {
  const filled = example.replaceAll(
    /^(\w+)=(.*)$/gm,
    (_line, name: string, value: string) => `${name}=${values[name] ?? value}`,
  )
  const told = secrets.map(({ command, gives }) => `#   ${command}\n#   ${gives}\n`).join('')
  return filled.replace(/^# The client's secret\./m, (line) => `# The two secrets:\n${told}${line}`)
}
