import type { Dispatcher } from 'undici'
import type { Io } from './io.ts'

/** What SVC_DEBUG can ask to see: requests to the service, where the identity comes from, statements to the database. */
const DEBUG_AREAS = ['api', 'auth', 'sql'] as const
export type DebugArea = (typeof DEBUG_AREAS)[number]

export function isDebugging(env: NodeJS.ProcessEnv, area: DebugArea): boolean {
  return (env['SVC_DEBUG'] ?? '').split(',').some((word) => word.trim().toLowerCase() === area)
}

/** A line about an area on standard error, for those who asked for it. */
export function debugLine({ env, stderr }: Pick<Io, 'env' | 'stderr'>, area: DebugArea, text: string): void {
  if (isDebugging(env, area)) stderr.write(`[${area}] ${text}\n`)
}

/**
 * Reports of each request its method, path, status, duration and request id. Headers, bodies and queries are left out:
 * they hold secrets and people's names.
 */
export function tracing(log: (line: string) => void): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => {
    const begun = performance.now()
    const asked = `${options.method} ${pathOf(options)}`
    const say = (end: string): void => log(`${asked} ${end} ${Math.round(performance.now() - begun)} ms`)
    let status = ''
    return dispatch(options, {
      onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
      onRequestUpgrade: (...given) => handler.onRequestUpgrade?.(...given),
      onResponseStart(controller, code, headers, message) {
        const id = headers['x-request-id']
        status = `${code}${typeof id === 'string' ? ` [request ${id.replaceAll(/[^\x20-\x7e]/g, '')}]` : ''}`
        return handler.onResponseStart?.(controller, code, headers, message)
      },
      onResponseData: (...given) => handler.onResponseData?.(...given),
      onResponseEnd(controller, trailers) {
        say(status)
        return handler.onResponseEnd?.(controller, trailers)
      },
      onResponseError(controller, error) {
        say(`failed (${'code' in error ? String(error.code) : error.name})`)
        return handler.onResponseError?.(controller, error)
      },
    })
  }
}

function pathOf({ path }: Dispatcher.DispatchOptions): string {
  return path.split('?')[0] ?? ''
}
