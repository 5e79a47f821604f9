import { readFileSync } from 'node:fs'
import { CliError } from './errors.ts'

/** The environment variables that commands read, as `svc help environment` prints them; those of the service apart. */
export const VARIABLES: readonly { name: string; meaning: string }[] = [
  { name: 'SVC_API_URL', meaning: 'the service, as --api-url' },
  { name: 'SVC_PROFILE', meaning: 'the profile, as --profile' },
  { name: 'SVC_TOKEN', meaning: 'an access token to act with; or SVC_TOKEN_FILE, a file that holds it' },
  { name: 'SVC_CLIENT_ID', meaning: 'the client to act as, as --client-id' },
  { name: 'SVC_CLIENT_SECRET', meaning: 'its secret; or SVC_CLIENT_SECRET_FILE, a file that holds it' },
  { name: 'SVC_REALM', meaning: 'the realm to sign in to, where the client id does not say it' },
  { name: 'SVC_AUTH_URL', meaning: 'where the identity provider is, instead of where the service says' },
  {
    name: 'SVC_PLATFORM_USER',
    meaning: "without an identity provider, the operator's name (the name of who is signed in to this machine)",
  },
  { name: 'SVC_CUSTOMER_ID', meaning: 'without an identity provider, the customer of svc ob, as its --customer' },
  { name: 'SVC_STATE_DIR', meaning: 'where svc up keeps its data, as --state-dir (.svc)' },
  { name: 'SVC_CONFIG_DIR', meaning: 'where profiles and sessions are kept (~/.config/svc)' },
  { name: 'SVC_OUTPUT', meaning: 'the form of results, as --output (table)' },
  { name: 'SVC_COLOR', meaning: 'when to colour, as --color; NO_COLOR, FORCE_COLOR and CLICOLOR_FORCE go before it' },
  { name: 'SVC_PAGER', meaning: 'what shows results longer than the terminal (PAGER; less); empty for nothing' },
  { name: 'SVC_NO_INPUT', meaning: 'with 1, ask nothing and open no editor or browser, as --no-input' },
  { name: 'SVC_TIMEOUT', meaning: 'how long one request may take (15s)' },
  {
    name: 'SVC_WEBHOOK_SECRET',
    meaning: 'the signing secret of svc listen, svc webhooks sign, verify and exam, and svc checkout',
  },
  {
    name: 'SVC_DEBUG',
    meaning:
      'anything: an unexpected failure is printed with where it happened; api,auth,sql: also each request to the service, where the identity comes from, and with what runs the service each statement to the database',
  },
]

/** How a command finds out where to go and who to act as; the order of auth/choose.ts and find-service.ts. */
export const PRECEDENCE = `Who a command acts as is said by the first of these that is there:
  --client-id, --profile, SVC_TOKEN, SVC_CLIENT_ID, SVC_PROFILE, svc profile use, and then
  the running service of the state directory with its demo logins.

Which service it talks to:
  --api-url, SVC_API_URL, a profile that --profile or SVC_PROFILE names, that of svc profile use,
  and then the running service of the state directory.

Settings are taken from the first of these that has them:
  the flag, the environment, the files of --env, and then config.yaml of SVC_CONFIG_DIR, which is ~/.config/svc or
  $XDG_CONFIG_HOME/svc. It is YAML and may hold api_url, profile, output, color, timeout and pager.
Secrets stand in the environment, or in the files of --env. The state directory of the folder you work in may name a
service of this machine, or one that --api-url, SVC_API_URL, a profile or your own config.yaml names as well; any other
is refused.

svc ob acts as a customer of the bank: --customer and SVC_CUSTOMER_ID name one where there is no identity provider.

svc serve, worker, migrate and staff bootstrap are configured by the environment alone: SVC_DATABASE_URL, SVC_ENCRYPTION_KEY
and the others of svc docs configuration. NO_COLOR, FORCE_COLOR, BROWSER, VISUAL, EDITOR and
XDG_CONFIG_HOME mean what they mean elsewhere.`

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
