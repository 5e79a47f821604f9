import { readFileSync } from 'node:fs'
import { CliError } from './errors.ts'

/** The environment variables that commands read, as `svc help environment` prints them; those of the service apart. */
export const VARIABLES: readonly { name: string; meaning: string }[] = [
  { name: 'SVC_API_URL', meaning: 'the service, as --api-url' },
  { name: 'SVC_PROFILE', meaning: 'the profile, as --profile' },
  { name: 'SVC_TOKEN', meaning: 'an access token; or SVC_TOKEN_FILE, a file that holds it' },
  { name: 'SVC_CLIENT_ID', meaning: 'the client id, as --client-id' },
  { name: 'SVC_CLIENT_SECRET', meaning: 'the secret of the client; or SVC_CLIENT_SECRET_FILE, a file that holds it' },
  { name: 'SVC_REALM', meaning: 'the realm to sign in to, if the client id does not name it' },
  {
    name: 'SVC_AUTH_URL',
    meaning: 'the address of the identity provider, instead of the one that the service returns',
  },
  {
    name: 'SVC_PLATFORM_USER',
    meaning: "without an identity provider, the operator's name (your user name on this machine)",
  },
  { name: 'SVC_CUSTOMER_ID', meaning: 'without an identity provider, the customer of svc ob, as its --customer' },
  { name: 'SVC_STATE_DIR', meaning: 'where svc up keeps its data, as --state-dir (.svc)' },
  { name: 'SVC_CONFIG_DIR', meaning: 'where profiles and sessions are kept (~/.config/svc)' },
  { name: 'SVC_OUTPUT', meaning: 'the form of results, as --output (table)' },
  { name: 'SVC_COLOR', meaning: 'when to colour, as --color; NO_COLOR, FORCE_COLOR and CLICOLOR_FORCE override it' },
  { name: 'SVC_PAGER', meaning: 'the pager for results longer than the terminal (PAGER; less); empty for none' },
  { name: 'SVC_NO_INPUT', meaning: 'with 1, never prompt and open no editor or browser, as --no-input' },
  { name: 'SVC_TIMEOUT', meaning: 'how long one request may take (15s)' },
  {
    name: 'SVC_WEBHOOK_SECRET',
    meaning: 'the signing secret of svc listen, svc webhooks sign, verify and exam, and svc checkout',
  },
  {
    name: 'SVC_DEBUG',
    meaning:
      'any value prints the stack of an unexpected failure; api, auth and sql, separated by commas, also print each request, the source of the identity, and each SQL statement of a service that svc runs',
  },
]

/** How a command finds its service and its identity; the order of auth/choose.ts and find-service.ts. */
export const PRECEDENCE = `The identity comes from the first of these that is set:
  --client-id, --profile, SVC_TOKEN, SVC_CLIENT_ID, SVC_PROFILE, the profile of svc profile use,
  and then the demo logins of the running service in the state directory.

The service comes from the first of these that is set:
  --api-url, SVC_API_URL, the profile of --profile or SVC_PROFILE, the profile of svc profile use,
  and then the running service in the state directory.

Each other setting comes from the first of these that has it:
  the flag, the environment, the files of --env, and then config.yaml of SVC_CONFIG_DIR, which is ~/.config/svc or
  $XDG_CONFIG_HOME/svc. It is YAML and may hold api_url, profile, output, color, timeout and pager.
Put secrets into the environment or into the files of --env. The state directory of the current folder may name a
service on this machine. It may name one elsewhere only if --api-url, SVC_API_URL, a profile or your own config.yaml
names the same one.

svc ob uses the identity of a customer of the bank: sign in as one, or, without an identity provider, name one with
--customer or SVC_CUSTOMER_ID.

svc serve, worker, migrate and staff bootstrap are configured by the environment alone: SVC_DATABASE_URL, SVC_ENCRYPTION_KEY
and the others of svc docs configuration. NO_COLOR, FORCE_COLOR, BROWSER, VISUAL, EDITOR and
XDG_CONFIG_HOME have their usual meaning.`

export function isYes(value: string | undefined): boolean {
  return value !== undefined && !['', '0', 'false', 'no'].includes(value.toLowerCase())
}

/** A variable, or what the file holds that its _FILE twin names, as orchestrators mount secrets. */
export function variableIn(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const [value = '', file = ''] = [env[name], env[`${name}_FILE`]]
  if (value !== '' || file === '') return value === '' ? undefined : value
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (cause) {
    // The path may be the secret itself, put in the wrong place: it is not repeated.
    throw new CliError('CONFIGURATION', `${name}_FILE: can't read the file that it names`, { cause })
  }
}

export function isSetIn(env: NodeJS.ProcessEnv, name: string): boolean {
  return [env[name], env[`${name}_FILE`]].some((text) => (text ?? '') !== '')
}
