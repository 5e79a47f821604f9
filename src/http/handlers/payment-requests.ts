import { acceptRequest as accept } from '../../instructions/requests/accept.ts'
import { createRequest as create } from '../../instructions/requests/create.ts'
import { listRequests as list, readRequest as read } from '../../instructions/requests/read.ts'
import { rejectRequest as reject } from '../../instructions/requests/reject.ts'
import { offerRules as rulesOfOffers, requestRules as rulesOfRequests } from '../../instructions/requests/rules.ts'
import { OPEN_BANKING_PATH } from '../../wire/open-banking.ts'
import type * as wire from '../../wire/payment-requests.ts'
import type { BodyRules, Handler } from '../endpoint.ts'
import { pageLinks, pagesOf } from '../open-banking-page.ts'
import { customerOf } from '../principal.ts'
import { presentOffer, presentRequest } from './present-payment-request.ts'

/** POST /open-banking/v1/request-to-pay */
export const createRequest: Handler<typeof wire.createRequestToPay> = async (app, { principal, headers, body }) => {
  const { customerId, clientId } = customerOf(principal)
  const made = await create(app, {
    kind: 'RequestToPay',
    customerId,
    clientId,
    idempotencyKey: headers['x-idempotency-key'],
    body,
    name: body.PayeeName,
    identifier: body.PayerIdentifier,
    amount: body.AmountRequested,
    dueDate: body.DueDate,
    reference: body.Reference,
  })
  return {
    status: 201,
    body: presentRequest(made, customerId),
    headers: { location: `${OPEN_BANKING_PATH}/request-to-pay/${made.id}` },
  }
}

export const requestRules: BodyRules = (body) => rulesOfRequests(body, new Date())

/** GET /open-banking/v1/request-to-pay */
export const listRequests: Handler<typeof wire.listRequestsToPay> = async (app, { principal, query }) => {
  const { customerId } = customerOf(principal)
  const { requests, count } = await list(app, { kind: 'RequestToPay', customerId, query })
  const place = { publicUrl: app.publicUrl, path: '/request-to-pay', query }
  const Data = requests.map((request) => presentRequest(request, customerId))
  return { status: 200, body: { Data, ...pageLinks(place, pagesOf(count, query.pageSize)) } }
}

/** GET /open-banking/v1/request-to-pay/{RequestToPayId} */
export const getRequest: Handler<typeof wire.getRequestToPay> = async (app, { principal, params }) => {
  const { customerId } = customerOf(principal)
  const request = await read(app.pool, { kind: 'RequestToPay', customerId, id: params.RequestToPayId })
  return { status: 200, body: presentRequest(request, customerId) }
}

/** POST /open-banking/v1/request-to-pay/{RequestToPayId}/accept */
export const acceptRequest: Handler<typeof wire.acceptRequestToPay> = async (app, { principal, params, body }) => {
  const { customerId } = customerOf(principal)
  const name = { kind: 'RequestToPay', customerId, id: params.RequestToPayId } as const
  return { status: 200, body: presentRequest(await accept(app, { ...name, accountId: body?.AccountId }), customerId) }
}

/** POST /open-banking/v1/request-to-pay/{RequestToPayId}/reject */
export const rejectRequest: Handler<typeof wire.rejectRequestToPay> = async (app, { principal, params }) => {
  const { customerId } = customerOf(principal)
  const rejected = await reject(app, { kind: 'RequestToPay', customerId, id: params.RequestToPayId })
  return { status: 200, body: presentRequest(rejected, customerId) }
}

/** POST /open-banking/v1/offer-to-pay */
export const createOffer: Handler<typeof wire.createOfferToPay> = async (app, { principal, headers, body }) => {
  const { customerId, clientId } = customerOf(principal)
  const made = await create(app, {
    kind: 'OfferToPay',
    customerId,
    clientId,
    idempotencyKey: headers['x-idempotency-key'],
    body,
    name: body.PayerName,
    identifier: body.PayeeIdentifier,
    amount: body.AmountOffered,
    dueDate: undefined,
    reference: body.Reference,
  })
  return {
    status: 201,
    body: presentOffer(made, customerId),
    headers: { location: `${OPEN_BANKING_PATH}/offer-to-pay/${made.id}` },
  }
}

export const offerRules: BodyRules = rulesOfOffers

/** GET /open-banking/v1/offer-to-pay */
export const listOffers: Handler<typeof wire.listOffersToPay> = async (app, { principal, query }) => {
  const { customerId } = customerOf(principal)
  const { requests, count } = await list(app, { kind: 'OfferToPay', customerId, query })
  const place = { publicUrl: app.publicUrl, path: '/offer-to-pay', query }
  const Data = requests.map((offer) => presentOffer(offer, customerId))
  return { status: 200, body: { Data, ...pageLinks(place, pagesOf(count, query.pageSize)) } }
}

/** GET /open-banking/v1/offer-to-pay/{OfferToPayId} */
export const getOffer: Handler<typeof wire.getOfferToPay> = async (app, { principal, params }) => {
  const { customerId } = customerOf(principal)
  const offer = await read(app.pool, { kind: 'OfferToPay', customerId, id: params.OfferToPayId })
  return { status: 200, body: presentOffer(offer, customerId) }
}

/** POST /open-banking/v1/offer-to-pay/{OfferToPayId}/accept */
export const acceptOffer: Handler<typeof wire.acceptOfferToPay> = async (app, { principal, params, body }) => {
  const { customerId } = customerOf(principal)
  const name = { kind: 'OfferToPay', customerId, id: params.OfferToPayId } as const
  return { status: 200, body: presentOffer(await accept(app, { ...name, accountId: body?.AccountId }), customerId) }
}

/** POST /open-banking/v1/offer-to-pay/{OfferToPayId}/reject */
export const rejectOffer: Handler<typeof wire.rejectOfferToPay> = async (app, { principal, params }) => {
  const { customerId } = customerOf(principal)
  const rejected = await reject(app, { kind: 'OfferToPay', customerId, id: params.OfferToPayId })
  return { status: 200, body: presentOffer(rejected, customerId) }
}
