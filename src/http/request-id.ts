import type { IncomingMessage } from 'node:http'
import type { App } from '../app.ts'
import { isUuid } from '../lib/ids.ts'
import { isOpenBanking } from './open-banking-errors.ts'

const REQUEST_ID = /^[A-Za-z0-9._-]{8,64}$/

/** The caller's own id where it is a sane one, so that logs on both sides can be laid beside each other. */
export function requestIdOf({ ids }: Pick<App, 'ids'>, req: IncomingMessage): string {
  // On Surface A the exchange has a name of its own, a UUID, which is played back (decision 11).
  if (isOpenBanking(req.url)) {
    const names = [req.headers['x-fapi-interaction-id'], req.headers['x-request-id']]
    return names.filter((name) => typeof name === 'string').find((name) => isUuid(name)) ?? ids.uuid()
  }
  const given = req.headers['x-request-id']
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : ids.uuid()
}
