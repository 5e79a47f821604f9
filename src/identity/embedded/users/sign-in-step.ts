import type { UserRecord } from '../record.ts'
import type { PageRequest } from './page-request.ts'

type Details = Awaited<ReturnType<PageRequest['provider']['interactionDetails']>>

/** A step of the sign-in that the library sent the browser to. `action`: the path of its page. */
export type Step = { request: PageRequest; details: Details; action: string }

/** The key in an interaction's result of a sign-in that awaits its second factor. The library knows no such result. */
export const PENDING = 'svc_second_factor'

/** The library redirects the browser to the next step or back to the client. */
export async function finish(
  { request }: Step,
  result: Parameters<PageRequest['provider']['interactionFinished']>[2],
): Promise<undefined> {
  await request.provider.interactionFinished(request.req, request.res, result)
  return undefined
}

/** Whether a sign-in still counts: not of a disabled user, nor from before its sessions were last ended. `at` in seconds. */
export function isSignInValid(user: Pick<UserRecord, 'is_enabled' | 'sessions_valid_from'>, at: number): boolean {
  return user.is_enabled && at * 1_000 >= Date.parse(user.sessions_valid_from)
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
