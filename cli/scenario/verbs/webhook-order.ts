import type { Receipt } from '../play/receiver.ts'

/**
 * First attempts leave in the order of the events, several at once: which of those arrives first is chance. The receiver
 * sees only the middle of an attempt; this much of connecting and answering lies around it.
 */
const AROUND_MS = 20

type Arrival = Pick<Receipt, 'eventType' | 'createdAt' | 'arrivedAt' | 'answeredAt' | 'gaveUpAt'>

/** Whether these came in the expected order, and nothing else. */
export function sameOrder(received: readonly Arrival[], expected: readonly string[]): boolean {
  return received.length === expected.length && hasInOrder(received, expected)
}

/**
 * Whether the expected events are among what came, in this order. What else came does not matter, before, between or after
 * them; of several of one type the earliest that fits counts.
 */
export function hasInOrder(received: readonly Arrival[], expected: readonly string[]): boolean {
  const left = inSentOrder(received)
  const found: Arrival[] = []
  for (const type of expected) {
    const at = left.findIndex((each) => each.eventType === type && found.every((before) => isBefore(before, each)))
    const [next] = at === -1 ? [] : left.splice(at, 1)
    if (next === undefined) return false
    found.push(next)
  }
  return true
}

/** As they were sent, as far as that is known. */
export function inSentOrder<T extends Arrival>(received: readonly T[]): T[] {
  const sent: T[] = []
  for (const each of received.toSorted((a, b) => a.arrivedAt - b.arrivedAt)) {
    const later = sent.findLastIndex((other) => isBefore(other, each))
    sent.splice(later + 1, 0, each)
  }
  return sent
}

/** What was under way together is held in the order in which it happened, all else in the order in which it came. */
function isBefore(one: Arrival, other: Arrival): boolean {
  const [first, second] = one.arrivedAt <= other.arrivedAt ? [one, other] : [other, one]
  return overlap(first, second) ? one.createdAt <= other.createdAt : one === first
}

function overlap(first: Arrival, second: Arrival): boolean {
  const end = first.gaveUpAt ?? first.answeredAt
  return end === undefined || second.arrivedAt - end <= AROUND_MS
}
