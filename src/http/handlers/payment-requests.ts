import { acceptRequest } from '../../instructions/requests/accept-request.ts'
import { createRequest } from '../../instructions/requests/create-request.ts'
import { getRequest } from '../../instructions/requests/get-request.ts'
import { listRequests } from '../../instructions/requests/list-requests.ts'
import { rejectRequest } from '../../instructions/requests/reject-request.ts'
import { offerRules, requestRules } from '../../instructions/requests/rules.ts'
import { OPEN_BANKING_PATH } from '../../wire/open-banking.ts'
import type * as wire from '../../wire/payment-requests.ts'
import type { BodyRules, Handlers } from '../endpoint.ts'
import { pageLinks, pagesOf } from '../open-banking-page.ts'
import { customerOf } from '../principal.ts'
import { presentOffer, presentRequest } from './present-payment-request.ts'

export const paymentRequests: Handlers<typeof wire> = {
  /** POST /open-banking/v1/request-to-pay */
  async createRequestToPay(app, { principal, headers, body }) {
    const { customerId, clientId } = customerOf(principal)
    const made = await createRequest(app, {
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
  },

  /** GET /open-banking/v1/request-to-pay */
  async listRequestsToPay(app, { principal, query }) {
    const { customerId } = customerOf(principal)
    const { requests, count } = await listRequests(app, { kind: 'RequestToPay', customerId, query })
    const place = { publicUrl: app.publicUrl, path: '/request-to-pay', query }
    const Data = requests.map((request) => presentRequest(request, customerId))
    return { status: 200, body: { Data, ...pageLinks(place, pagesOf(count, query.pageSize)) } }
  },

  /** GET /open-banking/v1/request-to-pay/{RequestToPayId} */
  async getRequestToPay(app, { principal, params }) {
    const { customerId } = customerOf(principal)
    const request = await getRequest(app.pool, { kind: 'RequestToPay', customerId, id: params.RequestToPayId })
    return { status: 200, body: presentRequest(request, customerId) }
  },

  /** POST /open-banking/v1/request-to-pay/{RequestToPayId}/accept */
  async acceptRequestToPay(app, { principal, params, body }) {
    const { customerId } = customerOf(principal)
    const name = { kind: 'RequestToPay', customerId, id: params.RequestToPayId } as const
    return {
      status: 200,
      body: presentRequest(await acceptRequest(app, { ...name, accountId: body?.AccountId }), customerId),
    }
  },

  /** POST /open-banking/v1/request-to-pay/{RequestToPayId}/reject */
  async rejectRequestToPay(app, { principal, params }) {
    const { customerId } = customerOf(principal)
    const rejected = await rejectRequest(app, { kind: 'RequestToPay', customerId, id: params.RequestToPayId })
    return { status: 200, body: presentRequest(rejected, customerId) }
  },

  /** POST /open-banking/v1/offer-to-pay */
  async createOfferToPay(app, { principal, headers, body }) {
    const { customerId, clientId } = customerOf(principal)
    const made = await createRequest(app, {
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
  },

  /** GET /open-banking/v1/offer-to-pay */
  async listOffersToPay(app, { principal, query }) {
    const { customerId } = customerOf(principal)
    const { requests, count } = await listRequests(app, { kind: 'OfferToPay', customerId, query })
    const place = { publicUrl: app.publicUrl, path: '/offer-to-pay', query }
    const Data = requests.map((offer) => presentOffer(offer, customerId))
    return { status: 200, body: { Data, ...pageLinks(place, pagesOf(count, query.pageSize)) } }
  },

  /** GET /open-banking/v1/offer-to-pay/{OfferToPayId} */
  async getOfferToPay(app, { principal, params }) {
    const { customerId } = customerOf(principal)
    const offer = await getRequest(app.pool, { kind: 'OfferToPay', customerId, id: params.OfferToPayId })
    return { status: 200, body: presentOffer(offer, customerId) }
  },

  /** POST /open-banking/v1/offer-to-pay/{OfferToPayId}/accept */
  async acceptOfferToPay(app, { principal, params, body }) {
    const { customerId } = customerOf(principal)
    const name = { kind: 'OfferToPay', customerId, id: params.OfferToPayId } as const
    return {
      status: 200,
      body: presentOffer(await acceptRequest(app, { ...name, accountId: body?.AccountId }), customerId),
    }
  },

  /** POST /open-banking/v1/offer-to-pay/{OfferToPayId}/reject */
  async rejectOfferToPay(app, { principal, params }) {
    const { customerId } = customerOf(principal)
    const rejected = await rejectRequest(app, { kind: 'OfferToPay', customerId, id: params.OfferToPayId })
    return { status: 200, body: presentOffer(rejected, customerId) }
  },
}

export const requestToPayRules: BodyRules = (body) => requestRules(body, new Date())

export const offerToPayRules: BodyRules = offerRules
