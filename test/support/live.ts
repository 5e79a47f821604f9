import type { Test } from 'tap'
import { freePort } from './free-port.ts'
import { testService } from './app.ts'
import type { TestService } from './app.ts'
import { steeredBank } from './steered-bank.ts'

/** The environment of live mode, as behind a proxy with TLS at https://pay.example. */
export async function liveEnv(): Promise<Record<string, string>> {
  return {
    SVC_MODE: 'live',
    SVC_IDENTITY: 'embedded',
    SVC_PUBLIC_URL: 'https://pay.example',
    SVC_SMTP_URL: 'smtp://127.0.0.1:9',
    SVC_PORT: String(await freePort()),
    SVC_RATE_LIMITS: 'false',
    SVC_VRP_CAPS: 'enforce',
    SVC_TRUST_PROXY: 'true',
    // Tests end at once.
    SVC_DRAIN_SECONDS: '0',
  }
}

/** A service in live mode. A test's bank takes its payments. */
export async function liveService(t: Test): Promise<TestService> {
  const bank = steeredBank()
  const service = await testService(t, { overrides: { bank: bank.connector }, env: await liveEnv() })
  bank.behind(service.app.mockBank)
  return service
}
