import type { EventEmitter } from 'node:events'
import type { KoaContextWithOIDC, Provider } from 'oidc-provider'
import { DEVICE_GRANT } from '../realms/clients.ts'
import type { EmbeddedParts } from '../parts.ts'
import type { RealmRecord } from '../record.ts'

/** The member of a context's state that keeps a failure of ours until the answer is given its status (response-middleware.ts). */
export const FAILURE = 'svc_failure'

/** Tells the log what was given to whom, and what was refused. Neither tokens nor what a caller wrote are told. */
export function logEvents({ log }: EmbeddedParts, realm: RealmRecord, provider: Provider): void {
  function of(ctx: KoaContextWithOIDC | undefined): Record<string, unknown> {
    return {
      realm: realm.slug,
      client_id: ctx?.oidc.entities.Client?.clientId,
      sub: ctx?.oidc.entities.Account?.accountId,
      grant_type: grantTypeOf(ctx?.oidc.params?.['grant_type']),
    }
  }
  const refused =
    (what: string) =>
    (ctx: KoaContextWithOIDC, error: Error): void => {
      const detail = 'error_detail' in error ? error.error_detail : undefined
      log.info({ ...of(ctx), reason: error.message, detail }, what)
    }
  provider.on('grant.success', (ctx) => log.info(of(ctx), 'tokens given'))
  provider.on('grant.error', refused('tokens refused'))
  provider.on('grant.revoked', (ctx) => log.info(of(ctx), 'grant revoked'))
  provider.on('authorization.success', (ctx) => log.info(of(ctx), 'signed in'))
  provider.on('authorization.error', refused('sign-in refused'))
  provider.on('device_authorization.error', refused('device sign-in refused'))
  provider.on('end_session.success', (ctx) => log.info(of(ctx), 'signed out'))
  provider.on('server_error', (ctx, error) => {
    ctx.state[FAILURE] = error
  })
  // Without a listener the library's server would write to the console. Its types forget that it is one.
  const server: EventEmitter = provider
  server.on('error', (error: unknown) => log.warn({ err: error, realm: realm.slug }, 'an answer was cut off'))
}

/** The last word of its name, and only of those that exist: anything can stand there. */
function grantTypeOf(value: unknown): string | undefined {
  const known = ['authorization_code', 'refresh_token', 'client_credentials', DEVICE_GRANT]
  return typeof value === 'string' && known.includes(value) ? value.split(':').at(-1) : undefined
}
