import type { z } from 'zod'
import {
  OfferToPayResponse,
  RequestToPayResponse,
  getOfferToPay,
  getRequestToPay,
  listOffersToPay,
  listRequestsToPay,
} from '../../src/wire/payment-requests.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import type { Noun } from '../kit/resolve-id.ts'
import type { ObReader } from './pages.ts'

/** What commands have to know of requests and of offers, which are alike but for their names. */
export type RequestKind<Row> = {
  noun: Extract<Noun, 'request to pay' | 'offer to pay'>
  /** Its commands, after `svc ob`. */
  words: string
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
  schema: OfferToPayResponse,
  list: (client) => async (query) => (await call(client, listOffersToPay, { query })).body,
  get: async (client, OfferToPayId) => (await call(client, getOfferToPay, { params: { OfferToPayId } })).body,
  id: (row) => row.OfferToPayId,
  amount: (row) => row.AmountOffered,
  maker: (row) => row.PayerName,
  receiver: (row) => row.PayeeIdentifier,
  due: () => '',
}
