import { setTimeout as delay } from 'node:timers/promises'
import { CliError } from '../../base/errors.ts'
import type { Http } from './credentials.ts'
import { loginRefused, loginTimedOut } from './login-browser.ts'
import { requestTokens } from './oidc.ts'
import type { Realm, Tokens } from './oidc.ts'

export type DevicePoll = {
  clientId: string
  deviceCode: string
  /** Of the challenge that the code was asked for with. */
  verifier: string
  intervalSeconds: number
  /** Milliseconds since 1970. */
  expiresAt: number
  /** How it waits; tests don't. */
  wait?: (ms: number) => Promise<void>
}

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code'
/** What a provider that is asked too often adds to the interval (RFC 8628, 3.5). */
const SLOW_DOWN_SECONDS = 5

/**
 * Asks until the user has confirmed the code at another device. A network that fails for a moment is waited out.
 * @throws {CliError} exit code 4 where the user or the provider refuses, 9 without a confirmation in time
 */
export async function pollDevice(http: Http, realm: Realm, poll: DevicePoll): Promise<Tokens> {
  const { clientId, deviceCode, verifier, expiresAt, wait = delay } = poll
  const form = { grant_type: GRANT, client_id: clientId, device_code: deviceCode, code_verifier: verifier }
  let interval = poll.intervalSeconds
  for (;;) {
    if (Date.now() + interval * 1_000 > expiresAt) throw loginTimedOut('svc login --device')
    await wait(interval * 1_000)
    try {
      return await requestTokens(http, realm, form)
    } catch (error) {
      const next = whatNext(error)
      if (next === 'fail') throw error
      if (next === 'slower') interval += SLOW_DOWN_SECONDS
    }
  }
}

function whatNext(error: unknown): 'again' | 'slower' | 'fail' {
  if (!(error instanceof CliError)) return 'fail'
  if (error.code === 'AUTHORIZATION_PENDING') return 'again'
  if (error.code === 'SLOW_DOWN') return 'slower'
  if (error.code === 'ACCESS_DENIED') throw loginRefused('access_denied')
  if (error.code === 'EXPIRED_TOKEN') throw loginTimedOut('svc login --device')
  return error.options.retryable === true ? 'slower' : 'fail'
}
