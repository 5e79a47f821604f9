import type { MockBank } from '../../banks/mock.ts'
import type { MockBankRequest } from '../../banks/mock-request.ts'

/** The link of a payer to the bank's pages: the request that the bank signed, and the address to return to. */
export type Link = { request: MockBankRequest; signed: string; target: URL }

/** Query parameters beside the signed request, which must be equal to it. */
const ECHOED = { consent: 'consent', state: 'state', redirect_uri: 'redirectUri' } as const

/** Hosts become part of a Content-Security-Policy, where a semicolon would start another directive. */
const PLAIN_ORIGIN = /^https?:\/\/[a-z0-9._:[\]-]+$/

/**
 * Reads and verifies the address: signed by the bank, and with no parameter that differs from what was signed. So an
 * attacker can't make this page show another amount or send the payer to another address.
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

/** The decision of a form; undefined if there is none, or more than one. */
export function readDecision(form: URLSearchParams): 'approve' | 'cancel' | undefined {
  const [decision, ...others] = form.getAll('decision')
  if (others.length > 0) return undefined
  return decision === 'approve' || decision === 'cancel' ? decision : undefined
}
