import {
  acceptOfferToPay,
  acceptRequestToPay,
  createOfferToPay,
  createRequestToPay,
  rejectOfferToPay,
  rejectRequestToPay,
} from '../../src/wire/payment-requests.ts'
import { dayFrom } from '../base/moments.ts'
import { endOfId } from '../base/text.ts'
import type { Client } from '../client/call.ts'
import { action, idSubject } from '../kit/action.ts'
import type { Flag, Waiting } from '../kit/action.ts'
import type { Context } from '../kit/context.ts'
import { findAccount } from './named-account.ts'
import { amountText } from './print.ts'
import { OFFERS, REQUESTS, printRequest, requestId } from './requests.ts'
import type { RequestKind, Row } from './requests.ts'
import { amountOf, moneyFlags } from './values.ts'
import { awaitEnd } from './wait.ts'

const WHOM = 'E-mail address, mobile number (+447700900123) or proxy id'
const reference = {
  value: 'text',
  summary: 'Reference, at most 35 characters',
  member: 'Reference',
} as const satisfies Flag

function referenceOf(text: string | undefined): { Reference?: string } {
  return text === undefined ? {} : { Reference: text }
}

function making<R extends Row>(kind: RequestKind<R>, verb: string) {
  return {
    subject: undefined,
    effect: (_thing: undefined, { amount, currency, to }: { amount: string; currency: string; to: string }) =>
      `${verb} ${to} ${kind === OFFERS ? '' : 'for '}${amountText(amountOf({ amount, currency }))}`,
    done: (_thing: undefined, made: R) => `made the ${kind.noun} ${endOfId(kind.id(made))}`,
    view: (context: Context, made: R) => printRequest(context, kind, made),
  }
}

function deciding<R extends Row>(kind: RequestKind<R>, verb: string, past: string) {
  const words = { noun: kind.word, summary: 'Its id, or its last 8 characters', called: kind.noun }
  const subject = idSubject(words, (client, given) => requestId(client, kind, given))
  return {
    subject,
    effect: ({ id }: { id: string }) => `${verb} the ${kind.noun} ${id}`,
    done: ({ id }: { id: string }) => `${past} the ${kind.noun} ${endOfId(id)}`,
    view: (context: Context, row: R) => printRequest(context, kind, row),
  }
}

function accountFlag(which: string) {
  return {
    value: 'account',
    summary: `${which}: its number or id (the first of the currency)`,
    member: 'AccountId',
    find: async (client, text) => (await findAccount(client, text)).AccountId,
  } as const satisfies Flag
}

/** None where the service may choose the account. */
function acceptance(AccountId: string | undefined): { body?: { AccountId: string } } {
  return AccountId === undefined ? {} : { body: { AccountId } }
}

function paid<R extends Row>(kind: RequestKind<R>) {
  return {
    summary: 'Wait until it is paid; exit code 3 if it is rejected',
    async until({ context, client, reply, timeoutMs }: Waiting<R>) {
      const { item, problem } = await awaitEnd<R>(context, {
        item: reply,
        look: () => kind.get(client, kind.id(reply)),
        noun: kind.noun,
        good: ['Paid'],
        bad: ['Rejected'],
        timeoutMs,
        signal: client.signal,
        hint: `svc ob ${kind.words} show ${kind.id(reply)}`,
      })
      return problem === undefined ? { reply: item } : { reply: item, problem }
    },
  }
}

export const REQUEST_ACTIONS = [
  action({
    ...making(REQUESTS, 'ask'),
    command: 'ob request-to-pay create',
    summary: 'Request a payment',
    examples: [
      'svc ob request-to-pay create --to grace@example.org --amount 25.00 --currency GBP --due 14d --name Ada --reference tickets',
    ],
    flags: {
      ...moneyFlags('AmountRequested'),
      to: { value: 'payer', summary: WHOM, required: true, member: 'PayerIdentifier' },
      due: {
        value: 'day',
        summary: 'Due date: 2026-12-24, 14d from today, or now',
        required: true,
        member: 'DueDate',
        find: (_client: Client, text: string) => dayFrom(text, '--due'),
      },
      name: {
        value: 'name',
        summary: 'Name of the requester that the payer sees',
        required: true,
        member: 'PayeeName',
      },
      reference,
    },
    operation: createRequestToPay,
    request: (_id, { to, due, name, reference: text, ...money }) => ({
      body: {
        PayeeName: name,
        PayerIdentifier: to,
        AmountRequested: amountOf(money),
        DueDate: due,
        ...referenceOf(text),
      },
    }),
  }),
  action({
    ...deciding(REQUESTS, 'pay', 'accepted'),
    command: 'ob request-to-pay accept',
    summary: 'Accept and pay a request to pay',
    examples: [
      'svc ob request-to-pay accept a2b4358c',
      'svc ob request-to-pay accept a2b4358c --account 12345678 --wait',
    ],
    flags: { account: accountFlag('Account that pays') },
    operation: acceptRequestToPay,
    request: (RequestToPayId, { account }) => ({ params: { RequestToPayId }, ...acceptance(account) }),
    wait: paid(REQUESTS),
  }),
  action({
    ...deciding(REQUESTS, 'reject', 'rejected'),
    command: 'ob request-to-pay reject',
    summary: 'Reject or withdraw a request to pay',
    examples: ['svc ob request-to-pay reject a2b4358c'],
    flags: {},
    operation: rejectRequestToPay,
  }),
] as const

export const OFFER_ACTIONS = [
  action({
    ...making(OFFERS, 'offer'),
    command: 'ob offer-to-pay create',
    summary: 'Offer a payment',
    examples: ['svc ob offer-to-pay create --to +447700900123 --amount 25.00 --currency GBP --name Ada'],
    flags: {
      ...moneyFlags('AmountOffered'),
      to: { value: 'payee', summary: WHOM, required: true, member: 'PayeeIdentifier' },
      name: { value: 'name', summary: 'Name of the sender that the payee sees', required: true, member: 'PayerName' },
      reference,
    },
    operation: createOfferToPay,
    request: (_id, { to, name, reference: text, ...money }) => ({
      body: { PayerName: name, PayeeIdentifier: to, AmountOffered: amountOf(money), ...referenceOf(text) },
    }),
  }),
  action({
    ...deciding(OFFERS, 'take', 'accepted'),
    command: 'ob offer-to-pay accept',
    summary: 'Accept an offer to pay',
    examples: ['svc ob offer-to-pay accept a2b4358c', 'svc ob offer-to-pay accept a2b4358c --account 12345678 --wait'],
    flags: { account: accountFlag('Account that is credited') },
    operation: acceptOfferToPay,
    request: (OfferToPayId, { account }) => ({ params: { OfferToPayId }, ...acceptance(account) }),
    wait: paid(OFFERS),
  }),
  action({
    ...deciding(OFFERS, 'reject', 'rejected'),
    command: 'ob offer-to-pay reject',
    summary: 'Reject or withdraw an offer to pay',
    examples: ['svc ob offer-to-pay reject a2b4358c'],
    flags: {},
    operation: rejectOfferToPay,
  }),
] as const
