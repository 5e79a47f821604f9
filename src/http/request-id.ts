import type { IncomingMessage } from 'node:http'
import type { App } from '../app.ts'
import { isUuid } from '../lib/ids.ts'
import { isOpenBanking } from './open-banking-errors.ts'

const REQUEST_ID = /^[A-Za-z0-9._-]{8,64}$/

/** The caller's request id if it is valid, so that the logs of both sides can be matched; otherwise a new one. */
export function requestIdOf({ ids }: Pick<App, 'ids'>, req: IncomingMessage): string {
  // Surface A has an interaction id, a UUID, which the response repeats (decision 162).
  if (isOpenBanking(req.url)) {
    const names = [req.headers['x-fapi-interaction-id'], req.headers['x-request-id']]
    return names.filter((name) => typeof name === 'string').find((name) => isUuid(name)) ?? ids.uuid()
  }
  const requestId = req.headers['x-request-id']
  return typeof requestId === 'string' && REQUEST_ID.test(requestId) ? requestId : ids.uuid()
}
