import { ask } from './identity.ts'
import type { IdentityHarness, TestRealm, TokenAnswer } from './identity.ts'
import { formsOf } from './user-agent.ts'
import type { Page, UserAgent } from './user-agent.ts'
import { createHash, randomBytes } from 'node:crypto'

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

export type StartedDevice = {
  body: { user_code: string; verification_uri: string; device_code: string }
  poll(): Promise<TokenAnswer>
}

/** A device without a browser, in the device flow. Like the command line's, its requests carry a PKCE challenge. */
export async function startDevice(
  { authUrl }: Pick<IdentityHarness, 'authUrl'>,
  { slug, cli }: Pick<TestRealm, 'slug' | 'cli'>,
): Promise<StartedDevice> {
  const verifier = randomBytes(32).toString('base64url')
  const { status, body } = await ask(authUrl, slug, 'auth/device', {
    client_id: cli,
    scope: 'openid',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  if (status !== 200) throw new Error(`no device code: ${status} ${JSON.stringify(body)}`)
  const form = { grant_type: DEVICE_GRANT, client_id: cli, device_code: body.device_code, code_verifier: verifier }
  return { body, poll: () => ask(authUrl, slug, 'token', form) }
}

/** Types a code where the page asks for one. */
export function enterCode(agent: UserAgent, page: Page, code: string): Promise<Page> {
  const name = formsOf(page.text)[0]?.fields.find(([field]) => field.endsWith('user_code'))?.[0] ?? 'user_code'
  return agent.send(page, { [name]: code })
}

/** Presses the button that says no. */
export function refuse(agent: UserAgent, page: Page): Promise<Page> {
  const no = formsOf(page.text)[0]?.buttons.find(([name, value]) => /cancel|abort/.test(`${name}${value}`))
  return agent.send(page, {}, no)
}
