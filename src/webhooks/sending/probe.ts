import type { EndpointCheck } from '../../wire/webhooks.ts'
import { makePost } from './post.ts'
import type { Post, PostOptions } from './post.ts'

/** Asks whether an endpoint's server is there. */
export type Probe = {
  /**
   * Never rejects: what is in the way is a result. Null, and nothing is sent, while another check of the merchant's is
   * under way, or too many of all merchants.
   */
  probe(url: string, merchantId: string): Promise<EndpointCheck | null>
  close(): Promise<void>
}

/** Checks under way in one process. Each has its merchant's request waiting for it, up to the timeout of an attempt. */
const UNDER_WAY_MAX = 50

const HEADERS = { 'user-agent': 'svc-webhooks/1' }

/**
 * The client for checks of an endpoint: a HEAD request, which asks for nothing to be done, under every rule of a
 * delivery (post.ts). Any answer shows that the server is there, also one that does not know the method. It is made when
 * it is first asked for.
 */
export function makeProbe(options: PostOptions): Probe {
  let post: Post | undefined
  const underWay = new Set<string>()
  return {
    probe: async (url, merchantId) => {
      if (underWay.has(merchantId) || underWay.size >= UNDER_WAY_MAX) return null
      underWay.add(merchantId)
      try {
        post ??= makePost(options)
        return await check(post, url)
      } finally {
        underWay.delete(merchantId)
      }
    },
    close: async () => post?.close(),
  }
}

async function check(post: Post, url: string): Promise<EndpointCheck> {
  const { outcome, httpStatus, durationMs } = await post.post({ method: 'HEAD', url, headers: HEADERS, body: null })
  const isReachable = httpStatus !== null
  return {
    reachable: isReachable,
    outcome: isReachable ? 'answered' : outcome,
    http_status: httpStatus,
    duration_ms: durationMs,
  }
}
