import { getService } from '../../src/wire/service.ts'
import { call } from './call.ts'
import type { Client } from './call.ts'

/** Whether the service says of itself that it is live: real money and real mail. */
export async function isLive(client: Client): Promise<boolean> {
  return (await call(client, getService, {})).body.mode === 'live'
}

/**
 * Whether remarks may speak of the sandbox. It is asked after a change was made, so that a question without an answer is
 * no failure: what is not known to be the sandbox is none.
 */
export async function isSandbox(client: Client): Promise<boolean> {
  return isLive(client).then(
    (live) => !live,
    () => false,
  )
}
