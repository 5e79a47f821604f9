import { median, medianSample } from './numbers.ts'
import type { Sample } from './numbers.ts'

/** One of the programs that are compared. */
export type Contender = { name: string; run(seconds: number): Promise<Sample> }

/** The contenders' samples, round by round. */
export type Results = ReadonlyMap<string, readonly Sample[]>

/**
 * Lets the contenders take turns, so that other load on the machine affects them all; every second round runs
 * backwards, so that none always follows the same busy one.
 */
export async function takeTurns(
  contenders: readonly Contender[],
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<Results> {
  const results = new Map<string, Sample[]>(contenders.map(({ name }) => [name, []]))
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, run } of round % 2 === 0 ? contenders : contenders.toReversed()) {
      process.stderr.write(`  round ${round + 1} of ${rounds}: ${name}\n`)
      results.get(name)?.push(await run(seconds))
    }
  }
  return results
}

/** The median of a contender's rounds. */
export function resultOf(results: Results, name: string): Sample {
  return medianSample(results.get(name) ?? [])
}

/** How many times faster one contender is than another: the median over rounds of the ratio within a round. */
export function ratioOf(results: Results, name: string, other: string): number {
  const others = results.get(other) ?? []
  return median((results.get(name) ?? []).map(({ rate }, round) => rate / (others[round]?.rate ?? Number.NaN)))
}
