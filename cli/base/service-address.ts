import { usageError } from './errors.ts'

/** An address is shown, stored and passed on, so it must hold no credentials. */
export const NO_CREDENTIALS = 'must hold no user name and no password; svc login keeps what proves you'

/** Whether a user name or password may stand in the text, also in one that is no address. */
export function holdsCredentials(text: string): boolean {
  const authority = text.replace(/^([a-z][a-z0-9+.-]*:)?[/\\]*/i, '').split(/[/?#\\]/)[0] ?? ''
  return authority.includes('@') || (URL.canParse(text) && new URL(text).username + new URL(text).password !== '')
}

/** @throws {CliError} exit code 2, which does not repeat them */
export function withoutCredentials(text: string, source: string): string {
  if (holdsCredentials(text)) throw usageError(`${source}: the address ${NO_CREDENTIALS}`, exampleOf(source))
  return text
}

function exampleOf(source: string): string {
  return `${source === '--api-url' ? '--api-url ' : 'SVC_API_URL='}http://127.0.0.1:8080`
}

/**
 * The address of a service, without a slash at the end.
 * @param source the flag, variable or profile that names it
 * @throws {CliError} exit code 2 for what is no http address, or has credentials in it, which are not repeated
 */
export function checkedUrl(text: string, source: string): string {
  const isUsable = URL.canParse(withoutCredentials(text, source)) && /^https?:$/.test(new URL(text).protocol)
  if (!isUsable) throw usageError(`${source}: invalid address "${text}": use an http or https URL`, exampleOf(source))
  return text.replace(/\/+$/, '')
}

const THIS_MACHINE = /^(localhost|127(\.\d+){3}|\[::1\])$/

const LOOPBACK_NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Whether two addresses differ at most in how they name this machine: localhost or 127.0.0.1. */
export function isSameService(url: string, other: string): boolean {
  if (!URL.canParse(url) || !URL.canParse(other)) return url === other
  const [one, two] = [new URL(url), new URL(other)]
  const isHere = [one, two].every(({ hostname }) => LOOPBACK_NAMES.has(hostname))
  const namesOf = ({ protocol, host, hostname, port, pathname }: URL): string =>
    [protocol, isHere ? '' : hostname, isHere ? port : host, pathname.replace(/\/+$/, '')].join(' ')
  return namesOf(one) === namesOf(two)
}

export function isOnThisMachine(url: string): boolean {
  return URL.canParse(url) && THIS_MACHINE.test(new URL(url).hostname)
}
