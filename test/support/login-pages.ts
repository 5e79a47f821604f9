import { authorizationUrl } from './identity.ts'
import type { SignInInput } from './identity.ts'
import { UserAgent, formsOf } from './user-agent.ts'
import type { Page } from './user-agent.ts'

/** Opens the page that asks for address and password, in a new browser. */
export async function openLogin(input: SignInInput): Promise<{ agent: UserAgent; page: Page }> {
  const agent = new UserAgent(input.authUrl)
  const page = await agent.open(authorizationUrl(input).url)
  return { agent, page }
}

/** Tries a password in a new browser. */
export async function tryPassword(input: SignInInput, password: string): Promise<Page> {
  const { agent, page } = await openLogin(input)
  const [form] = formsOf(page.text)
  const name = form?.fields.find(([field]) => /^(email|username)$/.test(field))?.[0] ?? 'email'
  return agent.send(page, { [name]: input.email, password })
}

/** Whether the sign-in succeeded and led back to the client. */
export function isSignedIn(page: Page): boolean {
  return page.left?.searchParams.has('code') === true
}

/** Opens the link of an invitation and fills in every password field of its page. */
export async function acceptInvitation(authUrl: string, link: string, password: string): Promise<Page> {
  const agent = new UserAgent(authUrl)
  const first = await agent.open(link)
  // Keycloak asks for a click before it does anything, for those who scan mail.
  const onward = /href="([^"]*\/login-actions\/action-token[^"]*)"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&')
  const page = onward === undefined ? first : await agent.open(onward)
  const fields = [...page.text.matchAll(/<input\b[^>]*type="password"[^>]*>/g)].flatMap(
    ([input]) => /\bname="([^"]*)"/.exec(input)?.[1] ?? [],
  )
  return fields.length === 0 ? page : agent.send(page, Object.fromEntries(fields.map((name) => [name, password])))
}
