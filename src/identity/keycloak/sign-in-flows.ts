import { z } from 'zod'
import { IdentityUnavailableError } from '../provider.ts'
import { adminPath } from './admin.ts'
import type { Admin } from './admin.ts'

const Execution = z.looseObject({
  id: z.string(),
  providerId: z.string().optional(),
  level: z.int(),
})
type Execution = z.infer<typeof Execution>

/** How long Keycloak names a factor in `amr`: as long as a session. */
const REFERENCE_SECONDS = 36_000

/**
 * Gives a new realm its own flows for signing in and for a forgotten password; those that come with Keycloak cannot be
 * changed. The link of a mail no longer replaces the authenticator app, nor signs in without it, and tokens name in
 * `amr` what was shown (decision 351).
 */
export async function setUpFlows(admin: Admin, slug: string): Promise<void> {
  const browser = await copyFlow(admin, slug, 'browser')
  for (const [provider, name] of [
    ['auth-username-password-form', 'pwd'],
    ['auth-otp-form', 'otp'],
  ] as const) {
    await configure(admin, slug, stepOf(browser.steps, provider), {
      'default.reference.value': name,
      'default.reference.maxAge': String(REFERENCE_SECONDS),
    })
  }
  const reset = await copyFlow(admin, slug, 'reset credentials')
  await configure(admin, slug, stepOf(reset.steps, 'reset-credential-email'), { 'force-login': 'true' })
  const otp = stepOf(reset.steps, 'reset-otp')
  // The condition and what depends on it are one sub-flow: the entry one level up.
  const group = reset.steps.slice(0, reset.steps.indexOf(otp)).findLast(({ level }) => level < otp.level) ?? otp
  await admin.call({
    to: 'change a flow',
    method: 'PUT',
    path: executionsPath(slug, reset.alias),
    body: { ...group, requirement: 'DISABLED' },
  })
  const flows = { browserFlow: browser.alias, resetCredentialsFlow: reset.alias }
  await admin.call({ to: 'set the flows of a realm', method: 'PUT', path: adminPath(slug), body: flows })
}

async function copyFlow(admin: Admin, slug: string, name: string): Promise<{ alias: string; steps: Execution[] }> {
  const alias = `svc ${name}`
  const path = adminPath(slug, 'authentication', 'flows', name, 'copy')
  await admin.call({ to: 'copy a flow', method: 'POST', path, body: { newName: alias } })
  const steps = await admin.read({ to: 'read a flow', path: executionsPath(slug, alias) }, z.array(Execution))
  return { alias, steps: steps ?? [] }
}

function executionsPath(slug: string, alias: string): string {
  return adminPath(slug, 'authentication', 'flows', alias, 'executions')
}

function stepOf(steps: readonly Execution[], provider: string): Execution {
  const step = steps.find(({ providerId }) => providerId === provider)
  if (step === undefined) throw new IdentityUnavailableError(`the identity provider has no ${provider} in its flows`)
  return step
}

async function configure(admin: Admin, slug: string, { id, providerId }: Execution, config: object): Promise<void> {
  const path = adminPath(slug, 'authentication', 'executions', id, 'config')
  const body = { alias: `svc ${providerId ?? id}`, config }
  await admin.call({ to: 'configure a flow', method: 'POST', path, body })
}
