import { createHash } from 'node:crypto'
import type { Hash } from 'node:crypto'
import { NO_HASH } from './audit-chain.ts'
import type { AuditChain, AuditRow, ChainBreak } from './audit-chain.ts'

/** A checkpoint: the count and digest of the rows between the previous checkpoint and ordinal `upTo`. */
export type Checkpoint = { ordinal: string; id: string; upTo: bigint; count: bigint; digest: string }

/** The checkpoints of one chain, from the rows of all chains. */
export function checkpointsOf(chain: AuditChain, checkpoints: readonly AuditRow[]): Checkpoint[] {
  return checkpoints
    .filter((row) => row['chain'] === chain && COUNT.test(row['up_to_ordinal'] ?? ''))
    .map((row) => ({
      ordinal: row['ordinal'] ?? '',
      id: row['id'] ?? '',
      upTo: BigInt(row['up_to_ordinal'] ?? 0),
      count: BigInt(COUNT.test(row['row_count'] ?? '') ? (row['row_count'] ?? 0) : 0),
      digest: row['digest'] ?? '',
    }))
}

const COUNT = /^[1-9]\d{0,18}$/

export type CheckpointVerifier = {
  add(hash: string): void
  /** Verifies the checkpoints that end before this ordinal, or all of them for undefined. */
  before(ordinal: bigint | undefined): ChainBreak | null
}

/** Counts and digests the rows between checkpoints, as the job that creates checkpoints does. */
export function makeCheckpointVerifier(seals: readonly Checkpoint[]): CheckpointVerifier {
  let next = 0
  let count = 0n
  let digest: Hash = createHash('sha256').update(NO_HASH)
  let from = 0n

  function close(seal: Checkpoint): ChainBreak | null {
    const [found, counted] = [digest.digest('hex'), count]
    const place = { ordinal: seal.upTo.toString(), id: seal.id, problem: 'not as sealed' } as const
    const between = `checkpoint ${seal.ordinal} sealed ${seal.count} rows above ordinal ${from} and up to ${seal.upTo}`
    ;[digest, count, from] = [createHash('sha256').update(seal.digest), 0n, seal.upTo]
    if (counted !== seal.count) return { ...place, detail: `${between}; there are ${counted}` }
    return found === seal.digest ? null : { ...place, detail: `${between}; there are others now` }
  }

  return {
    add(hash) {
      if (next === seals.length) return
      digest.update(hash)
      count += 1n
    },
    before(ordinal) {
      for (let seal = seals[next]; seal !== undefined; seal = seals[next]) {
        if (ordinal !== undefined && ordinal <= seal.upTo) return null
        next += 1
        const broken = close(seal)
        if (broken !== null) return broken
      }
      return null
    },
  }
}
