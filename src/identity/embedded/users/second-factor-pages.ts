import { ACR, asksForFactor } from '../../../lib/sign-in-levels.ts'
import { lostSignInPage, tooManyMailsPage } from '../pages/message.ts'
import { factorPage, mailedCodePage, recoveryCodesPage, setUpPage } from '../pages/second-factor.ts'
import type { PageReply } from '../pages/shell.ts'
import type { UserRecord } from '../record.ts'
import { WRONG_PASSKEY, ceremonyOf, creationOptionsOf, logRejection, methodsOf, viewOf } from './factor-step.ts'
import { afterChange, answerManage, createPasskey } from './manage-factor-pages.ts'
import { hashOf, mailCode } from './mailed-code.ts'
import { requestOptions, verifyUsed } from './passkeys.ts'
import { listPasskeys } from './passkeys-sql.ts'
import { pathIn } from './page-request.ts'
import { keep, save } from './pending-sign-in.ts'
import type { Pending, PendingAt } from './pending-sign-in.ts'
import { checkCode, makeSecret, requiresFactor, setUpApp } from './second-factor.ts'
import { factorOf, hasApp } from './second-factor-sql.ts'
import { finish } from './sign-in-step.ts'
import type { Step } from './sign-in-step.ts'
import { findUserBySubject } from './users-sql.ts'

const WRONG = 'The code is wrong or was used before. After five wrong attempts the account is locked for a few minutes.'
const WRONG_FIRST = "The code is wrong. If it stays so, check that your phone's clock is right."

const WRONG_MAILED = 'The code is wrong. Each sign-in mails another one: the newest is right.'

const setUp = { stage: 'set-up', methods: null } as const

/** How a person has shown the second factor (RFC 8176). */
const OTP = ['otp']

/** Continues a sign-in whose password was right: with a code, with a new app where one is required, or at once. */
export async function afterPassword(
  step: Step,
  { subject, at }: { subject: string; at: number },
): Promise<PageReply | undefined> {
  const { parts, realm } = step.request
  const user = await findUserBySubject(parts.pool, realm.slug, subject)
  if (user === null) return lostSignInPage(step.request.theme)
  const factor = await factorOf(parts.pool, user.id)
  if (factor !== null) return keep(step, { stage: 'factor', subject, at, factor })
  if (requiresFactor(parts, user) || asksForFactor(step.details.params['acr_values'])) {
    if (user.is_address_proved) return keep(step, { ...setUp, subject, at, factor, secret: newSecret() })
    const mailed = await mailCode(parts, user)
    if ('retryAfterSeconds' in mailed) {
      const forgotPath = pathIn(step.request, `/forgot?interaction=${step.details.uid}`)
      return tooManyMailsPage(step.request.theme, mailed.retryAfterSeconds, forgotPath)
    }
    return keep(step, { stage: 'mail', subject, at, factor, codeHash: mailed.codeHash })
  }
  return finish(step, { login: { accountId: subject, ts: at, acr: ACR.password, amr: ['pwd'] } })
}

/** The pages between password and end of the sign-in. */
export async function answerPending(step: Step, pending: Pending): Promise<PageReply | undefined> {
  const { parts, realm, theme, form } = step.request
  const user = await findUserBySubject(parts.pool, realm.slug, pending.subject)
  if (user === null) return lostSignInPage(theme)
  if (pending.stage === 'mail') return answerMail(step, pending, user)
  if (pending.stage === 'factor') return answerFactor(step, pending, user)
  if (pending.stage === 'set-up') return answerSetUp(step, pending, user)
  const action = form?.get('action')
  if (action === 'continue') return finishBoth(step, pending)
  if (pending.stage === 'codes') {
    if (action === 'manage') return keep(step, { ...pending, stage: 'done' })
    return recoveryCodesPage(viewOf(step), pending.codes)
  }
  if (action === 'replace') return keep(step, { ...pending, stage: 'set-up', secret: newSecret() })
  return answerManage(step, pending, user)
}

/** The mailed code leads to the set-up. It is random enough for the limits of the page's form. */
function answerMail(step: Step, pending: PendingAt<'mail'>, user: UserRecord): Promise<PageReply> | PageReply {
  const code = step.request.form?.get('code')
  if (code == null) return mailedCodePage(viewOf(step), user.email)
  if (hashOf(code) === pending.codeHash) return keep(step, { ...pending, ...setUp, secret: newSecret() })
  logRejection(step, user, { what: 'mailed code' })
  return mailedCodePage({ ...viewOf(step), problem: WRONG_MAILED }, user.email)
}

async function answerFactor(
  step: Step,
  pending: PendingAt<'factor'>,
  user: UserRecord,
): Promise<PageReply | undefined> {
  const { form } = step.request
  const [code, passkey] = [form?.get('code'), form?.get('passkey')]
  if (passkey != null) return answerPasskey(step, { pending, user, text: passkey })
  if (code == null) return showFactor(step, { pending, user })
  const result = await checkCode(step.request.parts, user, code)
  if (result === 'rejected') {
    logRejection(step, user, { what: 'second factor' })
    return showFactor(step, { pending, user, problem: WRONG })
  }
  // Who needed a recovery code may have lost the app.
  return shown(step, { pending, methods: OTP, isManaging: result === 'recovered' })
}

type AtFactor = { pending: PendingAt<'factor'>; user: UserRecord }

async function answerPasskey(
  step: Step,
  { pending, user, text }: AtFactor & { text: string },
): Promise<PageReply | undefined> {
  const { parts } = step.request
  const ceremony = ceremonyOf(step, pending)
  if (ceremony === null) return showFactor(step, { pending, user })
  const passkeys = await listPasskeys(parts.pool, user.id)
  // Before the answer is checked: no challenge is answered twice.
  const next = await save(step, pending)
  const used = await verifyUsed(ceremony, { db: parts.pool, userId: user.id, passkeys, text })
  if ('reason' in used) {
    logRejection(step, user, { what: 'passkey', reason: used.reason })
    return showFactor(step, { pending: next, user, problem: WRONG_PASSKEY })
  }
  return shown(step, { pending, methods: methodsOf(used.is_synced) })
}

/** The second factor was shown: the sign-in ends, or the person changes the factor first. */
function shown(
  step: Step,
  { pending, methods, isManaging = false }: { pending: Pending; methods: string[]; isManaging?: boolean },
): Promise<PageReply | undefined> {
  const wants = step.request.form?.get('action') === 'manage'
  return wants || isManaging
    ? keep(step, { ...pending, stage: 'done', methods })
    : finishBoth(step, { ...pending, methods })
}

async function showFactor(step: Step, { pending, user, problem }: AtFactor & { problem?: string }): Promise<PageReply> {
  const { pool } = step.request.parts
  const passkeys = await listPasskeys(pool, user.id)
  const ceremony = ceremonyOf(step, pending)
  return factorPage(
    { ...viewOf(step), problem },
    {
      hasApp: await hasApp(pool, user.id),
      passkeyOptions: ceremony === null || passkeys.length === 0 ? undefined : await requestOptions(ceremony, passkeys),
    },
  )
}

async function answerSetUp(step: Step, pending: PendingAt<'set-up'>, user: UserRecord): Promise<PageReply | undefined> {
  const { parts, form } = step.request
  const secret = Buffer.from(pending.secret, 'base64')
  const show = async (at: Pending, problem?: string): Promise<PageReply> =>
    setUpPage(
      { ...viewOf(step), problem },
      {
        secret,
        realm: user.realm,
        email: user.email,
        // Further passkeys are added where the person's others are listed.
        passkeyOptions: pending.factor === null ? await creationOptionsOf(step, at, user) : undefined,
      },
    )
  if (pending.factor === null && form?.has('passkey') === true) return createPasskey(step, { pending, user, show })
  const code = form?.get('code')
  if (code == null) return show(pending)
  const change = await setUpApp(parts, user, { ...pending, secret, code })
  if (change.outcome === 'rejected') return show(pending, WRONG_FIRST)
  return afterChange(step, { pending, change, methods: pending.methods ?? OTP })
}

function finishBoth(
  step: Step,
  { subject, at, methods }: Pick<PendingAt<'done'>, 'subject' | 'at' | 'methods'>,
): Promise<undefined> {
  return finish(step, {
    login: { accountId: subject, ts: at, acr: ACR.secondFactor, amr: ['pwd', ...methods, 'mfa'] },
  })
}

function newSecret(): string {
  return makeSecret().toString('base64')
}
