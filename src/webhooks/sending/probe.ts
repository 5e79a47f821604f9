import type { EndpointCheck } from '../../wire/webhooks.ts'
import { makePost } from './post.ts'
import type { Post, PostOptions } from './post.ts'

/** Checks whether an endpoint's server responds. */
export type Probe = {
  /**
   * Never rejects: failures are results. Null, without a request, while another check of the merchant is running, or
   * too many of all merchants are.
   */
  probe(url: string, merchantId: string): Promise<EndpointCheck | null>
  close(): Promise<void>
}

/**
 * Maximum number of concurrent checks in one process. Each one keeps its merchant's request waiting, up to the timeout
 * of an attempt.
 */
const UNDER_WAY_MAX = 50

const HEADERS = { 'user-agent': 'svc-webhooks/1' }

/**
 * The client for checks of an endpoint: a HEAD request, which has no effects, under all rules of a delivery (post.ts).
 * Any response shows that the server is up, even one that rejects the method. The client is created on first use.
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
