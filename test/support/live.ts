import type { Test } from 'tap'
import { freePort } from '../../src/db/free-port.ts'
import { testService } from './app.ts'
import type { TestService } from './app.ts'

/** A service in live mode, as it would stand behind a proxy with TLS at https://pay.example. */
export async function liveService(t: Test): Promise<TestService> {
  return testService(t, {
    env: {
      SVC_MODE: 'live',
      SVC_IDENTITY: 'embedded',
      SVC_PUBLIC_URL: 'https://pay.example',
      SVC_SMTP_URL: 'smtp://127.0.0.1:9',
      SVC_PORT: String(await freePort()),
      SVC_RATE_LIMITS: 'false',
      SVC_TRUST_PROXY: 'true',
    },
  })
}
