import { z } from 'zod'
import { isRecentSignIn } from '../../../lib/sign-in-levels.ts'
import type { PageReply } from '../pages/shell.ts'
import { makeChallenge } from './passkeys.ts'
import { PENDING } from './sign-in-step.ts'
import type { Step } from './sign-in-step.ts'

/** How long a password counts while the second factor is awaited. */
const PENDING_SECONDS = 600

/**
 * `at`: when the password was right, in seconds. `factor`: the version of the user's factor, null for none.
 * `challenge`: for the passkeys of the stage's page.
 */
const Start = { subject: z.string(), at: z.number(), factor: z.string().nullable(), challenge: z.string() }
/** How the second factor was shown, as `amr` names it. */
const Shown = { methods: z.array(z.string()) }

/**
 * A sign-in between password and second factor, kept in the library's interaction: sealed, bound to the browser, and
 * worth nothing to the library. `codes`: shows new recovery codes. `done`: both have been shown.
 */
const Pending = z.discriminatedUnion('stage', [
  // The first factor waits for a mailed code, of which this is the hash.
  z.object({ stage: z.literal('mail'), ...Start, codeHash: z.string() }),
  z.object({ stage: z.literal('factor'), ...Start }),
  // `methods`: of the factor shown before, whose app is replaced.
  z.object({ stage: z.literal('set-up'), ...Start, secret: z.string(), methods: z.array(z.string()).nullable() }),
  z.object({ stage: z.literal('codes'), ...Start, ...Shown, codes: z.array(z.string()) }),
  z.object({ stage: z.literal('done'), ...Start, ...Shown }),
])
export type Pending = z.infer<typeof Pending>
export type PendingAt<Stage extends Pending['stage']> = Extract<Pending, { stage: Stage }>

type WithoutChallenge<Each> = Each extends Pending ? Omit<Each, 'challenge'> : never

/** The sign-in that awaits its second factor; undefined before the password, or long after it. */
export function pendingOf({ details }: Step): Pending | undefined {
  const parsed = Pending.safeParse(details.result?.[PENDING])
  return parsed.success && isRecentSignIn(parsed.data.at, PENDING_SECONDS) ? parsed.data : undefined
}

/** Stores the stage with a new challenge, so that no answer of an authenticator counts twice. */
export async function save<Stage extends WithoutChallenge<Pending>>(
  { details }: Step,
  stage: Stage,
): Promise<Stage & { challenge: string }> {
  const pending = { ...stage, challenge: makeChallenge() }
  details.result = { [PENDING]: pending }
  await details.save(Math.max(details.exp - Math.floor(Date.now() / 1_000), 1))
  return pending
}

/** Stores the stage, and leads the browser to its page, so that reloading it submits nothing. */
export async function keep(step: Step, stage: WithoutChallenge<Pending>): Promise<PageReply> {
  await save(step, stage)
  return { status: 303, headers: { location: step.action, 'cache-control': 'no-store' }, body: '' }
}
