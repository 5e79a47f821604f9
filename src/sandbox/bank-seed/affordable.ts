import type { SeedPerson } from './people.ts'
import type { SeedTransfer } from './history.ts'

/**
 * All transfers in chronological order, without those that would exceed an account's overdraft, so that the bank
 * rejects none of the rest. Also returns the final balance of each account.
 */
export function withoutUnaffordable(
  transfers: readonly SeedTransfer[],
  people: readonly Pick<SeedPerson, 'current' | 'savings'>[],
): { transfers: SeedTransfer[]; balances: ReadonlyMap<string, bigint> } {
  const overdrafts = new Map<string, bigint>()
  for (const { current, savings } of people) {
    overdrafts.set(current.id, current.overdraft)
    if (savings !== null) overdrafts.set(savings.id, savings.overdraft)
  }
  const balances = new Map<string, bigint>()
  const add = (id: string | null, amount: bigint): void => {
    if (id !== null) balances.set(id, (balances.get(id) ?? 0n) + amount)
  }
  const inOrder = transfers.toSorted((one, other) => one.at - other.at)
  const booked = inOrder.filter(({ debtorAccountId, creditorAccountId, amount }) => {
    const left = debtorAccountId === null ? 0n : (balances.get(debtorAccountId) ?? 0n) - amount
    if (debtorAccountId !== null && left < -(overdrafts.get(debtorAccountId) ?? 0n)) return false
    add(debtorAccountId, -amount)
    add(creditorAccountId, amount)
    return true
  })
  return { transfers: booked, balances }
}
