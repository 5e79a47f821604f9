import { listEvents } from '../../webhooks/list-events.ts'
import type * as wire from '../../wire/feed.ts'
import type { Handlers } from '../endpoint.ts'
import { merchantIdOf } from '../principal.ts'

export const feed: Handlers<typeof wire> = {
  /** GET /api/v1/portal/events */
  async listEvents(app, { principal, query }) {
    const { events, nextCursor } = await listEvents(app, {
      merchantId: merchantIdOf(principal),
      after: query.after,
      limit: query.limit,
    })
    return { status: 200, body: { data: events, next_cursor: nextCursor } }
  },
}
