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
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { resolveId } from '../kit/resolve-id.ts'
import type { Noun } from '../kit/resolve-id.ts'
import { collect, emptyText, idsOf, tellMore } from './pages.ts'
import type { ObPaging, ObReader } from './pages.ts'
import { moneyText, printList, printRecord, statusStyle } from './print.ts'
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

/** The lists and details that requests and offers have alike. */
export function requestReads<R extends Row>(kind: RequestKind<R>) {
  return {
    async list(context: Context, { options }: CommandInput<ObPaging>): Promise<CommandResult> {
      const { items, ...page } = await collect(options, kind.id, kind.list(context.client()))
      printList(context, {
        items,
        schema: kind.schema,
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
          { title: 'made', value: (row) => shortTime(row.CreationDateTime), short: dayOf, dropped: 1 },
        ],
        id: kind.id,
        empty: emptyText(`There are no ${kind.noun.replace(' ', 's ')}.`, page),
      })
      tellMore(context, page)
      return undefined
    },

    async show(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
      const client = context.client()
      printRequest(context, kind, await kind.get(client, await requestId(client, kind, args[0] ?? '')))
      return undefined
    },
  }
}

/** One of them, by its id or a part of it. */
export function requestId<R extends Row>(client: Client, kind: RequestKind<R>, given: string): Promise<string> {
  return resolveId(given, kind.noun, () => idsOf(kind.list(client), kind.id))
}

export function printRequest<R extends Row>(context: Context, kind: RequestKind<R>, row: R): void {
  printRecord(context, {
    item: row,
    id: kind.id(row),
    lines: [
      [kind.noun.startsWith('request') ? 'Request' : 'Offer', kind.id(row)],
      ['Status', row.Status],
      ['Reason', reasonText(row)],
      ['Amount', moneyText(kind.amount(row))],
      ['From', kind.maker(row)],
      ['To', kind.receiver(row)],
      ['Due', kind.due(row)],
      ['Reference', row.Reference ?? ''],
      ['Payment', row.PaymentId ?? ''],
      ['Made', shortTime(row.CreationDateTime)],
      ['Expires', row.Status === 'Sent' ? shortTime(row.ExpirationDateTime) : ''],
    ],
  })
}
