import type { Test } from 'tap'
import type { ScreenName } from '../../../cli/console/screen-names.ts'
import { pageOf } from '../admin-harness.ts'
import { fakeService, refusal, serviceInfo } from '../harness.ts'
import type { Answer, Request } from '../harness.ts'
import { openConsole } from '../../support/terminal.ts'
import type { ConsoleOptions, Opened } from '../../support/terminal.ts'
import { whoOf } from './who.ts'

/** OPS, who may do nothing but what these tests are about. */
const ADA = { ...whoOf('OPS'), permissions: ['read merchants', 'operate merchants'] }

export type LiveService = {
  /** What was sent to change something. */
  writes(): Request[]
  /** The KYB queue or another screen in a terminal, without colours. */
  open(options?: Partial<ConsoleOptions> & { screen?: ScreenName }): Opened
}

/**
 * What a real service would not do at will: live mode, these merchants, and what `answer` says, which may be nothing.
 * Ada of the operators looks at it.
 */
export async function liveService(
  t: Test,
  merchants: readonly object[],
  answer: (request: Request) => Answer | undefined,
): Promise<LiveService> {
  const { url, requests } = await fakeService(t, (request) => {
    const { path } = request
    if (path === '/api/v1/service') return { json: serviceInfo({ mode: 'live' }) }
    if (path === '/api/v1/whoami') return { json: ADA }
    const answered = answer(request)
    if (answered !== undefined) return answered
    return path.startsWith('/api/v1/admin/merchants?') ? pageOf(merchants) : refusal(404, 'NOT_FOUND')
  })
  return {
    writes: () => requests.filter(({ method }) => method === 'PUT'),
    open: ({ screen = 'kyb', env = {}, words = [], ...more } = {}) =>
      openConsole(t, {
        url,
        env: { SVC_PLATFORM_USER: 'ada', NO_COLOR: '1', ...env },
        words: ['--screen', screen, ...words],
        ...more,
      }),
  }
}
