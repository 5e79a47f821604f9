import { authorizationUrl } from './identity.ts'
import type { SignInWish } from './identity.ts'
import { UserAgent, formsOf } from './user-agent.ts'
import type { Page } from './user-agent.ts'

/** Opens the page that asks for address and password, as someone who was never here. */
export async function openLogin(wish: SignInWish): Promise<{ agent: UserAgent; page: Page }> {
  const agent = new UserAgent(wish.authUrl)
  const page = await agent.open(authorizationUrl(wish).url)
  return { agent, page }
}

/** One guess from a new browser. */
export async function guess(wish: SignInWish, password: string): Promise<Page> {
  const { agent, page } = await openLogin(wish)
  const [form] = formsOf(page.text)
  const name = form?.fields.find(([field]) => /^(email|username)$/.test(field))?.[0] ?? 'email'
  return agent.send(page, { [name]: wish.email, password })
}

/** Whether somebody was signed in and sent back to the client. */
export function isIn(page: Page): boolean {
  return page.left?.searchParams.has('code') === true
}

/** Takes the link of an invitation, whichever fields its page has. */
export async function takeInvitation(authUrl: string, link: string, password: string): Promise<Page> {
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
