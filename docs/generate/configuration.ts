import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { CONFIG_VARIABLES, Environment } from '../../src/config/environment.ts'
import { packageRoot } from '../../src/lib/package-root.ts'
import { block, code, codes, pageHead, table } from './markdown.ts'

export function configurationPage(): string {
  const rows = CONFIG_VARIABLES.map(({ name, unset }) => [
    code(name),
    `${descriptionOf(name)}${valuesOf(name)}`,
    defaultOf(name, unset),
  ])
  return `${pageHead(
    'Configuration: every setting',
    `The environment variables of \`svc serve\`, \`svc worker\`, \`svc migrate\` and \`svc staff bootstrap\`. The commands read a
few more for themselves: \`svc help environment\`.`,
  )}
${block('sh', 'npx svc config show --server')}
Each variable has a twin whose name ends in \`_FILE\` and which names a file with the value, for secrets that an
orchestrator mounts. Durations are whole seconds.

${table(['Variable', 'Meaning', 'Default'], rows)}`
}

/** Defaults that follow from other variables, or from the mode. */
const COMPUTED: Readonly<Record<string, string>> = {
  SVC_MIGRATION_DATABASE_URL: '`SVC_DATABASE_URL`',
  SVC_ENCRYPTION_KEY_PREVIOUS: 'none',
  SVC_PUBLIC_URL: '`http://` with host and port',
  SVC_OBSERVE_PORT: 'none',
  SVC_DRAIN_SECONDS: '`6` in live mode, else `0`',
  SVC_AUTH_URL: '**required** with Keycloak',
  SVC_KEYCLOAK_CLIENT_SECRET: '**required** with Keycloak',
  SVC_SSL_REQUIRED: '`external` in live mode and where the public address is https, else `none`',
  SVC_TRUST_PROXY: '`false`; **required** in live mode',
  SVC_PORTAL_URL: '`SVC_PUBLIC_URL/portal`',
  SVC_SECOND_FACTOR: '`OWNER,OPS,ADMIN,DEVELOPER` in live mode, else none',
  SVC_SMTP_URL: 'none; **required** in live mode',
  SVC_ALERT_URL: 'none',
  SVC_ALERT_MAIL: 'none',
  SVC_RATE_LIMITS: '`true` in live mode, else `false`',
  SVC_SECURITY_LOG_LEVEL: 'that of `SVC_LOG_LEVEL`',
  SVC_VRP_CAPS: '`ignore` in the sandbox; **required** in live mode',
  SVC_SMS_URL: 'none',
  SVC_SMS_TOKEN: 'none',
  SVC_PAYOUT_ACCOUNTS: 'none',
  SVC_STATEMENT_ACCOUNTS: 'none',
  SVC_BANK_PROFILES: 'none: no bank but the mock bank of the sandbox',
  SVC_BANK_SOFTWARE_STATEMENT: 'the one in the database',
  SVC_COLLECTION_ACCOUNT: 'none; **required** with SVC_BANK_PROFILES',
  SVC_PROVIDER_NAME: 'none',
  SVC_TERMS_URL: 'none',
  SVC_PRIVACY_URL: 'none',
  SVC_PAYOUT_CONNECTOR: '`mock` in a sandbox, `file` in live mode',
  SVC_BANK_HOLIDAYS: 'those of England and Wales to 2035',
  SVC_WEBHOOK_ALLOW_PRIVATE: '`true` in a sandbox with `SVC_HOST` and `SVC_PUBLIC_URL` on loopback, else `false`',
}

function defaultOf(name: string, unset: string | undefined): string {
  if (unset !== undefined) return unset === '' ? 'none' : code(unset)
  const isRequired = schemaOf(name).safeParse(undefined).success === false
  if (isRequired) return '**required**'
  const computed = COMPUTED[name]
  if (computed === undefined) throw new Error(`${name} needs a row in COMPUTED of docs/generate/configuration.ts`)
  return computed
}

/** The names that a variable takes, where these are all. */
function valuesOf(name: string): string {
  const values = z.toJSONSchema(schemaOf(name), { io: 'input', unrepresentable: 'any' }).enum
  return values === undefined ? '' : ` One of ${codes(values.map(String))}.`
}

function schemaOf(name: string): z.ZodType {
  const schema = new Map<string, z.ZodType>(Object.entries(Environment.shape)).get(name)
  if (schema === undefined) throw new Error(`there is no variable ${name}`)
  return schema
}

/** The comment above each variable, which is where the schema is documented. */
const COMMENTS = readComments()

function descriptionOf(name: string): string {
  const text = COMMENTS.get(name)
  if (text === undefined) throw new Error(`${name} has no comment in src/config/environment.ts`)
  return text
}

function readComments(): Map<string, string> {
  const source = readFileSync(join(packageRoot(), 'src', 'config', 'environment.ts'), 'utf8')
  const found = source.matchAll(/\/\*\*(?<text>(?:(?!\*\/)[^])*)\*\/\n {2}(?<name>SVC_\w+):/g)
  return new Map(
    Array.from(found, ({ groups }) => [
      groups?.['name'] ?? '',
      (groups?.['text'] ?? '').replaceAll(/\n\s*\* ?/g, ' ').trim(),
    ]),
  )
}
