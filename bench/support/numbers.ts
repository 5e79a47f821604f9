/** The result of one turn of a contender; only the rate is always present. */
export type Sample = {
  /** Per second. */
  rate: number
  /** What the cost is divided by, where the rate is of a part of the turn. */
  units?: number
  /** Milliseconds. */
  p50?: number
  p95?: number
  p99?: number
  /** Microseconds of processor time per unit of work, in the contender's own process and in PostgreSQL. */
  nodeUs?: number | undefined
  postgresUs?: number | undefined
}

/** The middle value; of an even number of values, the lower one of the two in the middle. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5)
}

/** The smallest value that a `share` of the values does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(Math.ceil(sorted.length * share) - 1, 0)] ?? Number.NaN
}

/** Every number of the samples by its median. */
export function medianSample(samples: readonly Sample[]): Sample {
  const of = (pick: (sample: Sample) => number | undefined) => {
    const values = samples.map(pick).filter((value) => value !== undefined)
    return values.length === 0 ? undefined : median(values)
  }
  const optional = {
    p50: of((sample) => sample.p50),
    p95: of((sample) => sample.p95),
    p99: of((sample) => sample.p99),
    nodeUs: of((sample) => sample.nodeUs),
    postgresUs: of((sample) => sample.postgresUs),
  }
  const known = Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined))
  return { rate: of((sample) => sample.rate) ?? Number.NaN, ...known }
}
