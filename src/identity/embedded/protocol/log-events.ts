import type { EventEmitter } from 'node:events'
import type { KoaContextWithOIDC, Provider } from 'oidc-provider'
import { DEVICE_GRANT } from '../realms/clients.ts'
import type { EmbeddedParts } from '../parts.ts'
import type { RealmRecord } from '../record.ts'

/**
 * The key in a context's state that holds a failure of ours until the response gets its status
 * (response-middleware.ts).
 */
export const FAILURE = 'svc_failure'

/** Logs issued and rejected tokens, without the tokens and without text from the caller. */
export function logEvents({ log }: EmbeddedParts, realm: RealmRecord, provider: Provider): void {
  function of(ctx: KoaContextWithOIDC | undefined): Record<string, unknown> {
    return {
      realm: realm.slug,
      client_id: ctx?.oidc.entities.Client?.clientId,
      sub: ctx?.oidc.entities.Account?.accountId,
      grant_type: grantTypeOf(ctx?.oidc.params?.['grant_type']),
    }
  }
  const logRejection =
    (what: string) =>
    (ctx: KoaContextWithOIDC, error: Error): void => {
      const detail = 'error_detail' in error ? error.error_detail : undefined
      log.info({ ...of(ctx), reason: error.message, detail }, what)
    }
  provider.on('grant.success', (ctx) => log.info(of(ctx), 'tokens issued'))
  provider.on('grant.error', logRejection('token request rejected'))
  provider.on('grant.revoked', (ctx) => log.info(of(ctx), 'grant revoked'))
  provider.on('authorization.success', (ctx) => log.info(of(ctx), 'signed in'))
  provider.on('authorization.error', logRejection('sign-in rejected'))
  provider.on('device_authorization.error', logRejection('device sign-in rejected'))
  provider.on('end_session.success', (ctx) => log.info(of(ctx), 'signed out'))
  provider.on('server_error', (ctx, error) => {
    ctx.state[FAILURE] = error
  })
  // Without a listener the library's server would write to the console. Its types omit that it is an event emitter.
  const server: EventEmitter = provider
  server.on('error', (error: unknown) => log.warn({ err: error, realm: realm.slug }, 'a response was cut off'))
}

/** The last part of a known grant type's name; unknown values could contain anything. */
function grantTypeOf(value: unknown): string | undefined {
  const known = ['authorization_code', 'refresh_token', 'client_credentials', DEVICE_GRANT]
  return typeof value === 'string' && known.includes(value) ? value.split(':').at(-1) : undefined
}
