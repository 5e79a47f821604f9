import type { z } from 'zod'
import {
  OfferToPayResponse,
  RequestToPayResponse,
  getOfferToPay,
  getRequestToPay,
  listOffersToPay,
  listRequestsToPay,
} from '../../src/wire/payment-requests.ts'
import { dayOf, endOfId, shortTime } from '../base/text.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { command } from '../kit/command.ts'
import type { Context } from '../kit/context.ts'
import { resolveId } from '../kit/resolve-id.ts'
import type { Noun } from '../kit/resolve-id.ts'
import { OB_PAGING, idsOf } from './pages.ts'
import type { ObReader } from './pages.ts'
import { amountText, printPages, printRecord, statusStyle } from './print.ts'
import { reasonText } from './wait.ts'

/** What commands have to know of requests and of offers, which are alike but for their names. */
export type RequestKind<Row> = {
  noun: Extract<Noun, 'request to pay' | 'offer to pay'>
  /** Its commands, after `svc ob`. */
  words: string
  summary: string
  article: string
  word: string
  schema: z.ZodObject
  list(client: Client): ObReader<Row>
  get(client: Client, id: string): Promise<Row>
  id(row: Row): string
  amount(row: Row): { Amount: string; Currency: string }
  /** Who made it, and to whom it went. */
  maker(row: Row): string
  receiver(row: Row): string
  due(row: Row): string
}

export const REQUESTS: RequestKind<RequestToPayResponse> = {
  noun: 'request to pay',
  words: 'request-to-pay',
  summary: 'Request payments, and answer requests',
  article: 'a',
  word: 'request',
  schema: RequestToPayResponse,
  list: (client) => async (query) => (await call(client, listRequestsToPay, { query })).body,
  get: async (client, RequestToPayId) => (await call(client, getRequestToPay, { params: { RequestToPayId } })).body,
  id: (row) => row.RequestToPayId,
  amount: (row) => row.AmountRequested,
  maker: (row) => row.PayeeName,
  receiver: (row) => row.PayerIdentifier,
  due: (row) => row.DueDate,
}

export const OFFERS: RequestKind<OfferToPayResponse> = {
  noun: 'offer to pay',
  words: 'offer-to-pay',
  summary: 'Offer payments, and answer offers',
  article: 'an',
  word: 'offer',
  schema: OfferToPayResponse,
  list: (client) => async (query) => (await call(client, listOffersToPay, { query })).body,
  get: async (client, OfferToPayId) => (await call(client, getOfferToPay, { params: { OfferToPayId } })).body,
  id: (row) => row.OfferToPayId,
  amount: (row) => row.AmountOffered,
  maker: (row) => row.PayerName,
  receiver: (row) => row.PayeeIdentifier,
  due: () => '',
}

export type Row = RequestToPayResponse | OfferToPayResponse

export function requestReads<R extends Row>(kind: RequestKind<R>) {
  const many = kind.noun.replace(' ', 's ')
  const words = `ob ${kind.words}`
  const list = command({
    command: `${words} list`,
    summary: `List ${many}, newest first`,
    examples: [`svc ${words} list`, `svc ${words} list --all -o csv`],
    flags: OB_PAGING,
    async run(context, input) {
      await printPages(context, input, kind.list(context.client()), {
        fields: kind.schema,
        columns: [
          { title: 'id', value: kind.id, short: endOfId },
          { title: 'way', value: (row) => (row.Direction === 'Outgoing' ? 'to' : 'from') },
          {
            title: 'who',
            value: (row) => (row.Direction === 'Outgoing' ? kind.receiver(row) : kind.maker(row)),
            least: 16,
          },
          { title: 'amount', value: (row) => kind.amount(row).Amount, align: 'right' },
          { title: 'cur', value: (row) => kind.amount(row).Currency, dropped: 2 },
          { title: 'due', value: kind.due },
          { title: 'status', value: (row) => row.Status, style: statusStyle },
          { title: 'reference', value: (row) => row.Reference ?? '', least: 10 },
          { title: 'created', value: (row) => shortTime(row.CreationDateTime), short: dayOf, dropped: 1 },
        ],
        id: kind.id,
        empty: `There are no ${many}.`,
      })
    },
  })
  const show = command({
    command: `${words} show`,
    summary: `Show ${kind.article} ${kind.noun}`,
    examples: [`svc ${words} show a2b4358c`],
    flags: { one: { value: kind.word, summary: 'Its id, or its last 8 characters', positional: true, required: true } },
    async run(context, input) {
      const client = context.client()
      printRequest(context, kind, await kind.get(client, await requestId(client, kind, input.one)))
    },
  })
  const examples = [`svc ${words} list`, `svc ${words} accept a2b4358c --wait`]
  return [{ command: words, summary: kind.summary, examples }, list, show]
}

export function requestId<R extends Row>(client: Client, kind: RequestKind<R>, given: string): Promise<string> {
  return resolveId(given, kind.noun, () => idsOf(kind.list(client), kind.id))
}

export function printRequest<R extends Row>(context: Context, kind: RequestKind<R>, row: R): void {
  printRecord(context, row, [
    [kind.noun.startsWith('request') ? 'Request' : 'Offer', kind.id(row)],
    ['Status', row.Status],
    ['Reason', reasonText(row)],
    ['Amount', amountText(kind.amount(row))],
    ['From', kind.maker(row)],
    ['To', kind.receiver(row)],
    ['Due', kind.due(row)],
    ['Reference', row.Reference ?? ''],
    ['Payment', row.PaymentId ?? ''],
    ['Created', shortTime(row.CreationDateTime)],
    ['Expires', row.Status === 'Sent' ? shortTime(row.ExpirationDateTime) : ''],
  ])
}
