import type { MockBank } from '../../banks/mock.ts'
import type { MockBankRequest } from '../../banks/mock-request.ts'

/** What a payer brings to the bank's pages: the request that the bank signed, and where it leads back to. */
export type Link = { request: MockBankRequest; signed: string; target: URL }

/** Names of what stands in the address beside the signed request, and must say the same. */
const ECHOED = { consent: 'consent', state: 'state', redirect_uri: 'redirectUri' } as const

/** Hosts go into a Content-Security-Policy, where a semicolon would begin another directive. */
const PLAIN_ORIGIN = /^https?:\/\/[a-z0-9._:[\]-]+$/

/**
 * Reads and checks the address: signed by the bank, and saying nowhere anything else than what was signed. So nobody can
 * make this page show another amount or send the payer to another place.
 */
export function readLink(bank: MockBank, sources: readonly URLSearchParams[]): Link | { problem: string } {
  const [signed, ...others] = sources.flatMap((source) => source.getAll('request'))
  if (signed === undefined) return { problem: "the bank's signed request is missing" }
  if (others.some((other) => other !== signed)) return { problem: 'it carries two different requests' }
  const request = bank.readRequest(signed)
  if (!request) return { problem: 'its request was not signed by this bank, or was changed on the way' }
  for (const [name, member] of Object.entries(ECHOED)) {
    const differs = sources.some((source) => source.getAll(name).some((value) => value !== request[member]))
    if (differs) return { problem: `its ${name} is not the one that the bank signed` }
  }
  const target = URL.canParse(request.redirectUri) ? new URL(request.redirectUri) : undefined
  if (!target || !PLAIN_ORIGIN.test(target.origin))
    return { problem: 'its redirect_uri is not an http or https address' }
  return { request, signed, target }
}

/** The one decision of a form; undefined where there is none, or more than one. */
export function readDecision(form: URLSearchParams): 'approve' | 'cancel' | undefined {
  const [decision, ...others] = form.getAll('decision')
  if (others.length > 0) return undefined
  return decision === 'approve' || decision === 'cancel' ? decision : undefined
}
