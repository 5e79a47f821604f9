import { parseDuration } from '../../../src/lib/duration.ts'
import {
  listPayerConsents,
  listPayerPayments,
  raisePayerDispute,
  requestLink,
  signOutPayer,
  verifyLink,
} from '../../../src/wire/payer.ts'
import { withPayerSession } from '../../client/auth/credentials.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import { keep, madeOf, pollFor, readInput } from '../play/case-run.ts'
import type { CaseRun } from '../play/case-run.ts'
import { StepFailure } from '../failure.ts'
import { refuseDifferences } from '../assert-matches.ts'
import {
  PayerConsents,
  PayerDisputeStep,
  PayerLink,
  PayerPayments,
  PayerSignOut,
  PayerVerify,
} from '../language/payers.ts'
import { WITHIN } from '../language/parts.ts'
import { differencesOf } from '../matchers.ts'
import { contactOf, recipientOf } from './contacts.ts'
import { newLinkOf, seenMails } from './hub-mail.ts'
import { refuseUnlike } from './refuse-unlike.ts'

/** How long nothing has to come before it is taken that nothing will. */
const SILENCE = '1s'

/** Asks for a link, and waits for the message that brings it. */
export async function link(run: CaseRun, given: unknown): Promise<void> {
  const { contact, as, arrives = true, within = arrives ? WITHIN : SILENCE } = readInput(run, PayerLink, given)
  const wanted = contactOf(contact)
  const recipient = await recipientOf(wanted)
  const seen = await seenMails(run, recipient)
  await call(run.client, requestLink, { body: wanted })
  const token = await pollFor(run, parseDuration(within), () => newLinkOf(run, { recipient, seen }))
  if (!arrives) {
    if (token === undefined) return
    throw new StepFailure(`a link was sent to ${contact}, where none was to come`, { at: ['arrives'] })
  }
  if (token === undefined)
    throw new StepFailure(`no link for ${contact} came within ${within}`, {
      at: ['contact'],
      hint: 'who has paid nothing is sent none: pay: { …, payer_email: … } before this step; and a worker sends them',
    })
  keep(run, as, { kind: 'link', token }, { contact: recipient })
}

/** Opens a link, which works once. */
export async function verify(run: CaseRun, given: unknown): Promise<void> {
  const input = readInput(run, PayerVerify, given)
  const token = input.link === undefined ? (input.token ?? '') : madeOf(run, 'link', input.link).token
  const { status, body } = await call(run.client, verifyLink, { body: { token } })
  const { session_token: sessionToken, ...shown } = body
  keep(run, input.as, { kind: 'payer', sessionToken }, { contact: body.contact })
  refuseUnlike('the session', { status, body: shown }, { usual: 200, expected: input.expect })
}

export async function signOut(run: CaseRun, given: unknown): Promise<void> {
  const { payer } = readInput(run, PayerSignOut, given)
  await call(inHub(run, payer), signOutPayer, {})
}

export async function listPayments(run: CaseRun, given: unknown): Promise<void> {
  const { payer, ...expected } = readInput(run, PayerPayments, given)
  const { body } = await call(inHub(run, payer), listPayerPayments, {})
  refuseOtherList(`the payments of ${payer}`, body.data, expected)
}

export async function listConsents(run: CaseRun, given: unknown): Promise<void> {
  const { payer, ...expected } = readInput(run, PayerConsents, given)
  const { body } = await call(inHub(run, payer), listPayerConsents, {})
  refuseOtherList(`the mandates of ${payer}`, body.data, expected)
}

type Listed = { count?: unknown; newest?: readonly unknown[] | undefined }

function refuseOtherList(what: string, list: readonly unknown[], { count, newest }: Listed): void {
  const expected = { ...(count === undefined ? {} : { count }), ...(newest === undefined ? {} : { newest }) }
  const seen = { count: list.length, newest: list.slice(0, newest?.length ?? 0) }
  refuseDifferences(what, differencesOf(expected, seen))
}

/** The payer says in the hub that something is wrong with a payment. */
export async function dispute(run: CaseRun, given: unknown): Promise<void> {
  const input = readInput(run, PayerDisputeStep, given)
  const { reason, statement, as } = input
  const reply = await call(inHub(run, input.payer), raisePayerDispute, {
    params: { id: madeOf(run, 'payment', input.payment).created.payment_id },
    body: { reason, ...(statement === undefined ? {} : { payer_statement: statement }) },
  })
  keep(run, as, { kind: 'dispute', dispute: reply.body }, reply.body)
  refuseUnlike('the dispute', reply, { usual: 201, expected: input.expect })
}

/** The case's own client, as it is now, with the session of a payer. */
export function inHub(run: CaseRun, reference: string): Client {
  return withPayerSession(run.client, madeOf(run, 'payer', reference).sessionToken)
}
