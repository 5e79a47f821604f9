import { AUDIT_CHAINS } from '../../src/lib/audit-chain.ts'
import type { AuditChain } from '../../src/lib/audit-chain.ts'
import type { ChainHead } from '../../src/lib/verify-chain.ts'
import { usageError } from '../base/errors.ts'

const HEAD = new RegExp(`^(?:(${AUDIT_CHAINS.join('|')}):)?([1-9]\\d{0,17}):([0-9a-f]{64})$`)

/**
 * What an earlier run printed as heads, by their chains.
 * @throws {CliError} exit code 2, also for the head of a chain that is not verified
 */
export function expectedHeads(given: readonly string[], chains: readonly AuditChain[]): Map<AuditChain, ChainHead> {
  const heads = new Map<AuditChain, ChainHead>()
  for (const text of given) {
    const [, name, ordinal = '', hash = ''] = HEAD.exec(text) ?? []
    const chain = AUDIT_CHAINS.find((known) => known === (name ?? 'operator_actions'))
    if (ordinal === '' || chain === undefined)
      throw usageError(`--expect-head: "${text}" is not <ordinal>:<hash>, as a run of before printed it`)
    if (!chains.includes(chain))
      throw usageError(`--expect-head: ${chain} is not verified here`, `svc audit verify --chain ${chain}`)
    heads.set(chain, { ordinal, hash })
  }
  return heads
}
