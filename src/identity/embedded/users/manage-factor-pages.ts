import { manageFactorPage } from '../pages/manage-factor.ts'
import { lostSignInPage } from '../pages/message.ts'
import type { PageReply } from '../pages/shell.ts'
import type { UserRecord } from '../record.ts'
import { WRONG_PASSKEY, ceremonyOf, creationOptionsOf, logRejection, methodsOf, viewOf } from './factor-step.ts'
import { verifyCreated } from './passkeys.ts'
import { listPasskeys } from './passkeys-sql.ts'
import { keep, save } from './pending-sign-in.ts'
import type { Pending, PendingAt } from './pending-sign-in.ts'
import { addPasskey, removePart, renewCodes } from './second-factor.ts'
import type { ChangeResult } from './second-factor.ts'
import { countRecoveryCodes, hasApp } from './second-factor-sql.ts'
import type { Step } from './sign-in-step.ts'

const LAST = 'This is the last one, which another person has to reset. Add another first.'

/** What a person has as a second factor, once one was shown: adds a passkey, removes a part, or makes new codes. */
export async function answerManage(step: Step, pending: PendingAt<'done'>, user: UserRecord): Promise<PageReply> {
  const { parts, form } = step.request
  const show = (at: Pending, problem?: string): Promise<PageReply> => showManage(step, { pending: at, user, problem })
  if (form?.has('passkey') === true) return createPasskey(step, { pending, user, show })
  const action = form?.get('action')
  if (action !== 'remove' && action !== 'renew') return show(pending)
  const part = form?.get('part') ?? ''
  const change =
    action === 'renew'
      ? await renewCodes(parts, user, pending)
      : await removePart(parts, user, { ...pending, part: part === 'app' ? part : { credentialId: part } })
  if (change.outcome === 'rejected') return show(pending, LAST)
  return afterChange(step, { pending, change, methods: pending.methods })
}

type NewPasskeyStep = {
  pending: PendingAt<'set-up' | 'done'>
  user: UserRecord
  show: (at: Pending, problem?: string) => Promise<PageReply>
}

/** Adds the passkey that the browser has created for this page's challenge. */
export async function createPasskey(step: Step, { pending, user, show }: NewPasskeyStep): Promise<PageReply> {
  const { parts, form } = step.request
  const ceremony = ceremonyOf(step, pending)
  if (ceremony === null) return show(pending)
  // Before the answer is checked: no challenge is answered twice.
  const next = await save(step, pending)
  const created = await verifyCreated(ceremony, form?.get('passkey') ?? '')
  if ('reason' in created) {
    logRejection(step, user, { what: 'new passkey', reason: created.reason })
    return show(next, WRONG_PASSKEY)
  }
  const passkey = { ...created, name: nameOf(form?.get('name') ?? '') }
  const change = await addPasskey(parts, user, { ...pending, passkey })
  if (change.outcome === 'rejected') return show(next, WRONG_PASSKEY)
  return afterChange(step, { pending, change, methods: pending.methods ?? methodsOf(created.isSynced) })
}

/** After a change of the factor: its new recovery codes, or the list. */
export function afterChange(
  step: Step,
  { pending, change, methods }: { pending: Pending; change: ChangeResult; methods: string[] },
): Promise<PageReply> | PageReply {
  if (change.outcome !== 'changed') return lostSignInPage(step.request.theme)
  const { factor, recoveryCodes } = change
  const next = { subject: pending.subject, at: pending.at, factor, methods }
  return keep(
    step,
    recoveryCodes === undefined ? { ...next, stage: 'done' } : { ...next, stage: 'codes', codes: [...recoveryCodes] },
  )
}

async function showManage(
  step: Step,
  { pending, user, problem }: { pending: Pending; user: UserRecord; problem: string | undefined },
): Promise<PageReply> {
  const { pool } = step.request.parts
  return manageFactorPage(
    { ...viewOf(step), problem },
    {
      hasApp: await hasApp(pool, user.id),
      passkeys: await listPasskeys(pool, user.id),
      recoveryCodeCount: await countRecoveryCodes(pool, user.id),
      passkeyOptions: await creationOptionsOf(step, pending, user),
    },
  )
}

const NAME_LENGTH_MAX = 60

/** A name on one line, as the person typed it. */
function nameOf(text: string): string {
  const name = text
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim()
  return [...name].slice(0, NAME_LENGTH_MAX).join('') || 'Passkey'
}
