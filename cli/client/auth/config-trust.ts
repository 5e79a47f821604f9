import { usageError } from '../../base/errors.ts'
import type { FoundService } from '../find-service.ts'
import { isOnThisMachine } from '../../base/service-address.ts'

/*
 * A directory that somebody works in may be anybody's: a project that was fetched to be looked at. What its .svc names,
 * be it the project's file or that of a running service, gets to see nothing that proves the user, unless it is here.
 */

/** Where the running service says its provider is; another machine is asked of the service itself. */
export function authUrlOfState({ state, apiUrl }: FoundService): string | null | undefined {
  const url = state?.auth_url
  if (typeof url !== 'string' || isOnThisMachine(url)) return url
  return new URL(url).origin === new URL(apiUrl).origin ? url : undefined
}

/**
 * What stands in the environment to prove the caller goes to no address that only the directory names.
 * @throws {CliError} exit code 2
 */
export function refuseStranger({ isTrusted, apiUrl }: FoundService, name: 'SVC_TOKEN' | 'SVC_CLIENT_SECRET'): void {
  if (isTrusted) return
  throw usageError(
    `${name} is not sent to ${apiUrl}, which only this directory's .svc names`,
    `--api-url ${apiUrl}, or SVC_API_URL, if that is the service you mean`,
  )
}
