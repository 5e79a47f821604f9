import { seededRandom, seededUuid } from '../../lib/seeded-random.ts'
import type { SeededRandom } from '../../lib/seeded-random.ts'
import { BILLS, EMPLOYERS, FIRST_NAMES, LANDLORDS, SUBSCRIPTIONS, SURNAMES } from './vocabulary.ts'

/** An account to be created; amounts in pence. */
export type SeedAccount = {
  id: string
  subType: 'CurrentAccount' | 'Savings'
  nickname: string | null
  overdraft: bigint
  /** The opening balance. */
  opening: bigint
}

/** A monthly payment. Days are at most 28, so that every month has them. */
export type Monthly = { payee: string; reference: string; amount: bigint; day: number }

/** A person to be created: everything is determined by `key`. */
export type SeedPerson = {
  /** The seed of all random values about the person. */
  key: string
  id: string
  externalId: string
  name: string
  email: string
  mobile: string
  proxyId: string
  salary: Monthly
  outgoings: readonly Monthly[]
  current: SeedAccount
  savings: SeedAccount | null
}

/** The customer of this number in the bank of this seed. */
export function personOf(seed: number, position: number): SeedPerson {
  const key = `svc sandbox seed ${seed} customer ${position}`
  const random = seededRandom(key)
  const id = seededUuid(key)
  const first = random.pick(FIRST_NAMES)
  const surname = random.pick(SURNAMES)
  const login = `${first}.${surname}.${seed}.${position}`.toLowerCase()
  const savings = random.chance(60) ? savingsOf(key, random.between(1_500, 9_000)) : null
  return {
    key,
    id,
    externalId: `customer-${id.slice(-12)}`,
    name: `${first} ${surname}`,
    email: `${login}@example.org`,
    mobile: mobileOf(seed, position),
    proxyId: login.replaceAll('.', '-'),
    ...livingOf(random),
    current: {
      id: seededUuid(`${key} current account`),
      subType: 'CurrentAccount',
      nickname: null,
      overdraft: savings === null ? 50_000n : 0n,
      opening: BigInt(random.between(800, 2_500)) * 100n,
    },
    savings,
  }
}

export function savingsOf(key: string, pounds: number): SeedAccount {
  const opening = BigInt(pounds) * 100n
  return { id: seededUuid(`${key} savings`), subType: 'Savings', nickname: 'Rainy day', overdraft: 0n, opening }
}

/** The person's income and monthly outgoings: rent is about a third, and the sum is well below the salary. */
export function livingOf(random: SeededRandom): Pick<SeedPerson, 'salary' | 'outgoings'> {
  const salary = BigInt(random.between(430, 590)) * 500n
  const subscriptions = SUBSCRIPTIONS.filter(() => random.chance(35))
  return {
    salary: { payee: random.pick(EMPLOYERS), reference: 'SALARY', amount: salary, day: random.between(24, 28) },
    outgoings: [
      { payee: random.pick(LANDLORDS), reference: 'RENT', amount: (salary * 34n) / 100n, day: 1 },
      ...BILLS.map(({ payees, reference, from, to }) => ({
        payee: random.pick(payees),
        reference,
        amount: BigInt(random.between(from, to)),
        day: random.between(2, 16),
      })),
      ...subscriptions.map(({ payee, reference, amount }) => ({
        payee,
        reference,
        amount: BigInt(amount),
        day: random.between(3, 22),
      })),
    ],
  }
}

/** One of the thousand numbers that Ofcom reserves for drama; customers of one seed have different ones. */
function mobileOf(seed: number, position: number): string {
  const first = seededRandom(`svc sandbox seed ${seed} mobiles`).below(1_000)
  return `+447700900${String((first + position) % 1_000).padStart(3, '0')}`
}
