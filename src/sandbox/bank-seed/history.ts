import { atLondonTime } from '../../lib/london-time.ts'
import type { Day } from '../../lib/london-time.ts'
import { seededRandom, seededUuid } from '../../lib/seeded-random.ts'
import type { SeededRandom } from '../../lib/seeded-random.ts'
import { bankHolidays, isWorkingDay } from '../../lib/working-days.ts'
import type { Holidays } from '../../lib/working-days.ts'
import type { SeedPerson } from './people.ts'
import { BETWEEN_FRIENDS, HABITS, PURCHASE, SHOPS } from './vocabulary.ts'

/** A transfer to be booked. A side without an account is at another bank; `amount` is in pence. */
export type SeedTransfer = {
  id: string
  debtorAccountId: string | null
  creditorAccountId: string | null
  amount: bigint
  debtorName: string
  creditorName: string
  reference: string
  /** Milliseconds since 1970. */
  at: number
}

/**
 * A day of a history. `midnight` is London's, in milliseconds since 1970. `salaries` and `bills` are the days of the
 * month whose payments are made on it: banks move them to working days, salaries to the previous one, bills to the next
 * one.
 */
export type SeedDay = { date: string; weekday: number; midnight: number; salaries: number[]; bills: number[] }

/** The days of a history, which ends with yesterday, and its start and end. */
export type Period = { days: readonly SeedDay[]; begin: number; end: number }

/** A midnight in winter, when London's time is UTC. */
const MIDNIGHT = new Date('2026-01-01T00:00:00Z')

/** The `days` before `today`. */
export function periodBefore(today: Day, days: number): Period {
  const midnightOf = (day: Day): number => atLondonTime(day, MIDNIGHT).getTime()
  const first = today.minus({ days })
  // The built-in holidays, regardless of configuration: a seed gives the same history everywhere.
  const holidays = bankHolidays()
  const list = Array.from({ length: days }, (_, index) => {
    const day = first.plus({ days: index })
    const due = { salaries: dueOn(day, { holidays, step: 1 }), bills: dueOn(day, { holidays, step: -1 }) }
    return { date: day.toISODate(), weekday: day.weekday, midnight: midnightOf(day), ...due }
  })
  return { days: list, begin: midnightOf(first), end: midnightOf(today) }
}

/** The day of the month of a working day, and of the non-working days right after it, or right before it. */
function dueOn(day: Day, { holidays, step }: { holidays: Holidays; step: 1 | -1 }): number[] {
  if (!isWorkingDay(day, holidays)) return []
  const due = [day.day]
  // Terminates at the next working day.
  for (let each = day.plus({ days: step }); !isWorkingDay(each, holidays); each = each.plus({ days: step }))
    due.push(each.day)
  return due
}

/** The person, their friends, and the period of a history. */
type HistoryInput = { person: SeedPerson; friends: readonly SeedPerson[]; period: Period }

/**
 * All payments of a person in a period, beginning with the opening balances. A day's payments depend on the person and
 * the date alone, so that a longer period ends with the same days.
 */
export function historyOf({ person, friends, period }: HistoryInput): SeedTransfer[] {
  const accountMoves = accountMovesOf(person)
  const transfers = openingOf(person, period.begin)
  for (const day of period.days) {
    const clock: SeededDay = { day, random: seededRandom(`${person.key} ${day.date}`) }
    const moves = [
      ...monthlyMoves(person, accountMoves, clock),
      ...dailyMoves(accountMoves, clock),
      ...movesToFriends(person, friends, clock),
    ]
    for (const [place, move] of moves.entries())
      if (move.at < period.end) transfers.push({ id: seededUuid(`${person.key} ${day.date} ${place}`), ...move })
  }
  return transfers
}

/** A day, and its random number generator. */
type SeededDay = { day: SeedDay; random: SeededRandom }
type Move = Omit<SeedTransfer, 'id'>

const SECOND_MS = 1_000
const HOUR_SECONDS = 3_600
const DAY_MS = 86_400_000

/** A moment of the day, from one full hour until another. */
function momentOf({ day: { midnight }, random }: SeededDay, from: number, until: number): number {
  return midnight + random.between(from * HOUR_SECONDS, until * HOUR_SECONDS - 1) * SECOND_MS + random.below(1_000)
}

type AccountMoves = {
  pays(payee: string, amount: bigint, reference: string): Omit<Move, 'at'>
  gets(payer: string, amount: bigint, reference: string): Omit<Move, 'at'>
}

/** Builders of transfers between the current account and other banks. */
function accountMovesOf({ name, current }: SeedPerson): AccountMoves {
  return {
    pays: (payee, amount, reference) => ({
      debtorAccountId: current.id,
      creditorAccountId: null,
      amount,
      debtorName: name,
      creditorName: payee,
      reference,
    }),
    gets: (payer, amount, reference) => ({
      debtorAccountId: null,
      creditorAccountId: current.id,
      amount,
      debtorName: payer,
      creditorName: name,
      reference,
    }),
  }
}

function openingOf({ key, name, current, savings }: SeedPerson, at: number): SeedTransfer[] {
  return [current, ...(savings === null ? [] : [savings])]
    .filter(({ opening }) => opening > 0n)
    .map(({ id, opening }) => ({
      id: seededUuid(`${key} opening ${id}`),
      debtorAccountId: null,
      creditorAccountId: id,
      amount: opening,
      debtorName: name,
      creditorName: name,
      reference: 'OPENING BALANCE',
      at,
    }))
}

/** Salary and bills in the early morning, and savings on the same day. */
function monthlyMoves(person: SeedPerson, { pays, gets }: AccountMoves, clock: SeededDay): Move[] {
  const { salary, outgoings } = person
  const { salaries, bills } = clock.day
  const earned = salaries.includes(salary.day)
    ? [
        { ...gets(salary.payee, salary.amount, salary.reference), at: momentOf(clock, 1, 4) },
        ...saveUp(person, salary.amount / 10n, momentOf(clock, 8, 9)),
      ]
    : []
  const paid = outgoings
    .filter(({ day }) => bills.includes(day))
    .map(({ payee, amount, reference }) => ({ ...pays(payee, amount, reference), at: momentOf(clock, 4, 7) }))
  return [...earned, ...paid]
}

function saveUp({ name, current, savings }: SeedPerson, amount: bigint, at: number): Move[] {
  if (savings === null) return []
  const between = { debtorAccountId: current.id, creditorAccountId: savings.id, debtorName: name, creditorName: name }
  return [{ ...between, amount, reference: 'RAINY DAY', at }]
}

function dailyMoves(accountMoves: AccountMoves, clock: SeededDay): Move[] {
  const { day, random } = clock
  const bought = HABITS.filter(({ percent, weekdays }) => {
    const isOn = weekdays.some((weekday) => weekday === day.weekday)
    return isOn && random.chance(percent)
  }).map(({ payees, from, to, reference, hours: [opens, closes] }) => ({
    ...accountMoves.pays(random.pick<string>(payees), BigInt(random.between(from, to)), reference),
    at: momentOf(clock, opens, closes),
  }))
  return [...bought, ...purchaseOf(accountMoves, clock)]
}

/** A purchase in a shop, sometimes refunded some days later. */
function purchaseOf({ pays, gets }: AccountMoves, clock: SeededDay): Move[] {
  const { random } = clock
  if (!random.chance(PURCHASE.percent)) return []
  const shop = random.pick(SHOPS)
  const amount = BigInt(random.between(PURCHASE.from, PURCHASE.to))
  const order = `ORDER ${random.between(100_000, 999_999)}`
  const at = momentOf(clock, 10, 22)
  const bought = { ...pays(shop, amount, order), at }
  if (!random.chance(PURCHASE.refundPercent)) return [bought]
  return [bought, { ...gets(shop, amount, `REFUND ${order}`), at: at + random.between(3, 9) * DAY_MS }]
}

function movesToFriends(person: SeedPerson, friends: readonly SeedPerson[], clock: SeededDay): Move[] {
  const { random } = clock
  if (friends.length === 0 || !random.chance(6)) return []
  const friend = random.pick(friends)
  return [
    {
      debtorAccountId: person.current.id,
      creditorAccountId: friend.current.id,
      amount: BigInt(random.between(5, 45)) * 100n,
      debtorName: person.name,
      creditorName: friend.name,
      reference: random.pick(BETWEEN_FRIENDS),
      at: momentOf(clock, 12, 22),
    },
  ]
}
