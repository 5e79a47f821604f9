import { createHash } from 'node:crypto'
import type { Hash } from 'node:crypto'
import { CHAIN_SHAPES, NO_HASH } from './audit-chain.ts'
import type { AuditChain, AuditRow, ChainBreak, ChainProblem } from './audit-chain.ts'
import { sha256Hex } from './hmac.ts'

/** The last intact row of a chain. */
export type ChainHead = { ordinal: string; hash: string }

export type ChainReport = {
  chain: AuditChain
  /** The number of intact rows. */
  rows: number
  head: ChainHead | null
  broken: ChainBreak | null
}

export type ChainVerifier = {
  /** Takes the next row, in the order of ordinals. False once the chain is broken: further rows prove nothing. */
  add(row: AuditRow): boolean
  /** Call after the last row: any row that a checkpoint or an earlier run still expects is missing. */
  end(): ChainReport
}

export type VerifyOptions = {
  /** The checkpoints of this chain, in order. */
  seals?: readonly Checkpoint[] | undefined
  /** The head that an earlier run reported: every row up to it must still be there. */
  expected?: ChainHead | undefined
}

const ORDINAL = /^[1-9]\d{0,18}$/

/**
 * Verifies one table's chains, row by row, computing every hash itself. It keeps only the last hash and status of each
 * chain within the table: about 250 bytes for each payment, refund or dispute, including completed ones, because a second
 * first row can be detected no other way.
 */
export function verifyChain(chain: AuditChain, { seals = [], expected }: VerifyOptions = {}): ChainVerifier {
  const last = new Map<string, string>()
  const sealed = makeCheckpointVerifier(seals)
  const report: ChainReport = { chain, rows: 0, head: null, broken: null }
  let awaited = expected

  function brokenAt(row: AuditRow): ChainBreak | null {
    const ordinal = row['ordinal'] ?? ''
    const isNext = ORDINAL.test(ordinal) && BigInt(ordinal) > BigInt(report.head?.ordinal ?? 0)
    if (!isNext) return at(row, 'ordinal order', `it comes after ordinal ${report.head?.ordinal ?? 'none'}`)
    const before = sealed.before(BigInt(ordinal)) ?? headBefore(awaited, BigInt(ordinal))
    if (before !== null) return before
    return wrongIn(chain, row) ?? wrongLink(chain, row, last) ?? editedValues(chain, row) ?? wrongStanding(row)
  }

  return {
    add(row) {
      if (report.broken !== null) return false
      const hash = row[CHAIN_SHAPES[chain].hashColumn] ?? ''
      report.broken = brokenAt(row) ?? otherHead(row, hash, awaited)
      if (report.broken !== null) return false
      const link = CHAIN_SHAPES[chain].linkOf?.(row)
      if (link !== undefined) last.set(link, packed(hash, row['new_status']))
      sealed.add(hash)
      report.head = { ordinal: row['ordinal'] ?? '', hash }
      if (awaited?.ordinal === row['ordinal']) awaited = undefined
      report.rows += 1
      return true
    },
    end() {
      report.broken ??= sealed.before(undefined) ?? headBefore(awaited, undefined)
      return report
    },
  }
}

function at(row: AuditRow, problem: ChainProblem, detail: string): ChainBreak {
  return { ordinal: row['ordinal'] ?? '', id: row['id'] ?? row['subject_id'] ?? null, problem, detail }
}

/** The problem of a row on its own. */
function wrongIn(chain: AuditChain, row: AuditRow): ChainBreak | null {
  const { hashColumn, hashOf } = CHAIN_SHAPES[chain]
  const payload = row['raw_payload']
  if (chain === 'payment_events' && sha256Hex(payload ?? '') !== row['raw_payload_sha256'])
    return at(row, 'payload changed', 'raw_payload does not have the hash that was stored with it')
  if (hashOf(row) === row[hashColumn]) return null
  return at(row, 'changed', `a column, or ${hashColumn} itself, is not what was written`)
}

/** The problem between a row and the previous one of its chain. */
function wrongLink(chain: AuditChain, row: AuditRow, last: ReadonlyMap<string, string>): ChainBreak | null {
  const { linkOf, saysFirst } = CHAIN_SHAPES[chain]
  if (linkOf === undefined) return null
  const before = last.get(linkOf(row))
  const isFirst = saysFirst?.(row) ?? before === undefined
  const link = packed(row['prev_hash'] ?? '', row['previous_status'])
  if (link === (before ?? packed(NO_HASH, undefined)) && isFirst === (before === undefined)) return null
  if (before === undefined || isFirst || link.slice(0, HASH_BYTES) !== before.slice(0, HASH_BYTES))
    return at(row, 'row missing before it', 'prev_hash is not the hash of the previous row')
  const detail = `${subjectOf(chain, row)}: it goes from ${row['previous_status']}, and the event before it went to ${before.slice(HASH_BYTES)}`
  return at(row, 'path broken', detail)
}

const HASH_BYTES = 32

/** A hash and a status in one short string, because millions of them are kept. */
function packed(hash: string, status: string | null | undefined): string {
  return Buffer.concat([Buffer.from(hash, 'hex'), Buffer.from(status ?? '', 'latin1')]).toString('latin1')
}

/** The payment, refund or dispute that a row is about. */
function subjectOf(chain: AuditChain, row: AuditRow): string {
  const [noun, column] = CHAIN_SHAPES[chain].subject ?? ['row', 'id']
  return `${noun} ${row[column]}`
}

/**
 * The differences between what a first row sealed and the current values of its payment, refund or dispute. Older exports
 * do not have those; where it is gone, its last event reports that.
 */
function editedValues(chain: AuditChain, row: AuditRow): ChainBreak | null {
  const edited = (CHAIN_SHAPES[chain].sealed ?? []).flatMap((name) => {
    const now = row[`standing_${name}`] ?? null
    return now === null || now === row[name] ? [] : [`${name} was ${row[name]} and is now ${now}`]
  })
  return edited.length === 0 ? null : at(row, 'value edited', `${subjectOf(chain, row)}: ${edited.join('; ')}`)
}

/**
 * The mismatch between the last event of a payment or dispute and its current status. Older exports have no `standing`.
 */
function wrongStanding(row: AuditRow): ChainBreak | null {
  const { standing = null, new_status: status } = row
  if (standing === null || standing === status) return null
  return at(row, 'status edited', `this is its last event, to ${status}, and the status itself is ${standing}`)
}

/**
 * Reports that the row an earlier run saw is missing: the chain is past it at `ordinal`, or at its end for undefined.
 */
function headBefore(expected: ChainHead | undefined, ordinal: bigint | undefined): ChainBreak | null {
  if (expected === undefined || (ordinal !== undefined && ordinal <= BigInt(expected.ordinal))) return null
  const detail = 'an earlier run saw this row, and it is gone'
  return { ordinal: expected.ordinal, id: null, problem: 'not as before', detail }
}

function otherHead(row: AuditRow, hash: string, expected: ChainHead | undefined): ChainBreak | null {
  if (expected === undefined || expected.ordinal !== row['ordinal'] || expected.hash === hash) return null
  return at(row, 'not as before', `an earlier run saw the hash ${expected.hash}`)
}

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

type CheckpointVerifier = {
  add(hash: string): void
  /** Verifies the checkpoints that end before this ordinal, or all of them for undefined. */
  before(ordinal: bigint | undefined): ChainBreak | null
}

/** Counts and digests the rows between checkpoints, as the job that creates checkpoints does. */
function makeCheckpointVerifier(seals: readonly Checkpoint[]): CheckpointVerifier {
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
